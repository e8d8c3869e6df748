/*
 * batch_bounds - upper bounds on the size of a mini-batch, by node type and by relation.
 *
 * The bounds follow from the sampler, the batch size and the fan-outs. The size of the graph
 * bounds each neighbourhood. The bounds are doubles, which cannot overflow.
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
    double node[LAYER_COUNT_MAX + 1][RELATION_TYPE_COUNT_MAX]; /* nodes known after each hop */
    /* [hops + 1, relations]: edges of the layer of a hop; in nested batches, edges read so far */
    double *edge;
    double row_count, edge_count, node_count; /* of the whole batch */
    /* The first layer aggregates rows ahead only in nested batches. In the other forms it
     * computes about as many nodes as it reads. */
    bool is_nested;
    bool has_factors; /* edges have factors, and nodes have degrees */
    bool is_disjoint;
    bool lists_rows; /* the record lists the rows that have edges (mini_batch.h) */
};

/* Fills out [relations] with the number of edges of each relation in the whole graph, which it
 * reads from the seals of the partition. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_bounds_edges(const struct stage_context *context, uint64_t *out,
                                              struct error *err);
/* Bounds the training batches if `trains`, otherwise the batches of the evaluation. Fails:
 * ERROR_INVALID naming a fan-out; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code batch_bounds_find(const struct stage_context *context,
                                             const uint64_t *relation_edges, bool trains,
                                             struct batch_bounds *out, struct error *err);
void batch_bounds_release(struct batch_bounds *bounds);

/* Returns the bound on the edges of a relation in the layer of a hop. */
static inline double batch_bounds_edges_at(const struct batch_bounds *bounds, int hop,
                                           uint32_t relation)
{
    return bounds->edge[(size_t)hop * bounds->relation_count + relation];
}

#endif
