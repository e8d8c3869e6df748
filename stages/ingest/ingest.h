/* ingest - what the ingest program knows about its dataset before reading it whole. */
#ifndef STAGES_INGEST_INGEST_H
#define STAGES_INGEST_INGEST_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* The id (stages/plan/identity.h) of the dataset that these settings and the input files as they are now make: its
 * digits come from the settings of ingest (but not where the input lies), the seed when it has an influence, and
 * name and content of each file in the input folder. So equal input has equal records wherever it
 * lies, and a changed file makes another dataset.
 * Large files that did not change since they were noted (file_note.h) are not read; `may_note`: notes are made.
 * Fails: ERROR_INVALID without a path; ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code ingest_dataset_id(struct store *store,
                                             const struct pipeline_settings *settings,
                                             bool may_note, char id[ID_SIZE], struct error *err);

#endif
