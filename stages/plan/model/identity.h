/*
 * identity - the ids of datasets, partitions and runs: <name>-<16 hexadecimal digits>.
 *
 * The digits identify the thing. They are a hash of the content that it is made from and of the
 * settings that it depends on (pipeline_settings_identity()):
 *
 *   dataset    the input's files, settings of the dataset, the seed if random features or a
 *              generator use it
 *   partition  the dataset's digits, settings of the partition, the contents of an assignment file
 *              and of loads, the seed unless the parts come from a file
 *   run        the partition's digits, settings of training and of its target, the seed
 *
 * Outputs have no id of their own (stages/plan/model/identity_digits.h).
 *
 * So an id does not depend on the path of an input, the working directory, the name of the
 * pipeline, settings of later stages, and settings that a later release adds (at their defaults).
 *
 * The name is for people: it is the name of the pipeline that made the thing first. The ref
 * current/id/<digits> has the whole id, so that a pipeline of another name finds it. If that ref is
 * lost, the thing is made once more under the other name, which does no harm.
 */
#ifndef STAGES_PLAN_MODEL_IDENTITY_H
#define STAGES_PLAN_MODEL_IDENTITY_H

#include "common/base/error.h"
#include "stages/plan/model/identity_digits.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

/* Returns the text after the last '-' of an id. It is borrowed from `id`. */
const char *identity_digits_of(const char *id);
/* Sets `id` to the id under which the store knows these digits, or to <name>-<digits> if it does
 * not know them. */
MUST_CHECK enum error_code identity_find(struct store *store, const char *digits, const char *name,
                                         char id[ID_SIZE], struct error *err);
/* Stores the id under its digits, so that identity_find() finds it. */
MUST_CHECK enum error_code identity_note(struct store *store, const char *id, struct error *err);

/* Computes the id of the partition that the settings make of a dataset. Fails: ERROR_NOT_FOUND and
 * ERROR_IO for the files of assignment and loads. */
MUST_CHECK enum error_code identity_partition(struct store *store,
                                              const struct pipeline_settings *settings,
                                              const char *dataset_id, char id[ID_SIZE],
                                              struct error *err);
/* Computes the id of the run that the settings make on a partition. */
MUST_CHECK enum error_code identity_run(struct store *store,
                                        const struct pipeline_settings *settings,
                                        const char *partition_id, char id[ID_SIZE],
                                        struct error *err);
/* Reads a ref that names something by its id; "" if it is not set, or is damaged. */
MUST_CHECK enum error_code identity_named(struct store *store, const struct key *key,
                                          char id[ID_SIZE], struct error *err);

#endif
