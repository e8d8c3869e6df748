/*
 * graphsaint_walk_sampler - draws random walks and takes the subgraph of the nodes that they visit
 * (GraphSAINT's random walk sampler).
 *
 * The roots are the mini-batch's share of the shuffled training nodes, so each training node is a
 * root once an epoch. The authors' program takes roots from the training nodes, too. A walk of
 * sample.walk_length steps begins at each root and goes along the edges of any relation or of
 * those of sample.metapath (random_walk.h). The subgraph has all edges of all relations among the
 * visited nodes. Its normalisation (graphsaint.h) divides by counts (walk_norm.h); a count of 0 is
 * taken as 1.
 */
#include "stages/sampling/rows/random_walk.h"
#include "stages/sampling/samplers/sampler.h"
#include "stages/sampling/samplers/subgraph.h"
#include "stages/sampling/samplers/walk_norm.h"

static float by(double a, uint32_t b)
{
    return (float)(a / (b ? b : 1));
}

/* Sets the factors of the edges of row number `i` of a relation. The row has the induced edges of
 * the topology's row, in the same order. */
static enum error_code weigh_row(struct batch_builder *b, const struct walk_norm *norm,
                                 uint32_t relation, uint32_t i, struct error *err)
{
    const struct relation_rows *rows = &b->lists->relation[relation];
    const uint32_t target = sampled_lists_target(b->lists, rows, i), in = norm->node[target];
    const uint32_t end = sampled_lists_begin(b->lists, rows, i + 1);
    float *factor = (float *)(void *)rows->factor.data;
    uint32_t e = sampled_lists_begin(b->lists, rows, i);
    struct graph_row row;
    enum error_code rc = graph_row_of_relation(b->topology, relation, target, &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && e < end; k++) {
        uint32_t node = 0;
        rc = graph_row_neighbor(b->topology, &row, k, &node, err);
        if (rc == ERROR_NONE && known_nodes_has(b->known, node))
            factor[e++] =
                by(in ? in : 1, norm->edge[norm->first_edge[row.part_number] + row.start + k]);
    }
    return rc;
}

static enum error_code weigh(struct batch_builder *b, const struct walk_norm *norm, uint32_t seeds,
                             struct error *err)
{
    const uint32_t *seed = b->lists->node[b->target_type].data;
    float *weight = NULL;
    enum error_code rc = batch_builder_weigh_seeds(b, seeds, &weight, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < seeds; i++)
        weight[i] = by(norm->mean, norm->node[seed[i]]);
    for (uint32_t r = 0; rc == ERROR_NONE && r < b->lists->relation_count; r++)
        for (uint32_t i = 0; rc == ERROR_NONE && i < b->lists->relation[r].row_count; i++)
            rc = weigh_row(b, norm, r, i, err);
    return rc;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    const struct random_stream stream =
        random_stream_of(request->seed, RANDOM_WALK, request->round, 0, request->slot);
    struct batch_builder *b = NULL;
    uint32_t seeds = 0;
    enum error_code rc = neighbor_sampler_builder(sampler, &b, err);
    if (rc == ERROR_NONE)
        rc = batch_builder_begin(b, request, err);
    if (rc == ERROR_NONE)
        rc = walk_norm_enter(b, request->options, &stream, request->seed_node, request->seed_count,
                             err);
    if (rc == ERROR_NONE)
        rc = subgraph_order(b, request, &seeds, err);
    must(rc != ERROR_NONE || seeds > 0);
    if (rc != ERROR_NONE)
        return rc;
    b->has_factors = request->graph.walk_norm != NULL;
    rc = batch_builder_induce(b, err);
    if (rc == ERROR_NONE && request->graph.walk_norm)
        rc = weigh(b, request->graph.walk_norm, seeds, err);
    return rc == ERROR_NONE ? batch_builder_finish(b, request, BATCH_SUBGRAPH, out, err) : rc;
}

static bool counts_walks(const struct sampler_options *options)
{
    return options->sample_coverage > 0;
}

/* Checks that consecutive relations of the metapath join. */
static enum error_code check_relations(const struct sampler_options *options,
                                       const struct partition_book *book, struct error *err)
{
    struct metapath metapath;
    return metapath_read(options, book, &metapath, err);
}

static double most_nodes(const struct subgraph_limits *limits)
{
    return limits->seeds * (1 + (double)limits->options->walk_length);
}

const struct sampler graphsaint_walk_row = {.name = "graphsaint_walk",
                                            .form = BATCH_SUBGRAPH,
                                            .has_factors = true,
                                            .knows_training = true,
                                            .counts_walks = counts_walks,
                                            .most_nodes = most_nodes,
                                            .check_relations = check_relations,
                                            .advice_without_counts =
                                                "set sample.sample_coverage to 0",
                                            .draw = draw};
