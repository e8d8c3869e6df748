/*
 * graphsaint_node_sampler - draws nodes one by one with replacement and takes their subgraph
 * (GraphSAINT's node sampler).
 *
 * The chance of node u is the share of the edges of all relations that begin at u: in an
 * undirected graph, its degree. The authors' program and PyG's GraphSAINTNodeSampler use these
 * chances, too. The paper's text has another chance, the squared norm of u's column in the matrix
 * of means, the sum over v of (1 / d_v)^2. It hardly ever draws the neighbour of a hub, whose loss
 * then counts thousands of times. With Cora's 140 training nodes and 1,400 draws, the sum of
 * weighted losses has a variance of 1.35 times its square with the paper's chance, and of 0.017
 * times with degrees. sample.batch_size nodes are drawn; the subgraph has all edges among them.
 * See graphsaint.h.
 */
#include "stages/sampling/samplers/graphsaint.h"
#include "stages/sampling/samplers/sampler.h"

static double one(uint32_t destination_length, uint32_t source_length)
{
    (void)destination_length, (void)source_length;
    return 1;
}

static const struct chance_rule rule = {.of_edge = one, .loops_count = true};

static enum error_code draw_node(struct batch_builder *b, const struct neighbor_request *request,
                                 const struct random_stream *stream, uint32_t draw,
                                 struct error *err)
{
    uint32_t local = 0;
    return batch_builder_enter(b, node_chances_draw(request->graph.chances, stream, draw), &local,
                               err);
}

/* Sets the chance that one draw takes both nodes to 0, since a draw takes one node. */
static enum error_code both(const struct neighbor_request *request, const struct topology *topology,
                            uint32_t u, uint32_t v, double *out, struct error *err)
{
    (void)request, (void)topology, (void)u, (void)v, (void)err;
    *out = 0;
    return ERROR_NONE;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    return graphsaint_batch(sampler, request, draw_node, both, out, err);
}

static double most_nodes(const struct subgraph_limits *limits)
{
    return limits->draws;
}

const struct sampler graphsaint_node_row = {.name = "graphsaint_node",
                                            .form = BATCH_SUBGRAPH,
                                            .unit = SAMPLER_OF_DRAWS,
                                            .has_factors = true,
                                            .knows_training = true,
                                            .chances = &rule,
                                            .most_nodes = most_nodes,
                                            .advice_on_seeds = "a larger sample.batch_size",
                                            .draw = draw};
