/*
 * source_windows - the sums of a layer over sources that do not fit the memory, for many destinations at once; or the
 * greatest of them, for a layer that wants that.
 *
 * A tile's neighbours lie all over the graph, so reading them tile by tile reads nearly every block for every tile. Here
 * it is the other way round: as many destinations as there is room for sums are taken together, and all sources go by
 * once, window by window, in the order of their nodes:
 *
 *   sources       |  window 0  |  window 1  |  window 2  | ...   read by all threads, each block once
 *   row of i      [ 3  17  29  |  31   40   |     -      | 77 ]  ascending, so each window is a stretch of it,
 *   cursor of i   0 ---------> 3 ---------> 5 ---------> 5       which begins where the last one ended
 *
 * Threads share out the destinations, and each destination's sum is made in the order of its row: the bits are those of
 * a gather, whatever the windows and the threads.
 */
#ifndef STAGES_INFER_SOURCE_WINDOWS_H
#define STAGES_INFER_SOURCE_WINDOWS_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "common/parallel/thread_pool.h"
#include "stages/plan/edge_use.h"
#include "store/features/feature_source.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct source_windows;

struct source_windows_config { /* borrowed until source_windows_free() */
    const struct topology *topology;
    struct feature_source *input; /* not resident; its rows are floats */
    const struct model *model;
    int layer; /* from 0: one that sums its sources (model_sums_sources()) */
    struct edge_use edge_use;
    bool has_self_loops;
    struct thread_pool *pool;
    uint64_t budget_bytes;
    uint32_t destinations_least; /* that must fit, */
    uint32_t destinations_most;  /* and more than which are never asked for */
};

/* Fails: ERROR_NO_MEMORY naming bytes wanted and budget. */
MUST_CHECK enum error_code source_windows_new(const struct source_windows_config *config,
                                              struct source_windows **out, struct error *err);
void source_windows_free(struct source_windows *windows); /* NULL is fine */
/* Bytes held. */
uint64_t source_windows_bytes(const struct source_windows *windows);
/* How many destinations are summed at a time. */
uint32_t source_windows_destinations(const struct source_windows *windows);

/* Sums of the nodes first .. end - 1, at most source_windows_destinations() of one part: *sum [end - first, input width of
 * the layer] is valid until the next call. Rows read are counted in *row_count.
 * Fails: ERROR_UNAVAILABLE when asked to stop; ERROR_CORRUPT for a block, or a row of the topology out of order. */
MUST_CHECK enum error_code source_windows_sum(struct source_windows *windows, int part,
                                              uint32_t first, uint32_t end, const float **sum,
                                              uint64_t *row_count, struct error *err);

#endif
