/*
 * aggregation - how a destination combines the rows of its neighbours and its own.
 *
 *   a_i = destination_scale_i * sum over edges e from neighbours j of source_scale_j * edge_value_e * x_j
 *         + self_scale_i * x_i                     (GCN), or beside it
 *         | x_i                                    (SAGE: two halves, [mean | self])
 *
 * A linear map, so one struct describes forward (a gather by destination) and backward (a gather by
 * source over the transposed edges). Both work on a range of rows, for the tiles of model.h.
 */
#ifndef COMMON_NN_OPERATORS_AGGREGATION_H
#define COMMON_NN_OPERATORS_AGGREGATION_H

#include "common/graph/message_block.h"
#include "common/graph/transposed_edges.h"
#include "common/nn/operators/gather.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aggregation {
    uint32_t destination_count;
    const float *destination_scale; /* [destination_count] */
    const float *source_scale;      /* [source_count], or NULL for 1 */
    const float *edge_value;        /* indexed like the block's neighbor, or NULL for 1 */
    const float *self_scale;        /* [destination_count], or NULL: the own row is not added */
    bool skip_self_loops;           /* self_scale stands for them */
    bool self_beside;               /* the own row is kept as a second half */
    /* Not NULL: in each column the greatest of edge_value_e * x_j stands for the sum, 0 where there are no edges; of
     * equal ones the first. Which edge that is forward leaves here, and backward goes through it alone. Without
     * scales; no linear map. */
    uint32_t *greatest; /* [destination_count, dim] */
    /* [destination_count, dim]: what aggregation_add() made of all sources, so that edges and rows of sources are not looked at
     * any more; or NULL. Forward alone, in floats. */
    const float *sum;
};

/* Whether the transposed edges have to be numbered for backward. */
static inline bool aggregation_numbers_edges(const struct aggregation *aggregation)
{
    return aggregation->edge_value || aggregation->greatest;
}

/* Columns of an aggregated row for inputs of `dim` columns. */
static inline size_t aggregation_width(const struct aggregation *aggregation, size_t dim)
{
    return aggregation->self_beside ? 2 * dim : dim;
}

/* Aggregated rows of the destinations first .. end - 1 into out [end - first, aggregation_width(dim)], in the
 * precision of the input: each row is summed in float and rounded once, in the end. `scratch` [dim]: for
 * that row, only in bf16. */
void aggregation_forward(const struct aggregation *aggregation, const struct message_block *block,
                         const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                         float *scratch, void *out);

/* The same when not all sources are in memory at a time, in floats alone. Each call adds the edges from some sources to
 * sum [destination_count, dim], which is aggregation_sum_of_none() before the first: `block`, `input`, and of `aggregation` the source_scale and
 * edge_value, are about these. When the edges of each destination come in the order of its row, and those from
 * itself are left out where skip_self_loops says so, then after all of them aggregation_finish() gives the bits of
 * aggregation_forward(). */
void aggregation_add(const struct aggregation *aggregation, const struct message_block *block,
                     const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                     float *sum);
/* What every element of a sum is before anything was added; `has_edges`: the destination has some, in all. */
static inline float aggregation_sum_of_none(const struct aggregation *aggregation, bool has_edges)
{
    return aggregation->greatest && has_edges ? -__builtin_inff() : 0;
}
/* From the sums of the destinations first .. end - 1 their aggregated rows, into out [end - first, aggregation_width(dim)];
 * `own` are rows of destinations. */
void aggregation_finish(const struct aggregation *aggregation, const struct input_rows *own,
                        uint32_t dim, uint32_t first, uint32_t end, const float *sum, float *out);

/* The transpose: from the gradient of all aggregated rows [destination_count, aggregation_width(dim)] that of the
 * inputs first .. end - 1 into out [end - first, dim]. The edges are numbered where
 * aggregation_numbers_edges() says so. */
void aggregation_backward(const struct aggregation *aggregation,
                          const struct transposed_edges *edges, const float *gradient, uint32_t dim,
                          uint32_t first, uint32_t end, float *out);

#endif
