/*
 * fastgcn_sampler - draws for each layer some nodes of the whole graph, by importance (Chen, Ma
 * and Xiao, "FastGCN", ICLR 2018).
 *
 * fanouts[h] nodes are drawn in each relation, with replacement. The chance of node u is the
 * paper's: the squared norm of its column in GCN's matrix, q_u = sum over v of A_vu^2 / sum of
 * all, where A_vu = 1 / sqrt((d_v + 1)(d_u + 1)). All layers and batches use the same chances. An
 * edge from a node that was drawn k times of n stands for k / (n q_u) edges, so sums over edges
 * are unbiased. A node's own row, which is in every layer, is not drawn: it always counts once.
 */
#include "stages/sampling/rows/node_chances.h"
#include "stages/sampling/samplers/layer_rows.h"
#include "stages/sampling/samplers/sampler.h"

static double squared_entry(uint32_t destination_length, uint32_t source_length)
{
    return 1 / (((double)destination_length + 1) * ((double)source_length + 1));
}

static const struct chance_rule rule = {
    .of_edge = squared_entry, .wants_source = true, .by_relation = true};

/* Draws nodes, numbers each distinct one and computes its factor. A relation without edges draws
 * none. */
static enum error_code choose(struct batch_builder *b, const struct neighbor_request *request,
                              uint32_t relation, int hop, uint32_t draws,
                              const struct random_stream *stream, struct layer_choice *choice,
                              struct error *err)
{
    const struct node_chances *chances = &request->graph.chances[relation];
    const uint32_t key = layer_rows_key(relation, hop);
    void *data = NULL;
    enum error_code rc = batch_builder_scratch(b, 0, draws, 1, 0, &data, err);
    float *factor = data;
    uint32_t drawn = 0;
    for (uint32_t i = 0; rc == ERROR_NONE && chances->node_count > 0 && i < draws; i++) {
        const uint32_t place = node_chances_draw(chances, stream, i);
        const float share = (float)(1 / (draws * chances->chance[place]));
        const uint32_t number = pair_table_find(&b->pairs, key, chances->node[place]);
        if (number != PAIR_TABLE_NONE) {
            factor[number] += share;
            continue;
        }
        factor[drawn] = share;
        rc = pair_table_add(&b->pairs, b->budget, key, chances->node[place], drawn++, err);
    }
    choice->factor = factor;
    return rc;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    must(request->graph.chances);
    return layer_rows_batch(sampler, request, choose, out, err);
}

const struct sampler fastgcn_row = {
    .name = "fastgcn", .form = BATCH_LAYERED, .has_factors = true, .chances = &rule, .draw = draw};
