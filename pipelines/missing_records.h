/*
 * missing_records - what should be in a store and is not.
 *
 * A damaged record is met where it lies; one that is gone only shows in the records that promise it: a
 * dataset's schema its chunks, a partition's book its parts, a seal its artifact.
 */
#ifndef PIPELINES_MISSING_RECORDS_H
#define PIPELINES_MISSING_RECORDS_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"

typedef void (*missing_visitor)(void *context, const char *key);

/* Calls `visit` for each key that is missing of the bound run, its partition and its dataset. What promises
 * it must be sound: of a damaged schema nothing is said. Fails: ERROR_IO. */
MUST_CHECK enum error_code missing_records_visit(const struct run_folder *folder,
                                                 missing_visitor visit, void *context,
                                                 struct error *err);

#endif
