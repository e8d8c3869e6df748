/*
 * graphsaint_node_sampler - the subgraph of nodes that are drawn one by one, with replacement
 * (GraphSAINT's node sampler).
 *
 * The chance of node u is its share of all edges of all relations, by the source: its degree in an
 * undirected graph. That is what the authors' program and PyG's GraphSAINTNodeSampler draw by. The
 * paper's text has the squared norm of its column in the matrix of means, the sum over v of (1 /
 * d_v)^2, by which the neighbour of a hub is hardly ever drawn, and then its loss counts thousands
 * of times: of Cora's 140 training nodes, 1,400 draws, the sum of weighted losses has a variance of
 * 1.35 times its square, by degrees one of 0.017. sample.batch_size nodes are drawn; the subgraph
 * has all edges among them. See graphsaint.h.
 */
#include "stages/sampling/graphsaint.h"
#include "stages/sampling/sampler.h"

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

/* A draw is of one node. */
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
