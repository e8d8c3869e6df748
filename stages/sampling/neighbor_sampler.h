/*
 * neighbor_sampler - draws a bounded neighbourhood around seed nodes.
 *
 * Why not all neighbours: the neighbourhood of a few thousand seeds grows by the mean degree with every
 * layer and is soon the whole graph. GraphSAGE (Hamilton et al., NeurIPS 2017) keeps at most `fanout` of
 * them, uniformly and without replacement, which bounds a batch and leaves the mean unbiased.
 *
 * Each node is expanded once, at the hop where it first appears, with that hop's fan-out (PyG's rule).
 * Nodes are numbered in the order of discovery: seeds, then the neighbours of node 0, of node 1, ...
 * So the batch is one CSR, and the nodes that a layer computes are a prefix of it. A row keeps the order
 * of the topology's row. The draws of a node depend on (seed, round, hop, slot, node) only: not on the
 * parts the graph is cut into, nor on what was drawn before. Nor do they depend on which columns are wanted of the
 * edges, which are brought afterwards (edge_gather.h).
 *
 * Where the time goes: nearly every access is a cache miss, in the row starts, in the adjacency, and in
 * the table that says which nodes are known. So nodes are expanded in blocks, in passes: each pass
 * touches one of the three and prefetches what the next will touch.
 */
#ifndef STAGES_SAMPLING_NEIGHBOR_SAMPLER_H
#define STAGES_SAMPLING_NEIGHBOR_SAMPLER_H

#include "common/base/error.h"
#include "common/base/random.h"
#include "store/records/mini_batch.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

enum { FANOUT_ALL = -1 };

struct neighbor_sampler;

struct neighbor_sampler_config {
    const struct topology *topology; /* borrowed until neighbor_sampler_free() */
    bool has_self_loops;             /* false: degrees are row lengths, and no row is searched */
    uint64_t budget_bytes;           /* of the sampler's own memory; 0: no limit */
};

/* A row of which `count` edges are to be kept, fewer than it has. */
struct row_choice {
    const struct topology_part *part;
    uint64_t start; /* of the row, in the part */
    uint32_t length, count;
    uint32_t node;
    const struct random_stream *stream; /* the node's draws are those of item `node` */
    /* Positions that are left out, ascending: `length` is without them, and what is chosen counts without them. */
    const uint32_t *excluded;
    uint32_t excluded_count;
};

/* Edges of seeds that are not drawn, as if the topology had them not: those that are the examples. */
struct excluded_edges {
    const uint32_t *start;    /* [seed_count + 1] */
    const uint32_t *position; /* in the seed's row, ascending, none twice */
};

/* What of a seed that is the end of an edge to learn. */
enum excluded_edges_kind { EXCLUDE_NONE, EXCLUDE_EDGES, EXCLUDE_REVERSES };

/* Which: `count` positions of the row, ascending, into `position`; a function of the row and its draws alone. `scratch`
 * [count] is its own. Fails: ERROR_INPUT for a row that it cannot choose from. */
typedef enum error_code (*edge_choice)(const struct row_choice *row, uint32_t *position,
                                       uint64_t *scratch, struct error *err);

struct batch_builder;
struct node_chances;
struct walk_norm;

enum temporal_choice { TEMPORAL_UNIFORM, TEMPORAL_LAST };

