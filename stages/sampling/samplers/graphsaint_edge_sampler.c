/*
 * graphsaint_edge_sampler - draws edges with replacement and takes the subgraph of their ends
 * (GraphSAINT's edge sampler).
 *
 * The paper draws the edge between u and v with a chance in proportion to 1 / d_u + 1 / d_v. The
 * same chance results from drawing a row with edges uniformly and then one of its edges uniformly,
 * because an undirected edge is in the rows of both its ends. In a directed graph the chance is 1
 * / d_v, where v is the end that the edge goes to. A node has a row in each relation that ends in
 * its type, so the row of a relation with few edges is drawn as often as that of a relation with
 * many. sample.batch_size edges are drawn; the subgraph has all edges among their ends. See
 * graphsaint.h.
 */
#include "stages/sampling/samplers/graphsaint.h"
#include "stages/sampling/samplers/sampler.h"

/* Returns what a row adds to the chance of its own node. A node is drawn if its own row is drawn,
 * or if a row that contains it is drawn and then its edge. The sums are divided by the number of
 * rows with edges (is_share). */
static double itself(uint32_t length)
{
    return length > 0;
}

static double by_row(uint32_t destination_length, uint32_t source_length)
{
    (void)source_length;
    return 1 / (double)destination_length;
}

static const struct chance_rule rule = {.of_row = itself, .of_edge = by_row, .is_share = true};

static enum error_code draw_edge(struct batch_builder *b, const struct neighbor_request *request,
                                 const struct random_stream *stream, uint32_t draw,
                                 struct error *err)
{
    struct graph_row row = {0};
    uint32_t word[4], node = 0, source = 0, local = 0, block = 0;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && row.length == 0) { /* init found a row with edges */
        random_block(stream, draw, block++ % (1U << 24), word);
        const uint32_t relation = random_below(word[2], b->lists->relation_count);
        node = random_below(word[0], b->topology->node_count);
        if (graph_row_is_there(b->topology, relation, node))
            rc = graph_row_of_relation(b->topology, relation, node, &row, err);
    }
    (void)request;
    if (rc == ERROR_NONE)
        rc = graph_row_neighbor(b->topology, &row, random_below(word[1], row.length), &source, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_enter(b, node, &local, err);
    return rc == ERROR_NONE ? batch_builder_enter(b, source, &local, err) : rc;
}

/* Adds the chances that a row of `node` and, within it, an edge from `source` are drawn. */
static enum error_code add_rows(const struct topology *topology, uint32_t node, uint32_t source,
                                double *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(topology); r++) {
        struct graph_row row = {0};
        if (graph_row_is_there(topology, r, node))
            rc = graph_row_of_relation(topology, r, node, &row, err);
        if (rc == ERROR_NONE && row.length)
            *out += (double)graph_row_count(&row, source) / row.length;
    }
    return rc;
}

/* Computes the chance that one draw takes both u and v: a row of u and in it an edge from v, or the
 * other way round. */
static enum error_code both(const struct neighbor_request *request, const struct topology *topology,
                            uint32_t u, uint32_t v, double *out, struct error *err)
{
    *out = 0;
    enum error_code rc = add_rows(topology, u, v, out, err);
    if (rc == ERROR_NONE)
        rc = add_rows(topology, v, u, out, err);
    *out /= request->graph.chances->rows_with_edges;
    return rc;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    return graphsaint_batch(sampler, request, draw_edge, both, out, err);
}

static double most_nodes(const struct subgraph_limits *limits)
{
    return 2 * limits->draws;
}

const struct sampler graphsaint_edge_row = {.name = "graphsaint_edge",
                                            .form = BATCH_SUBGRAPH,
                                            .unit = SAMPLER_OF_DRAWS,
                                            .has_factors = true,
                                            .knows_training = true,
                                            .chances = &rule,
                                            .most_nodes = most_nodes,
                                            .advice_on_seeds = "a larger sample.batch_size",
                                            .draw = draw};
