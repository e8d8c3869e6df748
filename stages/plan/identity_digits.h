/*
 * identity_digits - the hash in the ids of things, and the tag of outputs: arithmetic that needs no store.
 *
 * Outputs have no id of their own: they belong to a run and a version of its weights, and a tag tells apart what was
 * made of those with different settings of inference.
 */
#ifndef STAGES_PLAN_IDENTITY_DIGITS_H
#define STAGES_PLAN_IDENTITY_DIGITS_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/keys.h"

/* Goes up when the same settings and content begin to make other bits: then everything gets a new id. */
enum { IDENTITY_VERSION = 2 };

enum { IDENTITY_DIGITS = 16, IDENTITY_DIGITS_SIZE = IDENTITY_DIGITS + 1 };

/* Of all that `text` names; `kind` keeps a dataset apart from a run of the same text. */
void identity_digits(const char *kind, const char *text, char digits[IDENTITY_DIGITS_SIZE]);

/* What tells outputs of the same weights apart: "" for the defaults, else 8 hexadecimal digits of the settings
 * of inference. infer.weights does not count: the version of the weights says it.
 * Fails: ERROR_INVALID as pipeline_settings_identity(). */
MUST_CHECK enum error_code identity_outputs_tag(const struct pipeline_settings *settings,
                                                char tag[OUTPUTS_TAG_SIZE], struct error *err);

#endif
