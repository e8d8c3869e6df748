/*
 * edge_fields - the fields of a line of an edge table: what each holds, and its number.
 *
 * A header line names the fields in the words of edge_words.h. A column of several elements has a
 * field for each, in the order of the line: feat_0, feat_1, ... Without a header the order is
 * source, target, then what the format says.
 */
#ifndef STAGES_TABLES_EDGE_FIELDS_H
#define STAGES_TABLES_EDGE_FIELDS_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "common/graph/edge_column.h"
#include "stages/tables/value_notes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EDGE_FIELD_MAX = 512, EDGE_FIELD_NONE = -1 };

struct edge_fields {
    enum delimiter delimiter;
    bool decimal_comma;       /* 1,5 means one and a half */
    size_t count;             /* number of fields in each line */
    int source, target;       /* field, or EDGE_FIELD_NONE */
    struct edge_widths width; /* widths of the columns that the fields fill */
    /* How times are written, and what readers find out. Set before values are read. */
    struct value_notes *notes;
    struct edge_use {
        int column; /* enum edge_column, or EDGE_FIELD_NONE */
        uint32_t element;
    } use[EDGE_FIELD_MAX];
};

/* Returns fields with source and target in the first two, and nothing else. */
struct edge_fields edge_fields_plain(enum delimiter delimiter, size_t count);
/* Makes the field the next element of the column. Returns false if the column may have no more
 * elements. */
bool edge_fields_take(struct edge_fields *fields, size_t field, enum edge_column column);
/* Leaves a column out. */
void edge_fields_drop(struct edge_fields *fields, enum edge_column column);
/* Reads a header line. A field that means nothing else and is called `label` (NULL: none) has the
 * edge labels. Returns false if the line names no source or no target. *unknown is the first field
 * whose name means nothing here, or EDGE_FIELD_NONE. */
bool edge_fields_named(struct edge_fields *fields, const struct field *field, const char *label,
                       int *unknown);

/* Splits a line into field [EDGE_FIELD_MAX]. Fails: ERROR_INPUT naming file and line if it has
 * another number of fields. */
MUST_CHECK enum error_code edge_fields_split(const struct edge_fields *fields,
                                             const struct text_line *line, const char *where,
                                             struct field *field, struct error *err);
/* Reads a field as an integer. `what` is its meaning, for messages. */
MUST_CHECK enum error_code edge_fields_integer(const struct field *field, const char *what,
                                               const char *where, int64_t line, int64_t *out,
                                               struct error *err);
/* Reads a field into element `element` of `data`, of the column's type. `notes` says how times are
 * written, and collects integers that features cannot hold. Fails: ERROR_INPUT naming file, line,
 * what was expected and found. */
MUST_CHECK enum error_code edge_fields_value(const struct field *field, enum edge_column column,
                                             struct value_notes *notes, const char *where,
                                             int64_t line, void *data, uint32_t element,
                                             struct error *err);
/* Reads the columns of an edge into edge 0 of `out`; it does not touch source and target. Fails:
 * ERROR_INPUT naming file, line, what was expected and found. */
MUST_CHECK enum error_code edge_fields_values(const struct edge_fields *fields,
                                              const struct field *field, const char *where,
                                              int64_t line, const struct edge_columns *out,
                                              struct error *err);

#endif
