/*
 * readout - one row for each graph out of the rows of its nodes (Gilmer et al. 2017), and back.
 *
 *   sum   as PyG's global_add_pool         mean   global_mean_pool         max   global_max_pool, column by column
 *
 * Rows are added up in their order, in single precision, each graph by one thread: the same bits for any number of threads,
 * and whether the rows of a graph come at once or in pieces. The gradient of a max goes to the first of equal maxima, as that
 * of the layers' max does; torch's scatter_reduce shares it out among them.
 */
#ifndef COMMON_NN_READOUT_READOUT_H
#define COMMON_NN_READOUT_READOUT_H

#include "common/parallel/thread_pool.h"

#include <stddef.h>
#include <stdint.h>

/* ROW(number, name, help): `name` in train-step.readout. */
/* clang-format off */
#define READOUT_LIST(ROW)                                    \
    ROW(READOUT_SUM, sum, "the sum of the rows of its nodes. PyG: global_add_pool")                \
    ROW(READOUT_MEAN, mean, "their mean. PyG: global_mean_pool")                                   \
    ROW(READOUT_MAX, max,                                                                          \
        "the greatest of each column; of equal ones the first has the gradient. PyG: "             \
        "global_max_pool")
/* clang-format on */

#define READOUT_NUMBER(number, name, help) number,
enum readout_kind { READOUT_NONE, READOUT_LIST(READOUT_NUMBER) READOUT_COUNT };
#undef READOUT_NUMBER
extern const char
    *const readout_names[READOUT_COUNT + 1]; /* "none", "sum", ...; NULL behind the last */

/* Rows in which a graph's nodes stand side by side. All borrowed. */
struct graph_rows {
    const uint32_t
        *first; /* [graph_count + 1]: graph g has rows first[g] .. first[g + 1], at least one */
    uint32_t graph_count, dim;
};

/* Adds rows [count, dim] of one graph to `out` [dim], of which `before` rows were added already; 0: `out` is set. from [dim]:
 * which row of the graph has the greatest, of max alone; NULL: not wanted. */
void readout_add(enum readout_kind kind, const float *row, uint32_t count, uint32_t dim,
                 uint32_t before, float *out, uint32_t *from);
/* When all `count` rows were added. */
void readout_finish(enum readout_kind kind, uint32_t count, uint32_t dim, float *out);

/* row [first[graph_count], dim] to out [graph_count, dim]; from [graph_count, dim], of max alone, for the way back; NULL: there
 * is none. */
void readout_forward(enum readout_kind kind, const struct graph_rows *graphs, const float *row,
                     struct thread_pool *pool, float *out, uint32_t *from);
/* gradient [graph_count, dim] to row_gradient [first[graph_count], dim]. */
void readout_backward(enum readout_kind kind, const struct graph_rows *graphs,
                      const float *gradient, const uint32_t *from, struct thread_pool *pool,
                      float *row_gradient);

#endif
