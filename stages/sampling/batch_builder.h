/*
 * batch_builder - a mini-batch put together node by node and edge by edge, of any form.
 *
 * For samplers that do not expand neighbourhoods as neighbor_sampler.h does, from whom this borrows topology, budget and
 * the table of known nodes. The caller adds nodes, the seeds first, and rows in the order of batch_form.h; the builder looks up
 * what else a model wants of them: degrees, sums of weights, columns of edges.
 *
 * All arrays stay for the next batch. The struct is open: samplers read the nodes they have added.
 */
#ifndef STAGES_SAMPLING_BATCH_BUILDER_H
#define STAGES_SAMPLING_BATCH_BUILDER_H

#include "common/base/error.h"
#include "stages/sampling/edge_gather.h"
#include "stages/sampling/graph_row.h"
#include "stages/sampling/growing_array.h"
#include "stages/sampling/known_nodes.h"
#include "stages/sampling/pair_table.h"
#include "store/records/mini_batch.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct neighbor_request;

enum { BUILDER_SCRATCH_COUNT = 4 };

struct batch_builder {
    const struct topology *topology;
    bool has_self_loops;
    struct array_budget *budget;
    struct known_nodes *known; /* by batch_builder_enter() */
    struct pair_table pairs;   /* the caller's, cleared for each batch, as are: */
    struct growing_array scratch[BUILDER_SCRATCH_COUNT];
    struct growing_array node, seed_of, row_start, neighbor, factor, seed_weight, degree,
        weight_sum;
    struct edge_gather gather;
    bool notes_places, has_factors, has_seed_weights, is_disjoint;
    const int64_t *
        seed_time; /* [seeds] of a disjoint batch: no later edge counts in degrees and sums; or NULL */
    uint32_t node_count, row_count, edge_count;
    uint32_t hop_end[HOP_COUNT_MAX + 1]; /* the caller's */
};

void batch_builder_init(struct batch_builder *builder, const struct topology *topology,
                        struct known_nodes *known, struct array_budget *budget,
                        bool has_self_loops);
void batch_builder_release(struct batch_builder *builder);

/* An empty batch. */
MUST_CHECK enum error_code batch_builder_begin(struct batch_builder *builder,
                                               const struct neighbor_request *request,
                                               struct error *err);
/* One more node; `seed` is the one that it is of, in a disjoint batch. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT for one that is
 * not in the graph. */
MUST_CHECK enum error_code batch_builder_add_node(struct batch_builder *builder, uint32_t node,
                                                  uint32_t seed, struct error *err);
/* The same of a node that may be there already; *local is where. */
MUST_CHECK enum error_code batch_builder_enter(struct batch_builder *builder, uint32_t node,
                                               uint32_t *local, struct error *err);
/* Of the row that is begun: an edge from node `local` of the batch. `factor` counts with has_factors. Fails: ERROR_NO_MEMORY;
 * ERROR_INVALID above 2^32 - 1 edges. */
MUST_CHECK enum error_code batch_builder_add_edge(struct batch_builder *builder, uint32_t local,
                                                  uint64_t place, float factor, struct error *err);
MUST_CHECK enum error_code batch_builder_end_row(struct batch_builder *builder, struct error *err);
/* Room for the weights of the losses, of which has_seed_weights then tells. */
MUST_CHECK enum error_code batch_builder_weigh_seeds(struct batch_builder *builder,
                                                     uint32_t seed_count, float **out,
                                                     struct error *err);
/* A row for each of the nodes that were entered: all its edges from nodes that were, too. */
MUST_CHECK enum error_code batch_builder_induce(struct batch_builder *builder, struct error *err);
/* The batch, with hops and their ends; its arrays are the builder's until the next. */
MUST_CHECK enum error_code batch_builder_finish(struct batch_builder *builder,
                                                const struct neighbor_request *request,
                                                enum batch_form form, struct mini_batch *out,
                                                struct error *err);

/* Room for `count` elements of `words` times four bytes in one of the scratch arrays, keeping the first `used`. */
MUST_CHECK enum error_code batch_builder_scratch(struct batch_builder *builder, int which,
                                                 size_t count, size_t words, size_t used,
                                                 void **out, struct error *err);

#endif
