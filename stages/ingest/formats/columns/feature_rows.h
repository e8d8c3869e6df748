/*
 * feature_rows - features as text: a row of numbers in each line, and no header. Line i belongs to
 * node i.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_FEATURE_ROWS_H
#define STAGES_INGEST_FORMATS_COLUMNS_FEATURE_ROWS_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdint.h>

/* Pushes all rows of a file, which must have `row_count`, in bounded pieces. Fails: ERROR_INPUT
 * naming file, line, what was expected and found. */
MUST_CHECK enum error_code feature_rows_push(const char *path, uint64_t row_count,
                                             struct dataset_builder *builder, struct error *err);
/* Reads the number of columns from the first row. */
MUST_CHECK enum error_code feature_rows_dim(const char *path, uint32_t *dim, struct error *err);

#endif
