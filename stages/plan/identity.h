/*
 * identity - what datasets, partitions and runs are called: <name>-<16 hexadecimal digits>.
 *
 * The digits decide. They are a hash of the content that the thing is made from and of those settings that it is
 * part of (pipeline_settings_identity()):
 *
 *   dataset    the input's files, settings of the dataset, the seed when random features or a generator use it
 *   partition  the dataset's digits, settings of the partition, the contents of an assignment file and of loads, the seed
 *              unless the parts come from a file
 *   run        the partition's digits, settings of training and of its target, the seed
 *
 * Outputs have no id of their own (stages/plan/identity_digits.h).
 *
 * So the path of an input, the working directory, the name of the pipeline, settings of later stages and those
 * that a later release adds (at their defaults) do not count.
 *
 * The name in front is for people: that of the pipeline that made the thing first. The switch current/id/<digits>
 * has the whole id, so that a pipeline of another name finds it. Were that switch lost, the thing would be made once
 * more under the other name, nothing worse.
 */
#ifndef STAGES_PLAN_IDENTITY_H
#define STAGES_PLAN_IDENTITY_H

#include "common/base/error.h"
#include "stages/plan/identity_digits.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

/* What stands behind the last '-' of an id. Borrowed from it. */
const char *identity_digits_of(const char *id);
/* The id under which the store knows these digits, or else <name>-<digits>. */
MUST_CHECK enum error_code identity_find(struct store *store, const char *digits, const char *name,
                                         char id[ID_SIZE], struct error *err);
/* Makes the store know it. */
MUST_CHECK enum error_code identity_note(struct store *store, const char *id, struct error *err);

/* The id of the partition that the settings make of a dataset.
 * Fails: ERROR_NOT_FOUND and ERROR_IO for the files of assignment and loads. */
MUST_CHECK enum error_code identity_partition(struct store *store,
                                              const struct pipeline_settings *settings,
                                              const char *dataset_id, char id[ID_SIZE],
                                              struct error *err);
/* The id of the run that the settings make on a partition. */
MUST_CHECK enum error_code identity_run(struct store *store,
                                        const struct pipeline_settings *settings,
                                        const char *partition_id, char id[ID_SIZE],
                                        struct error *err);
/* Reads a switch that names something by its id: "" if it is not set, or is damaged. */
MUST_CHECK enum error_code identity_named(struct store *store, const struct key *key,
                                          char id[ID_SIZE], struct error *err);

#endif
