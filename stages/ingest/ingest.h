/* ingest - what the ingest program knows about its dataset before reading it whole. */
#ifndef STAGES_INGEST_INGEST_H
#define STAGES_INGEST_INGEST_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* Returns the id (stages/plan/model/identity.h) of the dataset that these settings make of the input
 * files as they are now. The digits of the id are a hash of the settings of ingest (without the
 * place of the input), of the seed if it has an influence, and of the name and content of each file
 * in the input folder. Equal input therefore has equal records wherever it lies, and a changed file
 * makes another dataset. A large file that has not changed since its hash was noted (file_note.h)
 * is not read again. `may_note`: the hashes of large files may be noted. Fails: ERROR_INVALID
 * without a path; ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code ingest_dataset_id(struct store *store,
                                             const struct pipeline_settings *settings,
                                             bool may_note, char id[ID_SIZE], struct error *err);

#endif
