/*
 * aggregation - combines the rows of a destination's neighbours with the destination's own row.
 *
 *   a_i = destination_scale_i * (sum over edges e from neighbours j of
 *         source_scale_j * edge_value_e * x_j) + self_scale_i * x_i          (GCN)
 *   a_i = [ the same sum | x_i ]                       (SAGE: two halves, mean and own row)
 *
 * The map is linear, so one struct describes the forward pass (a gather by destination) and the
 * backward pass (a gather by source over the transposed edges). Both passes work on a range of
 * rows, because model.h processes rows in tiles.
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
    const float *self_scale;        /* [destination_count]; NULL: the own row is not added */
    bool skip_self_loops;           /* self_scale replaces the self-loops */
    bool self_beside;               /* the own row is appended as a second half */
    /* If not NULL, each column of the result is the maximum of edge_value_e * x_j instead of the
     * sum, and 0 for a destination without edges. Among equal values the first wins. The forward
     * pass writes the winning edge of each column here, and the backward pass sends the gradient
     * only through that edge. The maximum uses no scales and is not a linear map. */
    uint32_t *greatest; /* [destination_count, dim] */
    /* [destination_count, dim]: the sums of aggregation_add() over all sources, or NULL. If it
     * is set, edges and source rows are not read again. Forward pass in floats only. */
    const float *sum;
};

/* Returns whether the backward pass needs numbered transposed edges. */
static inline bool aggregation_numbers_edges(const struct aggregation *aggregation)
{
    return aggregation->edge_value || aggregation->greatest;
}

/* Returns the columns of an aggregated row for inputs of `dim` columns. */
static inline size_t aggregation_width(const struct aggregation *aggregation, size_t dim)
{
    return aggregation->self_beside ? 2 * dim : dim;
}

/* Writes the aggregated rows of the destinations first .. end - 1 to out
 * [end - first, aggregation_width(dim)], in the precision of the input. Each row is summed in float
 * and rounded once, at the end. `scratch` [dim] holds that sum and is used only in bf16. */
void aggregation_forward(const struct aggregation *aggregation, const struct message_block *block,
                         const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                         float *scratch, void *out);

/* Adds the edges from some of the sources to sum [destination_count, dim]. This serves inputs
 * whose sources do not all fit into memory; it works in floats only. `block`, `input` and the
 * source_scale and edge_value of `aggregation` describe the sources of this call. The caller
 * fills `sum` with aggregation_sum_of_none() before the first call. After all calls
 * aggregation_finish() gives the bits of aggregation_forward(), provided that the edges of each
 * destination came in the order of its row and that self-loops were left out if skip_self_loops
 * is set. */
void aggregation_add(const struct aggregation *aggregation, const struct message_block *block,
                     const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                     float *sum);
/* Returns the initial value of every element of a sum. `has_edges`: the destination has at least
 * one edge among all sources. */
static inline float aggregation_sum_of_none(const struct aggregation *aggregation, bool has_edges)
{
    return aggregation->greatest && has_edges ? -__builtin_inff() : 0;
}
/* Computes the aggregated rows of the destinations first .. end - 1 from their sums and writes
 * them to out [end - first, aggregation_width(dim)]. `own` holds rows of destinations. */
void aggregation_finish(const struct aggregation *aggregation, const struct input_rows *own,
                        uint32_t dim, uint32_t first, uint32_t end, const float *sum, float *out);

/* Computes the transpose: reads the gradient of all aggregated rows
 * [destination_count, aggregation_width(dim)] and writes the gradient of the inputs
 * first .. end - 1 to out [end - first, dim]. The edges must be numbered if
 * aggregation_numbers_edges() returns true. */
void aggregation_backward(const struct aggregation *aggregation,
                          const struct transposed_edges *edges, const float *gradient, uint32_t dim,
                          uint32_t first, uint32_t end, float *out);

#endif
