/*
 * relation_sampler - draws a bounded neighbourhood around seed nodes of a graph with relations.
 *
 * The rule is that of PyG's NeighborLoader on a HeteroData: at each hop, relation by relation, each node of the target type
 * that was found at the hop before keeps at most as many of its sources in that relation as the fan-out of (relation, hop)
 * says, uniformly and none twice. So each node is expanded once for every relation that ends in its type, at the hop
 * where it first appears; what is found becomes known after the hop. Nodes are numbered by type in the order in which they
 * are found: hop by hop, relation by relation, row by row.
 *
 * The draws of a node depend on (seed, round, hop, slot, relation, node) only: not on the parts the graph is cut into, the
 * threads, nor on what was drawn before. A row keeps the order of the topology's row. Edges of the seeds' rows that are left out
 * (relation_exclusion.h) are as if the topology had them not, in degrees too.
 *
 * As in neighbor_sampler.h nearly every access is a cache miss, so rows are worked on in blocks, in passes that prefetch what
 * the next touches: row starts, neighbours, the table of known nodes.
 */
#ifndef STAGES_SAMPLING_RELATION_SAMPLER_H
#define STAGES_SAMPLING_RELATION_SAMPLER_H

#include "common/base/error.h"
#include "stages/sampling/relation_exclusion.h"
#include "store/records/mini_batch.h"
#include "store/records/partition_book.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct relation_sampler;

struct relation_sampler_config {
    const struct topology *topology;   /* open, borrowed until relation_sampler_free() */
    const struct partition_book *book; /* likewise */
    uint64_t budget_bytes;             /* of the sampler's own memory; 0: no limit */
};

struct relation_request {
    uint64_t seed;
    uint32_t round, slot; /* slot < 65536 */
    int hop_count;        /* 1 or more */
    const int64_t
        *fanout; /* [relations, hop_count], from the seeds outwards; FANOUT_ALL, 0 or more */
    const uint32_t *seed_node; /* [seed_count], of any types, each once */
    uint32_t seed_count;       /* at least 1 */
    bool wants_degree;
    unsigned
        edge_columns; /* a bit for each enum edge_column; those that the topology lacks are left out */
    const struct excluded_relation_edges *excluded; /* of the seeds' rows; NULL: none */
};

/* Owns: *out; relation_sampler_free(). Takes 4 bytes for each node of the graph. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code relation_sampler_new(const struct relation_sampler_config *config,
                                                struct relation_sampler **out, struct error *err);
void relation_sampler_free(struct relation_sampler *sampler);
/* Bytes held. */
uint64_t relation_sampler_bytes(const struct relation_sampler *sampler);

/* The arrays of *out are the sampler's, valid until the next draw. Once the largest batch was drawn, nothing is allocated.
 * Fails:   ERROR_CORRUPT for a seed that is out of range or there twice, and for a row or neighbour of the topology out of
 *          range; ERROR_INVALID above 2^32 - 1 edges; ERROR_NO_MEMORY.
 * Threads: one sampler, one thread; samplers may share the topology. */
MUST_CHECK enum error_code relation_sampler_draw(struct relation_sampler *sampler,
                                                 const struct relation_request *request,
                                                 struct mini_batch *out, struct error *err);

#endif
