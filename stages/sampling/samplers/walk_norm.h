/*
 * walk_norm - GraphSAINT's normalisation for subgraphs of walks: counts in how many drawn
 * subgraphs each node and each edge is.
 *
 * The chances of walks have no closed form, so the paper counts: C_v subgraphs have node v, C_uv
 * both ends of an edge, and p_v / p_uv is C_v / C_uv. Subgraphs are drawn until they have
 * `coverage` times as many nodes as the graph (PyG's sample_coverage), from a stream of their own
 * that depends only on the run's seed. They are drawn once for a run, and the counts are stored
 * (store/records/batch/walk_counts.h).
 */
#ifndef STAGES_SAMPLING_SAMPLERS_WALK_NORM_H
#define STAGES_SAMPLING_SAMPLERS_WALK_NORM_H

#include "common/base/error.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "store/records/batch/walk_counts.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct drawn_walks { /* the counts; {0} is empty */
    uint64_t drawn;  /* number of subgraphs */
    uint32_t *node;  /* [nodes] */
    uint32_t *edge;  /* [edges], in the order of the topology */
};

struct walk_norm {        /* {0} is empty */
    const uint32_t *node; /* borrowed */
    const uint32_t *edge; /* borrowed */
    uint64_t *first_edge; /* [parts, relations] */
    double mean;          /* of the counts of training nodes */
};

struct walk_draw_config {
    struct neighbor_sampler *sampler;
    const struct neighbor_request *request; /* seed, options */
    const uint32_t *train;                  /* [train_count] */
    uint32_t train_count, roots;            /* `roots`: walks in a subgraph */
};

/* Returns how many bytes the counts take. */
uint64_t walk_norm_bytes(const struct topology *topology);
/* Draws subgraphs and counts their nodes and edges. Owns: *out; drawn_walks_release(). Fails:
 * ERROR_NO_MEMORY; ERROR_CORRUPT naming a row. */
MUST_CHECK enum error_code drawn_walks_count(struct drawn_walks *out,
                                             const struct topology *topology,
                                             const struct walk_draw_config *config,
                                             struct error *err);
void drawn_walks_release(struct drawn_walks *walks);

/* Prepares the normalisation from counts, whose arrays it borrows; train [train_count]. Fails:
 * ERROR_CORRUPT for counts of another graph; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code walk_norm_init(struct walk_norm *out, const struct walk_counts *counts,
                                          const struct topology *topology, const uint32_t *train,
                                          uint32_t train_count, struct error *err);
void walk_norm_release(struct walk_norm *norm);

/* Enters the nodes that walks visit, as the options say: walk number i starts at root i of [count].
 * Fails as random_walk_draw() and metapath_read(). */
struct batch_builder;
MUST_CHECK enum error_code walk_norm_enter(struct batch_builder *builder,
                                           const struct sampler_options *options,
                                           const struct random_stream *stream, const uint32_t *root,
                                           uint32_t count, struct error *err);

#endif
