/*
 * input_files - finds the files of one input by name, and computes the checksum of them all.
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_INPUT_FILES_H
#define STAGES_INGEST_FORMATS_SHARED_INPUT_FILES_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "common/files/file.h"
#include "stages/ingest/formats/shared/file_note.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdbool.h>

/* Finds the file folder/stem.ext with one of the endings of the NULL-terminated `endings`. `path`
 * is "" when there is none. Fails: ERROR_INPUT when there are several, naming two. */
MUST_CHECK enum error_code input_files_find(const char *folder, const char *stem,
                                            const char *const *endings, char path[FILE_PATH_SIZE],
                                            struct error *err);

/* Adds name, size and content of every input file to `sum`, in the order of their names: the files
 * that the format reads from ingest.path, and the files that settings name beside an edge list. A
 * file whose checksum is in `notes` is not read. *has_features: one of the files holds node
 * features. Fails: ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code input_files_sum(const struct pipeline_settings *settings,
                                           const struct file_notes *notes,
                                           struct checksum_stream *sum, bool *has_features,
                                           struct error *err);

/* Returns whether `name` ends in `ending`. */
bool input_files_ends_in(const char *name, const char *ending);

#endif
