/*
 * batch_bounds - how large a mini-batch can be, by node type and by relation: upper bounds that
 * follow from its sampler, batch size and fan-outs.
 *
 * They are doubles, which cannot overflow; the graph's own size bounds all of them.
 */
#ifndef STAGES_TRAIN_STEP_BATCH_BOUNDS_H
#define STAGES_TRAIN_STEP_BATCH_BOUNDS_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "store/records/batch/mini_batch.h"

#include <stdbool.h>
#include <stdint.h>

struct batch_bounds { /* {0} is empty; batch_bounds_release() */
    int hop_count;
    uint32_t type_count, relation_count;
    double seeds;
    double node[LAYER_COUNT_MAX + 1][RELATION_TYPE_COUNT_MAX]; /* known after each hop */
    double *edge; /* [hops + 1, relations]: of the layer of a hop; nested: read so far */
    double row_count, edge_count, node_count; /* of the whole batch */
    /* In other forms the first layer computes about as many nodes as it reads, and their rows are
     * not aggregated ahead. */
    bool is_nested;
    bool has_factors; /* its edges, which brings degrees with it */
    bool is_disjoint;
    bool lists_rows; /* its record says which rows it has (mini_batch.h) */
};

/* Fills out [relations] with the edges of each relation in the whole graph. The seals of the
 * partition have them. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_bounds_edges(const struct stage_context *context, uint64_t *out,
                                              struct error *err);
/* Bounds the batches that are trained on, or those of the evaluation. Fails: ERROR_INVALID naming a
 * fan-out; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_bounds_find(const struct stage_context *context,
                                             const uint64_t *relation_edges, bool trains,
                                             struct batch_bounds *out, struct error *err);
void batch_bounds_release(struct batch_bounds *bounds);

/* Returns the edges of a relation in the layer of a hop. */
static inline double batch_bounds_edges_at(const struct batch_bounds *bounds, int hop,
                                           uint32_t relation)
{
    return bounds->edge[(size_t)hop * bounds->relation_count + relation];
}

#endif
