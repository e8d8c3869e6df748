/*
 * identity_digits - the hash in ids, and the tag of outputs: arithmetic that needs no store.
 *
 * Outputs have no id of their own: they belong to a run and a version of its weights. A tag tells
 * apart outputs that were made from the same weights with different settings of inference.
 */
#ifndef STAGES_PLAN_MODEL_IDENTITY_DIGITS_H
#define STAGES_PLAN_MODEL_IDENTITY_DIGITS_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/keys.h"

/* Must be raised when the same settings and content begin to give other bits. Everything then gets
 * a new id. */
enum { IDENTITY_VERSION = 2 };

enum { IDENTITY_DIGITS = 16, IDENTITY_DIGITS_SIZE = IDENTITY_DIGITS + 1 };

/* Writes the hash of `text`, which names all inputs. `kind` keeps a dataset apart from a run of the
 * same text. */
void identity_digits(const char *kind, const char *text, char digits[IDENTITY_DIGITS_SIZE]);

/* Writes the tag of outputs: "" for the defaults, otherwise 8 hexadecimal digits of the settings of
 * inference. infer.weights does not count: the version of the weights expresses it. Fails:
 * ERROR_INVALID as pipeline_settings_identity(). */
MUST_CHECK enum error_code identity_outputs_tag(const struct pipeline_settings *settings,
                                                char tag[OUTPUTS_TAG_SIZE], struct error *err);

#endif
