/*
 * relation_window - the sums of the rows of one relation, to which rows of its sources are added that go by in windows.
 */
#ifndef STAGES_INFER_RELATION_WINDOW_H
#define STAGES_INFER_RELATION_WINDOW_H

#include "common/base/error.h"
#include "common/nn/operators/aggregation.h"
#include "store/records/type_ranges.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows that a thread takes at a time, and edges that it gathers before their rows are added. */
enum { RELATION_WINDOW_TILE = 256, RELATION_PIECE_EDGES = 8192 };

struct relation_piece {
    uint32_t row_start[RELATION_WINDOW_TILE + 1];
    uint32_t neighbor[RELATION_PIECE_EDGES];
    float value[RELATION_PIECE_EDGES];
};

/* The rows of a relation that have edges, among some destinations. */
struct relation_window {
    bool is_there;                    /* there are such rows */
    const struct topology_part *part; /* NULL: the relation leads to another type */
    struct aggregation aggregation;
    uint32_t source_type, count;
    size_t dim;
    uint32_t *row;    /* [count], ascending, of the type in the part */
    uint32_t *cursor; /* [count]: edges that were added */
    float *sum;       /* [count, dim] */
};

/* Rows of a type that are in memory, as numbers in it (type_ranges.h). */
struct typed_window {
    const struct type_ranges *ranges; /* borrowed, as is the next */
    const uint32_t *book;             /* of the type */
    uint32_t node_count;              /* of the graph */
    uint32_t type, first, end;
    struct input_rows rows; /* row 0 is that of `first` */
};

/* Adds to the sums first .. end - 1, at most RELATION_WINDOW_TILE, the edges whose sources are in the window; those before it were
 * added. Fails: ERROR_CORRUPT for a source of another type, or out of order. */
MUST_CHECK enum error_code relation_window_add(struct relation_window *relation,
                                               const struct typed_window *window,
                                               struct relation_piece *piece, uint32_t first,
                                               uint32_t end, struct error *err);
/* The place of the first of its rows that is at least `row`. */
uint32_t relation_window_place(const struct relation_window *relation, uint32_t row);

#endif
