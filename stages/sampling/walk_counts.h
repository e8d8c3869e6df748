/*
 * walk_counts - how often nodes and edges are in GraphSAINT's subgraphs of walks, found by drawing some beforehand.
 *
 * The chances of walks have no closed form, so the paper counts: C_v subgraphs have node v, C_uv both ends of an edge, and p_v / p_uv
 * is C_v / C_uv. Subgraphs are drawn until they have `coverage` times as many nodes as the graph (PyG's sample_coverage),
 * from a stream of their own: a function of the run's seed, found alike by each process. Takes 4 bytes a node and an edge.
 */
#ifndef STAGES_SAMPLING_WALK_COUNTS_H
#define STAGES_SAMPLING_WALK_COUNTS_H

#include "common/base/error.h"
#include "stages/sampling/neighbor_sampler.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct walk_counts {      /* {0} is empty */
    uint32_t *node;       /* [nodes] */
    uint32_t *edge;       /* [edges], part after part */
    uint64_t *first_edge; /* [parts] */
    double mean;          /* of the counts of training nodes */
};

struct walk_counts_config {
    struct neighbor_sampler *sampler;
    const struct neighbor_request *request; /* seed, walk_length, is_training */
    const uint32_t *train;                  /* [train_count] */
    uint32_t train_count, roots;            /* of a subgraph */
    uint32_t coverage;
};

uint64_t walk_counts_bytes(const struct topology *topology);
/* Fails: ERROR_NO_MEMORY; ERROR_CORRUPT naming a row. */
MUST_CHECK enum error_code walk_counts_init(struct walk_counts *out,
                                            const struct topology *topology,
                                            const struct walk_counts_config *config,
                                            struct error *err);
void walk_counts_release(struct walk_counts *counts);

/* The nodes that walks from `root` [count] come to are entered: walk number i from root i. */
struct batch_builder;
MUST_CHECK enum error_code walk_counts_enter(struct batch_builder *builder,
                                             const struct random_stream *stream,
                                             const uint32_t *root, uint32_t count, uint32_t length,
                                             struct error *err);

#endif
