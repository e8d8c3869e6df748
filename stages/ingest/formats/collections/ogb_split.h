/*
 * ogb_split - the folder of one split of an OGB data set: split/<name>.
 */
#ifndef STAGES_INGEST_FORMATS_COLLECTIONS_OGB_SPLIT_H
#define STAGES_INGEST_FORMATS_COLLECTIONS_OGB_SPLIT_H

#include "common/base/error.h"
#include "common/files/file.h"

/* Finds the folder <set>/split/<name>; with `name` "" the only one. path is "" when there is no
 * split folder at all. Fails: ERROR_INPUT naming two of several, or the existing ones when none is
 * called `name`. */
MUST_CHECK enum error_code ogb_split_find(const char *set, const char *name,
                                          char path[FILE_PATH_SIZE], struct error *err);

#endif
