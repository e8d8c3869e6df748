/*
 * neighbor_sampler - draws a bounded neighbourhood around seed nodes.
 *
 * It does not take all neighbours, because the neighbourhood of a few thousand seeds grows by the
 * mean degree with every layer and is soon the whole graph. GraphSAGE (Hamilton et al., NeurIPS
 * 2017) keeps at most `fanout` of them, uniformly and without replacement, which bounds a batch
 * and leaves the mean unbiased.
 *
 * Each node is expanded once, at the hop where it first appears, with that hop's fan-out, in every
 * relation that ends in its type (PyG's rule). Nodes of a type are numbered in the order of
 * discovery: seeds, then the neighbours of node 0, of node 1, ... So the batch is one CSR for each
 * relation, and the nodes that a layer computes are a prefix of it. A row keeps the order of the
 * topology's row. The draws of a node depend on (seed, round, relation, hop, slot, node) only: not
 * on the parts the graph is cut into, nor on earlier draws, nor on the columns of edges that are
 * wanted, which are read afterwards (edge_gather.h).
 *
 * A graph without named relations is one relation from one type to itself. If relations have
 * names, the rows of the batch are listed (mini_batch.h), and degrees are those of the listed
 * rows. The degrees and sums of weights of both ends of edges are looked up for all nodes after
 * the draw, with and without named relations.
 *
 * Nearly every access is a cache miss: in the row starts, in the adjacency, and in the table of
 * known nodes. So nodes are expanded in blocks, in passes: each pass touches one of the three and
 * prefetches what the next pass will touch.
 */
#ifndef STAGES_SAMPLING_ROWS_NEIGHBOR_SAMPLER_H
#define STAGES_SAMPLING_ROWS_NEIGHBOR_SAMPLER_H

#include "common/base/error.h"
#include "common/numbers/random.h"
#include "stages/sampling/rows/seed_times.h"
#include "store/records/batch/mini_batch.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

enum { FANOUT_ALL = -1 };

struct neighbor_sampler;

struct neighbor_sampler_config {
    const struct topology *topology;   /* borrowed until neighbor_sampler_free() */
    const struct partition_book *book; /* borrowed, too: types and relations; NULL: one of each */
    bool has_self_loops;               /* false: degrees are row lengths, and no row is searched */
    uint64_t budget_bytes;             /* limit of the sampler's own memory; 0: none */
};

/* A row from which `count` edges are to be kept, fewer than it has. */
struct row_choice {
    const struct topology_part *part;
    uint64_t start; /* of the row, in the part */
    uint32_t length, count;
    uint32_t node;
    const struct random_stream *stream; /* the node's draws are those of item `node` */
    /* Excluded positions, ascending. `length` and the chosen positions count without them. */
    const uint32_t *excluded;
    uint32_t excluded_count;
};

/* Edges of seeds that must not be drawn because they are the examples. They do not count in the
 * degrees of listed rows either, as if the topology did not have them. Ordered by relation. */
struct excluded_edges {
    const uint32_t *begin;    /* [relations + 1] */
    const uint32_t *seed;     /* the seed of each edge, counted in the seed's type; ascending */
    const uint32_t *position; /* in the seed's row; ascending within a seed, none twice */
};

/* Chooses `count` positions of the row, ascending, into `position`. The choice is a function of the
 * row and its draws alone. `scratch` [count] is the callee's to use. Fails: ERROR_INPUT for a row
 * that it cannot choose from. */
typedef enum error_code (*edge_choice)(const struct row_choice *row, uint32_t *position,
                                       uint64_t *scratch, struct error *err);

struct batch_builder;
struct node_chances;
struct walk_norm;

/* Tables made once from the whole graph, if the row of the sampler asks for them (sampler.h). All
 * draws share them. */
struct graph_knowledge {
    const uint64_t *is_training;        /* a bit for each node of the graph */
    const struct node_chances *chances; /* node_chances_tables() of the row's rule */
    const struct walk_norm *walk_norm;  /* NULL: nothing was counted */
};

/* The inputs of the draw of one mini-batch. */
struct neighbor_request {
    uint64_t seed;
    uint32_t round, slot; /* slot < 65536 */
    int hop_count;
    const int64_t *fanout; /* [relations, hop_count], from the seeds outwards; FANOUT_ALL, or a
                                * number, of a graph of one relation at least 1 */
    const uint32_t
        *seed_node;      /* [seed_count] of any types, none twice unless the batch is disjoint */
    uint32_t seed_count; /* at least 1 */
    const struct excluded_edges *excluded; /* of the seeds; NULL: none */
    edge_choice choose; /* for rows longer than the fan-out; NULL: uniformly, none twice */
    bool wants_degree;
    bool wants_weight_sum;     /* of a topology with weights */
    bool wants_ends;           /* with named relations: end_degree and sums (mini_batch.h) */
    unsigned edge_columns;     /* bits of enum edge_column; a missing column is left out */
    bool wants_edge_positions; /* instead of edge features (mini_batch.h) */
    struct time_limits times;
    uint32_t draw_count;  /* number of draws, for a unit of draws (enum sampler_unit) */
    const uint32_t *part; /* [part_count], for a unit of clusters */
    uint32_t part_count;
    struct graph_knowledge graph;          /* the tables that the sampler's row asks for */
    const struct sampler_options *options; /* the samplers' own parameters */
};

/* Makes a sampler. Owns: *out; neighbor_sampler_free(). Takes 4 bytes for each node of the graph.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_sampler_new(const struct neighbor_sampler_config *config,
                                                struct neighbor_sampler **out, struct error *err);
void neighbor_sampler_free(struct neighbor_sampler *sampler);
/* Returns how many bytes the sampler holds. */
uint64_t neighbor_sampler_bytes(const struct neighbor_sampler *sampler);

/* Returns the builder of batches that are no neighbourhoods, and makes it at the first call. The
 * sampler owns it; it must not be used during a draw of the sampler. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code neighbor_sampler_builder(struct neighbor_sampler *sampler,
                                                    struct batch_builder **out, struct error *err);

/* Draws a mini-batch. The arrays of *out stay the sampler's and are valid until the next draw;
 * out->view stays empty. Once the largest batch was drawn, nothing is allocated. Fails:
 * ERROR_CORRUPT for a seed that is out of range or given twice, and for a row or neighbour of the
 * topology out of range; ERROR_INVALID above 2^32 - 1 edges; ERROR_NO_MEMORY. Threads: one sampler,
 * one thread; samplers may share the topology. */
MUST_CHECK enum error_code neighbor_sampler_draw(struct neighbor_sampler *sampler,
                                                 const struct neighbor_request *request,
                                                 struct mini_batch *out, struct error *err);

#endif
