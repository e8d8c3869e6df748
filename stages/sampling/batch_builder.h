/*
 * batch_builder - a mini-batch put together node by node and edge by edge, of any form.
 *
 * Samplers use it that do not expand neighbourhoods as neighbor_sampler.h does, whose topology,
 * budget, lists (sampled_lists.h) and table of known nodes it borrows. The caller adds nodes, the
 * seeds first and type by type, and the rows of each relation in the order of batch_form.h. The
 * builder looks up what else a model wants of them: degrees and sums of weights (batch_ends.h),
 * columns of edges.
 *
 * A node has one number in the batch, its place among the nodes of its type. All arrays stay for
 * the next batch. The struct is open: samplers read the nodes that they have added.
 */
#ifndef STAGES_SAMPLING_BATCH_BUILDER_H
#define STAGES_SAMPLING_BATCH_BUILDER_H

#include "common/base/error.h"
#include "stages/sampling/graph_row.h"
#include "stages/sampling/growing_array.h"
#include "stages/sampling/known_nodes.h"
#include "stages/sampling/pair_table.h"
#include "stages/sampling/sampled_lists.h"
#include "store/records/mini_batch.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct neighbor_request;
struct neighbor_sampler;

enum { BUILDER_SCRATCH_COUNT = 5 };

struct batch_builder {
    struct neighbor_sampler *sampler; /* whose builder it is */
    const struct topology *topology;
    const struct type_ranges *ranges;
    const struct partition_book *book; /* types and relations; NULL: one of each */
    uint32_t target_type;              /* whose nodes train */
    struct array_budget *budget;
    struct known_nodes *known;   /* by batch_builder_enter() */
    struct sampled_lists *lists; /* the nodes and rows that were added */
    struct pair_table pairs;     /* the caller's, cleared for each batch, as are: */
    struct growing_array scratch[BUILDER_SCRATCH_COUNT];
    struct growing_array seed_weight;
    bool notes_places, has_factors, has_seed_weights, is_disjoint;
    const int64_t *
        seed_time; /* [seeds] of a disjoint batch: no later edge counts in degrees and sums; or NULL */
    int hop_count;
    uint64_t edge_count; /* of all relations */
};

/* The builder borrows all of it. */
void batch_builder_init(struct batch_builder *builder, struct neighbor_sampler *sampler,
                        const struct topology *topology, const struct type_ranges *ranges,
                        struct known_nodes *known, struct sampled_lists *lists);
void batch_builder_release(struct batch_builder *builder);

/* Returns how many nodes of a type were known after a hop, for the caller to set; of one that adds
 * hop after hop, batch_builder_end_hop() sets it for all types. */
static inline uint32_t *batch_builder_known(struct batch_builder *builder, uint32_t type, int hop)
{
    return &builder->lists->hop_end[type * ((uint32_t)builder->hop_count + 1) + (uint32_t)hop];
}
void batch_builder_end_hop(struct batch_builder *builder, int hop);

/* The type of a node of the graph. */
static inline uint32_t batch_builder_type(const struct batch_builder *builder, uint32_t node)
{
    const struct type_ranges *ranges = builder->ranges;
    return builder->lists->type_count == 1
               ? 0
               : type_ranges_type(ranges, type_ranges_part(ranges, node), node);
}

/* An empty batch. */
MUST_CHECK enum error_code batch_builder_begin(struct batch_builder *builder,
                                               const struct neighbor_request *request,
                                               struct error *err);
/* Adds a node, which gets the number *local in its type; `seed` is the one that it is of, in a
 * disjoint batch. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT for one that is not in the graph. */
MUST_CHECK enum error_code batch_builder_add_node(struct batch_builder *builder, uint32_t node,
                                                  uint32_t seed, uint32_t *local,
                                                  struct error *err);
/* Likewise; the node may be there already. */
MUST_CHECK enum error_code batch_builder_enter(struct batch_builder *builder, uint32_t node,
                                               uint32_t *local, struct error *err);
/* Adds an edge from node `local` of the source type to the row of a relation that is begun.
 * `factor` counts with has_factors. Fails: ERROR_NO_MEMORY; ERROR_INVALID above 2^32 - 1 edges. */
MUST_CHECK enum error_code batch_builder_add_edge(struct batch_builder *builder, uint32_t relation,
                                                  uint32_t local, uint64_t place, float factor,
                                                  struct error *err);
/* Ends the row, which is that of node `local` of the target type. Where rows are listed one without
 * edges is left out. */
MUST_CHECK enum error_code batch_builder_end_row(struct batch_builder *builder, uint32_t relation,
                                                 uint32_t local, struct error *err);
/* Room for the weights of the losses, of which has_seed_weights then tells. */
MUST_CHECK enum error_code batch_builder_weigh_seeds(struct batch_builder *builder,
                                                     uint32_t seed_count, float **out,
                                                     struct error *err);
/* Adds a row in each relation for each of the nodes that were entered: all its edges from nodes
 * that were, too. */
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
