#include "stages/sampling/samplers/graphsaint.h"

#include "stages/sampling/samplers/subgraph.h"

#include <inttypes.h>

enum { ATTEMPTS = 100 };

static double chance_of_node(const struct neighbor_request *request, uint32_t node)
{
    return 1 - chance_of_none(request->graph.chances->chance[node], request->draw_count);
}

double graphsaint_mean(const struct node_chances *chances, uint32_t draws, const uint32_t *node,
                       uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += 1 - chance_of_none(chances->chance[node[i]], draws);
    return count ? sum / count : 0;
}

static enum error_code weigh_edge(const struct neighbor_request *request,
                                  const struct batch_builder *b, uint32_t u, uint32_t v,
                                  chance_of_both both, float *out, struct error *err)
{
    const double *chance = request->graph.chances->chance;
    const uint32_t n = request->draw_count;
    const double of_v = chance_of_node(request, v);
    double c_uv = 0;
    const enum error_code rc = u == v ? ERROR_NONE : both(request, b->topology, u, v, &c_uv, err);
    const double of_both =
        chance_of_none(chance[u] + chance[v] - c_uv, n) - chance_of_none(chance[u], n) + of_v;
    /* An edge that was drawn has a chance above 0. If the difference is 0, rounding lost it, and
     * its size is about n^2 c_u c_v. */
    const double least = (double)n * (double)n * chance[u] * chance[v] / 2;
    *out = u == v ? 1 : (float)(of_v / (of_both > 1e-12 ? of_both : least));
    return rc;
}

static enum error_code weigh_relation(struct batch_builder *b,
                                      const struct neighbor_request *request, uint32_t relation,
                                      chance_of_both both, struct error *err)
{
    const struct relation_rows *rows = &b->lists->relation[relation];
    const uint32_t *source = b->lists->node[rows->source].data;
    float *factor = (float *)(void *)rows->factor.data;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0, e = 0; rc == ERROR_NONE && i < rows->row_count; i++) {
        const uint32_t target = sampled_lists_target(b->lists, rows, i);
        for (; rc == ERROR_NONE && e < sampled_lists_begin(b->lists, rows, i + 1); e++)
            rc = weigh_edge(request, b, source[rows->neighbor.data[e]], target, both, &factor[e],
                            err);
    }
    return rc;
}

static enum error_code weigh(struct batch_builder *b, const struct neighbor_request *request,
                             uint32_t seeds, chance_of_both both, struct error *err)
{
    const uint32_t *node = b->lists->node[b->target_type].data;
    float *weight = NULL;
    enum error_code rc = batch_builder_weigh_seeds(b, seeds, &weight, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < seeds; i++)
        weight[i] = (float)(request->graph.chances->mean / chance_of_node(request, node[i]));
    for (uint32_t r = 0; rc == ERROR_NONE && r < b->lists->relation_count; r++)
        rc = weigh_relation(b, request, r, both, err);
    return rc;
}

enum error_code graphsaint_batch(struct neighbor_sampler *sampler,
                                 const struct neighbor_request *request, graphsaint_draw draw,
                                 chance_of_both both, struct mini_batch *out, struct error *err)
{
    struct batch_builder *b = NULL;
    uint32_t seeds = 0;
    enum error_code rc = neighbor_sampler_builder(sampler, &b, err);
    must(request->graph.chances && request->graph.is_training);
    for (uint32_t attempt = 0; rc == ERROR_NONE && seeds == 0 && attempt < ATTEMPTS; attempt++) {
        const struct random_stream stream = random_stream_of(
            request->seed, RANDOM_SUBGRAPH, request->round, attempt, request->slot);
        rc = batch_builder_begin(b, request, err);
        for (uint32_t i = 0; rc == ERROR_NONE && i < request->draw_count; i++)
            rc = draw(b, request, &stream, i, err);
        if (rc == ERROR_NONE)
            rc = subgraph_order(b, request, &seeds, err);
    }
    b->has_factors = true;
    if (rc == ERROR_NONE)
        rc = batch_builder_induce(b, err);
    if (rc == ERROR_NONE)
        rc = weigh(b, request, seeds, both, err);
    if (rc == ERROR_NONE && seeds == 0)
        rc = subgraph_stand_in(b, request, err);
    return rc == ERROR_NONE ? batch_builder_finish(b, request, BATCH_SUBGRAPH, out, err) : rc;
}
