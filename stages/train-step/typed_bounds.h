/*
 * typed_bounds - how large a mini-batch of a graph with relations can be: batch_bounds.h by node type and by relation.
 */
#ifndef STAGES_TRAIN_STEP_TYPED_BOUNDS_H
#define STAGES_TRAIN_STEP_TYPED_BOUNDS_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"

#include <stdint.h>

struct typed_bounds { /* {0} is empty; typed_bounds_release() */
    int hop_count;
    uint32_t type_count, relation_count;
    double seeds;
    bool has_factors;                                          /* its edges */
    double node[LAYER_COUNT_MAX + 1][RELATION_TYPE_COUNT_MAX]; /* known after each hop */
    double *edge; /* [hops + 1, relations] read after each hop */
};

/* What both have in common: edges of each relation in the whole graph, into out [relations], by the seals of the partition.
 * Fails: ERROR_NOT_FOUND, ERROR_CORRUPT, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_bounds_edges(const struct stage_context *context, uint64_t *out,
                                              struct error *err);
/* Fails: ERROR_INVALID naming a fan-out; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code typed_bounds_of_training(const struct stage_context *context,
                                                    const uint64_t *relation_edges,
                                                    struct typed_bounds *out, struct error *err);
MUST_CHECK enum error_code typed_bounds_of_validation(const struct stage_context *context,
                                                      const uint64_t *relation_edges,
                                                      struct typed_bounds *out, struct error *err);
void typed_bounds_release(struct typed_bounds *bounds);

/* Edges of a relation that are read after a hop. */
static inline double typed_bounds_edges_at(const struct typed_bounds *bounds, int hop,
                                           uint32_t relation)
{
    return bounds->edge[(size_t)hop * bounds->relation_count + relation];
}
/* Of all types, and of all relations, in the whole batch. */
double typed_bounds_nodes(const struct typed_bounds *bounds);
double typed_bounds_all_edges(const struct typed_bounds *bounds);

#endif
