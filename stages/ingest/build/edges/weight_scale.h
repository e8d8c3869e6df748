/*
 * weight_scale - changes the scale of the edge weights (ingest.weight_scale), for weights of very
 * different sizes.
 *
 *   as_given   w
 *   log        log(1 + w), and -log(1 - w) below 0: the sign stays, the order stays, and 0 stays 0
 *   rank       the share of the input's edges whose weight is at most w: above 0, up to 1; equal
 *              weights have equal ranks. It depends on all edges, so an update cannot add edges
 *              to such a dataset.
 *
 * log and rank give the same number on every machine. Labels that are the weights
 * (ingest.edge_label: weight) are not scaled.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_WEIGHT_SCALE_H
#define STAGES_INGEST_BUILD_EDGES_WEIGHT_SCALE_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stddef.h>
#include <stdint.h>

struct weight_scale { /* {0}: as given */
    enum weight_scale_kind kind;
    uint64_t memory_bytes; /* limit for ranks; 0: none */
    float *weight;         /* [count] for rank: the weights of all edges, ascending once finished */
    uint64_t count;
    size_t capacity;
};

void weight_scale_release(struct weight_scale *scale);
/* Notes the weight of an edge of the input. Fails: ERROR_NO_MEMORY if ranks need more than
 * memory_bytes. */
MUST_CHECK enum error_code weight_scale_note(struct weight_scale *scale, float weight,
                                             struct error *err);
/* Sorts the noted weights. Call it when all weights are noted, before the first one is scaled. */
void weight_scale_finish(struct weight_scale *scale);
float weight_scale_of(const struct weight_scale *scale, float weight);

#endif
