/*
 * edge_columns - which column of an edge table holds what, and the numbers in it.
 *
 * A header line names the columns: src or source, dst or target, weight, time, etype and the other
 * words that data sets use for these. Without one the order is source, target, then what the format
 * says.
 */
#ifndef STAGES_INGEST_FORMATS_EDGE_COLUMNS_H
#define STAGES_INGEST_FORMATS_EDGE_COLUMNS_H

#include "common/base/error.h"
#include "common/formats/delimited.h"
#include "common/formats/line_reader.h"
#include "stages/ingest/build/edge_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EDGE_COLUMN_MAX = 64, EDGE_COLUMN_NONE = -1 };

struct edge_columns {
    enum delimiter delimiter;
    size_t count;                           /* of columns in each line */
    int source, target, weight, time, type; /* column, or EDGE_COLUMN_NONE */
};

/* Source and target in the first two columns, nothing else. */
struct edge_columns edge_columns_plain(enum delimiter delimiter, size_t count);
/* Reads a header line. False when it names no source or no target. *unknown is the first column whose
 * name means nothing here, or EDGE_COLUMN_NONE. */
bool edge_columns_named(struct edge_columns *columns, const struct field *field, int *unknown);
/* Which optional arrays an edge_buffer of these columns has. */
unsigned edge_columns_extras(const struct edge_columns *columns);

/* Splits a line into field [EDGE_COLUMN_MAX].
 * Fails: ERROR_INPUT naming file and line when it has another number of columns. */
MUST_CHECK enum error_code edge_columns_split(const struct edge_columns *columns,
                                              const struct text_line *line, const char *where,
                                              struct field *field, struct error *err);
/* The field of one column as an integer. `what` is the column's meaning, for messages. */
MUST_CHECK enum error_code edge_columns_integer(const struct field *field, const char *what,
                                                const char *where, int64_t line, int64_t *out,
                                                struct error *err);
/* Weight, time and type of an edge; ids are left alone.
 * Fails: ERROR_INPUT naming file, line, what was expected and found. */
MUST_CHECK enum error_code edge_columns_values(const struct edge_columns *columns,
                                               const struct field *field, const char *where,
                                               int64_t line, struct edge *edge, struct error *err);

#endif
