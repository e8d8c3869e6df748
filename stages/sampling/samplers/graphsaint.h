/*
 * graphsaint - what GraphSAINT's samplers share (Zeng et al., "GraphSAINT: Graph Sampling Based
 * Inductive Learning Method", ICLR 2020): the subgraph of the nodes that were drawn, and its
 * normalisation.
 *
 * With p_v the chance of a node to be in a batch and p_uv that of both ends of an edge, in the
 * subgraph an edge from u to v stands for p_v / p_uv edges, so that sums over the edges of a node
 * that is there are unbiased; and the loss of a seed v counts m / p_v, where m is the mean of p
 * over the training nodes: the sum of a batch, by the number of seeds to be expected, is an
 * unbiased estimate of the mean over all training nodes. Where draws are independent both chances
 * have a closed form:
 *
 *   p_v = 1 - (1 - c_v)^n        p_uv = 1 - (1 - c_u)^n - (1 - c_v)^n + (1 - c_u - c_v + c_uv)^n
 *
 * with n draws, of which one has v by chance c_v (node_chances.h), and both u and v by chance c_uv.
 * Nodes are of any type, and an edge of any relation stands for as many as another with the same
 * ends: all edges among the nodes are in the subgraph. The nodes that train are of one type.
 *
 * A batch without any training node is drawn again, which the chances leave out of account.
 */
#ifndef STAGES_SAMPLING_SAMPLERS_GRAPHSAINT_H
#define STAGES_SAMPLING_SAMPLERS_GRAPHSAINT_H

#include "stages/sampling/rows/batch_builder.h"
#include "stages/sampling/rows/neighbor_sampler.h"
#include "stages/sampling/rows/node_chances.h"

/* c_uv. Fails as graph_row_of_relation(). */
typedef enum error_code (*chance_of_both)(const struct neighbor_request *request,
                                          const struct topology *topology, uint32_t u, uint32_t v,
                                          double *out, struct error *err);
/* Enters the nodes of draw `draw` of those of a stream. */
typedef enum error_code (*graphsaint_draw)(struct batch_builder *builder,
                                           const struct neighbor_request *request,
                                           const struct random_stream *stream, uint32_t draw,
                                           struct error *err);

/* A batch of request->draw_count draws. It is drawn again while it has no training node; after 100
 * times it is one that teaches nothing
 * (subgraph_stand_in()). */
MUST_CHECK enum error_code graphsaint_batch(struct neighbor_sampler *sampler,
                                            const struct neighbor_request *request,
                                            graphsaint_draw draw, chance_of_both both,
                                            struct mini_batch *out, struct error *err);
/* The mean of p_v over `node` [count], of so many draws. */
double graphsaint_mean(const struct node_chances *chances, uint32_t draws, const uint32_t *node,
                       uint32_t count);

#endif
