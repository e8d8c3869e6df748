/*
 * ogb_split - the folder of one split of an OGB data set: split/<name>.
 */
#ifndef STAGES_INGEST_FORMATS_OGB_SPLIT_H
#define STAGES_INGEST_FORMATS_OGB_SPLIT_H

#include "common/base/error.h"
#include "common/base/file.h"

/* The folder <set>/split/<name>; with `name` "" the only one there is. path is "" when there is none at all.
 * Fails: ERROR_INPUT naming two of several, or those that there are where `name` is none of them. */
MUST_CHECK enum error_code ogb_split_find(const char *set, const char *name,
                                          char path[FILE_PATH_SIZE], struct error *err);

#endif
