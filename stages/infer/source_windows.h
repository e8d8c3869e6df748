/*
 * source_windows - the sums of a layer over sources that do not fit the memory, for many destinations at once; or the
 * greatest of them, for a layer that wants that. Of attention the sums are weighed by shares, in each head: of GAT all rows go by
 * once more before, for what shares are made of (common/nn/layers/gat_windows.h); GATv2 has them projected once in a window for
 * all destinations (gatv2_windows.h), which also pays where they fit. What a kind of layer does is in windows/.
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
    struct feature_source *input; /* its rows are floats */
    const struct model *model;
    const float *weights; /* [model->value_count]; of attention alone */
    int layer;            /* from 0: one that source_windows_are_possible() for */
    struct edge_use edge_use;
    bool has_self_loops;
    struct thread_pool *pool;
    uint64_t budget_bytes;
    uint32_t destinations_least; /* that must fit, */
    uint32_t destinations_most;  /* and more than which are never asked for */
};

/* Kinds that sum their sources (model_sums_sources()), GAT and GATv2. */
bool source_windows_are_possible(const struct model *model, int layer);
/* Whether all tiles of that layer are summed so, where rows do not fit. */
bool source_windows_sum_all(const struct model *model, int layer);
/* Whether that is so also where they fit, as their bits are those of no tile. */
bool source_windows_are_always(const struct model *model, int layer);
/* Fails: ERROR_NO_MEMORY naming bytes wanted and budget; of GAT also as source_windows_sum(). */
MUST_CHECK enum error_code source_windows_new(const struct source_windows_config *config,
                                              struct source_windows **out, struct error *err);
void source_windows_free(struct source_windows *windows); /* NULL is fine */
/* Bytes held. */
uint64_t source_windows_bytes(const struct source_windows *windows);
/* Gives back the room for rows, which is most of them, until the next sums; those made last are gone. */
void source_windows_rest(struct source_windows *windows);
uint64_t source_windows_resting_bytes(const struct source_windows *windows);
/* How many destinations are summed at a time. */
uint32_t source_windows_destinations(const struct source_windows *windows);

/* Whether a tile of that many destinations, which hear from so many sources, themselves among them, is to be summed here:
 * of all kinds but GAT it is, whatever the numbers. */
bool source_windows_take(const struct source_windows *windows, uint32_t destinations,
                         uint32_t sources);
/* Whether that depends on the numbers. */
bool source_windows_choose(const struct source_windows *windows);
/* Floats of a sum: the input width of the layer, or more. */
size_t source_windows_width(const struct source_windows *windows);

/* Sums of the nodes first .. end - 1, at most source_windows_destinations() of one part: *sum [end - first,
 * source_windows_width()] is valid until the next call. Rows read are counted in *row_count.
 * Fails: ERROR_UNAVAILABLE when asked to stop; ERROR_CORRUPT for a block, or a row of the topology out of order. */
MUST_CHECK enum error_code source_windows_sum(struct source_windows *windows, int part,
                                              uint32_t first, uint32_t end, const float **sum,
                                              uint64_t *row_count, struct error *err);

#endif
