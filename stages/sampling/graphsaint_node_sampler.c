/*
 * graphsaint_node_sampler - the subgraph of nodes that are drawn one by one, with replacement (GraphSAINT's node sampler).
 *
 * The chance of node u is the paper's: the squared norm of its column in the matrix of means, c_u = sum over v of (1 / d_v)^2 by
 * the sum of all. sample.batch_size nodes are drawn; the subgraph has all edges among them. See graphsaint.h.
 */
#include "stages/sampling/graphsaint.h"
#include "stages/sampling/sampler.h"

static double squared_entry(uint32_t destination_length, uint32_t source_length)
{
    const double entry = 1 / (double)destination_length;
    (void)source_length;
    return entry * entry;
}

static const struct chance_rule rule = {.of_edge = squared_entry, .loops_count = true};

static enum error_code draw_node(struct batch_builder *b, const struct neighbor_request *request,
                                 const struct random_stream *stream, uint32_t draw,
                                 struct error *err)
{
    uint32_t local = 0;
    return batch_builder_enter(b, node_chances_draw(request->chances, stream, draw), &local, err);
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

const struct sampler graphsaint_node_row = {.name = "graphsaint_node",
                                            .form = BATCH_SUBGRAPH,
                                            .unit = SAMPLER_OF_DRAWS,
                                            .has_factors = true,
                                            .chances = &rule,
                                            .draw = draw};
