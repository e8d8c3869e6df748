/*
 * batch_builder - builds a mini-batch of any form, node by node and edge by edge.
 *
 * Samplers use it if they do not expand neighbourhoods as neighbor_sampler.h does. It borrows the
 * topology, budget, lists (sampled_lists.h) and table of known nodes of a neighbor_sampler. The
 * caller adds the nodes, seeds first and type by type, and then the rows of each relation in the
 * order of batch_form.h. The builder looks up the rest that a model wants: degrees and sums of
 * weights (batch_ends.h), and columns of edges.
 *
 * A node has one number in the batch: its place among the nodes of its type. All arrays are kept
 * for the next batch. The struct is open because samplers read the nodes that they have added.
 */
#ifndef STAGES_SAMPLING_ROWS_BATCH_BUILDER_H
#define STAGES_SAMPLING_ROWS_BATCH_BUILDER_H

#include "common/base/error.h"
#include "stages/sampling/rows/graph_row.h"
#include "stages/sampling/rows/growing_array.h"
#include "stages/sampling/rows/known_nodes.h"
#include "stages/sampling/rows/pair_table.h"
#include "stages/sampling/rows/sampled_lists.h"
#include "store/records/batch/mini_batch.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct neighbor_request;
struct neighbor_sampler;

enum { BUILDER_SCRATCH_COUNT = 5 };

struct batch_builder {
    struct neighbor_sampler *sampler; /* the sampler that owns this builder */
    const struct topology *topology;
    const struct type_ranges *ranges;
    const struct partition_book *book; /* types and relations; NULL: one of each */
    uint32_t target_type;              /* the node type that is trained */
    struct array_budget *budget;
    struct known_nodes *known;   /* filled by batch_builder_enter() */
    struct sampled_lists *lists; /* the nodes and rows that were added */
    struct pair_table pairs;     /* for the caller's use; cleared for each batch, as are: */
    struct growing_array scratch[BUILDER_SCRATCH_COUNT];
    struct growing_array seed_weight;
    bool notes_places, has_factors, has_seed_weights, is_disjoint;
    const int64_t *seed_time; /* [seeds]; later edges do not count in degrees and sums; or NULL */
    int hop_count;
    uint64_t edge_count; /* of all relations */
};

/* Makes an empty builder, which borrows all arguments. */
void batch_builder_init(struct batch_builder *builder, struct neighbor_sampler *sampler,
                        const struct topology *topology, const struct type_ranges *ranges,
                        struct known_nodes *known, struct sampled_lists *lists);
void batch_builder_release(struct batch_builder *builder);

/* Returns the address of the number of nodes of a type known after a hop, for the caller to set. A
 * caller that adds hop after hop calls batch_builder_end_hop() instead, which sets it for all
 * types. */
static inline uint32_t *batch_builder_known(struct batch_builder *builder, uint32_t type, int hop)
{
    return &builder->lists->hop_end[type * ((uint32_t)builder->hop_count + 1) + (uint32_t)hop];
}
void batch_builder_end_hop(struct batch_builder *builder, int hop);

/* Returns the type of a node of the graph. */
static inline uint32_t batch_builder_type(const struct batch_builder *builder, uint32_t node)
{
    const struct type_ranges *ranges = builder->ranges;
    return builder->lists->type_count == 1
               ? 0
               : type_ranges_type(ranges, type_ranges_part(ranges, node), node);
}

/* Starts an empty batch. */
MUST_CHECK enum error_code batch_builder_begin(struct batch_builder *builder,
                                               const struct neighbor_request *request,
                                               struct error *err);
/* Adds a node, which gets the number *local in its type. In a disjoint batch `seed` is the seed
 * whose subgraph the node belongs to. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT for a node that is not
 * in the graph. */
MUST_CHECK enum error_code batch_builder_add_node(struct batch_builder *builder, uint32_t node,
                                                  uint32_t seed, uint32_t *local,
                                                  struct error *err);
/* Adds the node unless the batch has it already. Fails as batch_builder_add_node(). */
MUST_CHECK enum error_code batch_builder_enter(struct batch_builder *builder, uint32_t node,
                                               uint32_t *local, struct error *err);
/* Adds an edge from node `local` of the source type to the current row of a relation. `factor`
 * counts only with has_factors. Fails: ERROR_NO_MEMORY; ERROR_INVALID above 2^32 - 1 edges. */
MUST_CHECK enum error_code batch_builder_add_edge(struct batch_builder *builder, uint32_t relation,
                                                  uint32_t local, uint64_t place, float factor,
                                                  struct error *err);
/* Ends the current row, which belongs to node `local` of the target type. If rows are listed, a row
 * without edges is left out. */
MUST_CHECK enum error_code batch_builder_end_row(struct batch_builder *builder, uint32_t relation,
                                                 uint32_t local, struct error *err);
/* Makes room for the weights of the seeds' losses and sets has_seed_weights. */
MUST_CHECK enum error_code batch_builder_weigh_seeds(struct batch_builder *builder,
                                                     uint32_t seed_count, float **out,
                                                     struct error *err);
/* Adds, in each relation, a row for each entered node: all its edges from nodes that were entered,
 * too. */
MUST_CHECK enum error_code batch_builder_induce(struct batch_builder *builder, struct error *err);
/* Completes the batch, with hops and their ends. The arrays of *out stay the builder's and are
 * valid until the next batch. */
MUST_CHECK enum error_code batch_builder_finish(struct batch_builder *builder,
                                                const struct neighbor_request *request,
                                                enum batch_form form, struct mini_batch *out,
                                                struct error *err);

/* Makes room for `count` elements of `words` times four bytes in one of the scratch arrays, keeping
 * the first `used`. */
MUST_CHECK enum error_code batch_builder_scratch(struct batch_builder *builder, int which,
                                                 size_t count, size_t words, size_t used,
                                                 void **out, struct error *err);

#endif
