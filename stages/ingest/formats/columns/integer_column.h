/*
 * integer_column - one integer a line (.csv, .csv.gz, no header), or a one-dimensional integer
 * .npy.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_INTEGER_COLUMN_H
#define STAGES_INGEST_FORMATS_COLUMNS_INTEGER_COLUMN_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct integer_column { /* {0} is empty and releasable */
    int64_t *value;     /* [count] */
    uint64_t count;
    size_t capacity;
    int64_t first_line; /* the place of value[0]: line 1 of text, row 0 of npy */
};

/* Reads the whole file. Blank lines may be only at its end. Fails: ERROR_INPUT naming file and line
 * or offset, also for more than `limit` values. */
MUST_CHECK enum error_code integer_column_read(struct integer_column *column, const char *path,
                                               uint64_t limit, struct error *err);
void integer_column_release(struct integer_column *column);

#endif
