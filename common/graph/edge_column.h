/*
 * edge_column - the data of an edge besides its two ends, in one table from ingest to mini-batch.
 *
 * Code that only copies columns loops over the table and names none of them: a new column is a
 * value of enum edge_column and a row of edge_column[]. Arrays are [edges, width] in the order of
 * the edges, each of the element type in its row. A width of 0 means that a graph does not have the
 * column.
 *
 * An edge of an undirected graph is stored in both directions, and both have the same values. Edges
 * with the same ends that differ in a column that `distinguishes` are different edges; otherwise
 * they are duplicates, and of removed duplicates the first in the input stays with all its values.
 */
#ifndef COMMON_GRAPH_EDGE_COLUMN_H
#define COMMON_GRAPH_EDGE_COLUMN_H

#include "common/base/error.h"
#include "common/graph/edge_time.h"
#include "common/numbers/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stored numbers: never renumber, only add. Columns that distinguish edges also order them, in the
 * order of these numbers. */
enum edge_column {
    EDGE_WEIGHT,
    EDGE_TYPE,
    EDGE_TIME_F64, /* times as earlier releases stored them; never written to a new dataset */
    EDGE_ID,       /* the user's ids */
    EDGE_FEATURE,
    EDGE_LABEL, /* for tasks of edges; ingest.edge_label names its field */
    EDGE_TIME,
    EDGE_COLUMN_COUNT
};

enum { EDGE_COLUMN_WIDTH_MAX = 1 << 16 };

struct edge_column_row {
    /* name of its section, and of its array in a topology and in the schema; below 16 bytes */
    const char *name;
    const char *shown;      /* in exports and messages; NULL: the name */
    const char *what;       /* in messages about one edge: "edge type" */
    const char *plural;     /* for people: "edge weights" */
    const char *file;       /* the stem of a file of its own beside the edges; NULL: none */
    enum element_type type; /* F32, F64, I64 or U16 */
    bool has_width;         /* the schema has the width; otherwise one element for each edge */
    bool distinguishes;
};

extern const struct edge_column_row edge_column[EDGE_COLUMN_COUNT];

/* The widths of all columns: elements of an edge, 0 if there is no such column. */
struct edge_widths {
    uint32_t of[EDGE_COLUMN_COUNT];
};

struct edge_columns { /* {0} has no columns; data[c] is NULL if width.of[c] is 0 */
    struct edge_widths width;
    void *data[EDGE_COLUMN_COUNT]; /* [edges, width] */
};

struct edge_columns_view { /* the same, borrowed */
    struct edge_widths width;
    const void *data[EDGE_COLUMN_COUNT];
};

/* Return the bytes of one edge in one column, or in all. */
static inline size_t edge_column_bytes(enum edge_column column, uint32_t width)
{
    return width * element_size(edge_column[column].type);
}

/* Returns the name of a column for people and for other programs. */
const char *edge_column_shown(enum edge_column column);

size_t edge_widths_bytes(const struct edge_widths *width);
bool edge_widths_equal(const struct edge_widths *a, const struct edge_widths *b);
/* Returns whether a column may have this width, 0 included. */
bool edge_column_may_be(enum edge_column column, uint32_t width);
/* Writes "edge weights, edge times" into text [size], "" without columns. */
void edge_widths_text(const struct edge_widths *width, char *text, size_t size);

/* Allocates room for `count` edges, zeroed; messages name it by `what`. Fails: ERROR_NO_MEMORY, and
 * then out is {0}. */
MUST_CHECK enum error_code edge_columns_new(struct edge_columns *out,
                                            const struct edge_widths *width, uint64_t count,
                                            const char *what, struct error *err);
void edge_columns_release(struct edge_columns *columns);

/* Return views from edge `first` on. */
struct edge_columns_view edge_columns_read(const struct edge_columns *columns, uint64_t first);
struct edge_columns_view edge_columns_from(const struct edge_columns_view *columns, uint64_t first);
/* Returns the values of one edge in one column. */
const void *edge_columns_at(const struct edge_columns_view *columns, enum edge_column column,
                            uint64_t edge);

/* Copies the edges of `from`, from `first` on, to `to`, from `at` on; both have the same widths. */
void edge_columns_copy(const struct edge_columns *to, uint64_t at,
                       const struct edge_columns_view *from, uint64_t first, uint64_t count);
/* Does the same with the edges whose numbers are the low halves of order [count]. */
void edge_columns_gather(const struct edge_columns *to, uint64_t at,
                         const struct edge_columns_view *from, const uint64_t *order,
                         uint64_t count);

/* Pack one edge into bytes [edge_widths_bytes()], in the order of the table, without gaps, and
 * unpack it. */
void edge_columns_pack(const struct edge_columns_view *from, uint64_t edge, char *bytes);
void edge_columns_unpack(const struct edge_columns *to, uint64_t edge, const char *bytes);

/* Compares two edges by the columns that distinguish edges: negative, 0 or positive. Both have the
 * same widths. */
int edge_columns_compare(const struct edge_columns_view *a, uint64_t i,
                         const struct edge_columns_view *b, uint64_t j);
/* Returns whether any column distinguishes edges. */
bool edge_widths_distinguish(const struct edge_widths *width);

/* Returns whether edges have times. The next functions return the column, and the time of an edge
 * (0 without times). */
static inline bool edge_widths_are_timed(const struct edge_widths *width)
{
    return width->of[EDGE_TIME] || width->of[EDGE_TIME_F64];
}

/* Returns whether edges have the data of the column, in this form or in the one of earlier
 * releases. */
static inline bool edge_widths_have(const struct edge_widths *width, enum edge_column column)
{
    return column == EDGE_TIME ? edge_widths_are_timed(width) : width->of[column] != 0;
}

static inline enum edge_column edge_widths_time_column(const struct edge_widths *width)
{
    return width->of[EDGE_TIME_F64] ? EDGE_TIME_F64 : EDGE_TIME;
}

static inline int64_t edge_columns_time(const struct edge_columns_view *columns, uint64_t edge)
{
    const enum edge_column column = edge_widths_time_column(&columns->width);
    const struct edge_times times = {columns->data[column], column == EDGE_TIME_F64};
    return columns->width.of[column] ? edge_time_at(times, edge) : 0;
}

/* Returns the first column of edge `i` with a number that is not finite; EDGE_COLUMN_COUNT:
 * none. */
enum edge_column edge_columns_not_finite(const struct edge_columns_view *columns, uint64_t i,
                                         double *value);

#endif