/* What a mini-batch is drawn from. Below edge positions stands what single samplers want; others do not look at it. */
struct neighbor_request {
    uint64_t seed;
    uint32_t round, slot; /* slot < 65536 */
    int hop_count;
    const int64_t *fanout;     /* [hop_count], from the seeds outwards; FANOUT_ALL or at least 1 */
    const uint32_t *seed_node; /* [seed_count], each once, but where a batch is disjoint */
    uint32_t seed_count;       /* at least 1 */
    const struct excluded_edges *excluded; /* of the seeds; NULL: none */
    edge_choice choose; /* of rows longer than the fan-out; NULL: uniformly, none twice */
    bool wants_degree;
    bool wants_weight_sum; /* of a topology with weights */
    unsigned
        edge_columns; /* a bit for each enum edge_column; those that the topology lacks are left out */
    bool wants_edge_positions; /* mini_batch.h: in the place of rows of edge features */
    const int64_t *seed_time;  /* [seed_count], temporal_neighbor: no later edge is taken */
    bool only_earlier;         /* the same: nor one at the seed's time */
    /* The same: seeds 2 i and 2 i + 1 are the ends of edge i, and behind those of all edges come the other ends of its
     * negatives, all at its time. The edge is left out of what they see, with its reverse or without. */
    enum excluded_edges_kind pair_exclusion;
    uint32_t pair_count, pair_negatives; /* edges, and negatives of each */
    enum temporal_choice temporal_choice;
    const uint64_t
        *is_training;     /* a bit for each node of the graph: subgraphs; their seeds are those */
    uint32_t draw_count;  /* graphsaint_node, graphsaint_edge: how many are drawn */
    uint32_t walk_length; /* graphsaint_walk: edges of a walk */
    const struct node_chances *chances; /* fastgcn, graphsaint_node, graphsaint_edge */
    const struct walk_norm *walk_norm;  /* graphsaint_walk; NULL: no factors and weights */
    const uint32_t *cluster;            /* [cluster_count] parts, cluster_gcn */
    uint32_t cluster_count;
    uint32_t depth;        /* shadow: hops that are drawn */
    int64_t num_neighbors; /* shadow: of a node at each of them; FANOUT_ALL or at least 1 */
};

/* The edge that `seed` is an end of, or of a negative of. */
static inline uint32_t neighbor_request_pair(const struct neighbor_request *request, uint32_t seed)
{
    const uint32_t ends = 2 * request->pair_count;
    return seed < ends ? seed / 2 : (seed - ends) / request->pair_negatives;
}

/* Whether the edge at `time` is that of the seed's pair, or its reverse. An earlier one of the same ends is another. */
static inline bool neighbor_request_leaves_out(const struct neighbor_request *request,
                                               uint32_t seed, uint32_t source, uint32_t target,
                                               int64_t time)
{
    if (request->pair_exclusion == EXCLUDE_NONE || time < request->seed_time[seed])
        return false;
    const uint32_t *end = request->seed_node + 2 * (size_t)neighbor_request_pair(request, seed);
    const uint32_t from = end[0], to = end[1];
    return (source == from && target == to) ||
           (request->pair_exclusion == EXCLUDE_REVERSES && source == to && target == from);
}

/* Whether an edge at `time` is early enough for the seed. */
static inline bool neighbor_request_sees(const struct neighbor_request *request, uint32_t seed,
                                         int64_t time)
{
    return request->only_earlier ? time < request->seed_time[seed]
                                 : time <= request->seed_time[seed];
}

/* Owns:  *out; neighbor_sampler_free(). Takes 4 bytes for each node of the graph.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_sampler_new(const struct neighbor_sampler_config *config,
                                                struct neighbor_sampler **out, struct error *err);
void neighbor_sampler_free(struct neighbor_sampler *sampler);
/* Bytes held. */
uint64_t neighbor_sampler_bytes(const struct neighbor_sampler *sampler);

/* What draws batches that are no neighbourhoods, made when it is asked for first; the sampler's, and not to be used beside a draw
 * of the sampler. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_sampler_builder(struct neighbor_sampler *sampler,
                                                    struct batch_builder **out, struct error *err);

/* The arrays of *out are the sampler's, valid until the next draw; out->view stays empty. Once the
 * largest batch was drawn, nothing is allocated.
 * Fails: ERROR_CORRUPT for a seed that is out of range or there twice, and for a row or neighbour of the
 *        topology out of range; ERROR_INVALID above 2^32 - 1 edges; ERROR_NO_MEMORY.
 * Threads: one sampler, one thread; samplers may share the topology. */
MUST_CHECK enum error_code neighbor_sampler_draw(struct neighbor_sampler *sampler,
                                                 const struct neighbor_request *request,
                                                 struct mini_batch *out, struct error *err);

#endif
