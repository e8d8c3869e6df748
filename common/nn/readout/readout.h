/*
 * readout - computes one row for each graph from the rows of its nodes (Gilmer et al. 2017), and
 * the gradient.
 *
 *   sum    as PyG's global_add_pool
 *   mean   as global_mean_pool
 *   max    as global_max_pool, column by column
 *
 * One thread adds the rows of a graph in their order, in single precision. So the bits do not
 * depend on the number of threads, nor on whether the rows of a graph come at once or in pieces.
 * The gradient of a max goes to the first of equal maxima, as in the layers' max; torch's
 * scatter_reduce divides it among them.
 */
#ifndef COMMON_NN_READOUT_READOUT_H
#define COMMON_NN_READOUT_READOUT_H

#include "common/parallel/thread_pool.h"

#include <stddef.h>
#include <stdint.h>

/* ROW(number, name, help): `name` is the name in train-step.readout. */
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
extern const char *const readout_names[READOUT_COUNT + 1]; /* "none", "sum", ...; NULL at the end */

/* Rows in which the nodes of each graph lie next to each other. All pointers are borrowed. */
struct graph_rows {
    const uint32_t
        *first; /* [graph_count + 1]: graph g has rows first[g] .. first[g + 1], at least one */
    uint32_t graph_count, dim;
};

/* Adds rows [count, dim] of one graph to `out` [dim], which already holds `before` rows; if
 * `before` is 0, `out` is set. For max only, from [dim] receives the row of the graph that has
 * the maximum; NULL: not wanted. */
void readout_add(enum readout_kind kind, const float *row, uint32_t count, uint32_t dim,
                 uint32_t before, float *out, uint32_t *from);
/* Completes `out` after all `count` rows have been added. */
void readout_finish(enum readout_kind kind, uint32_t count, uint32_t dim, float *out);

/* Reads row [first[graph_count], dim] and writes out [graph_count, dim]. For max only, from
 * [graph_count, dim] receives the positions of the maxima for readout_backward(); NULL: there is
 * no backward pass. */
void readout_forward(enum readout_kind kind, const struct graph_rows *graphs, const float *row,
                     struct thread_pool *pool, float *out, uint32_t *from);
/* Reads gradient [graph_count, dim] and writes row_gradient [first[graph_count], dim]. */
void readout_backward(enum readout_kind kind, const struct graph_rows *graphs,
                      const float *gradient, const uint32_t *from, struct thread_pool *pool,
                      float *row_gradient);

#endif
