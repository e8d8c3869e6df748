/*
 * fastgcn_sampler - for each layer some nodes of the whole graph, by importance (Chen, Ma and Xiao, "FastGCN", ICLR 2018).
 *
 * fanouts[h] nodes are drawn, with replacement, by the paper's chances: of node u the squared norm of its column in GCN's
 * matrix, q_u = sum over v of A_vu^2 / sum of all, where A_vu = 1 / sqrt((d_v + 1)(d_u + 1)). They are those of every layer
 * and batch. An edge from a node that was drawn k times of n stands for k / (n q_u) edges: sums over edges are unbiased.
 * A node's own row, which is in every layer, is not drawn: it always counts once.
 */
#include "stages/sampling/layer_rows.h"
#include "stages/sampling/node_chances.h"
#include "stages/sampling/sampler.h"

static double squared_entry(uint32_t destination_length, uint32_t source_length)
{
    return 1 / (((double)destination_length + 1) * ((double)source_length + 1));
}

static const struct chance_rule rule = {.of_edge = squared_entry, .wants_source = true};

/* A number for each node that is drawn, and its factor. */
static enum error_code draw_nodes(struct batch_builder *b, const struct neighbor_request *request,
                                  int hop, uint32_t count, struct layer_choice *choice,
                                  struct error *err)
{
    const struct random_stream stream = random_stream_of(
        request->seed, RANDOM_SUBGRAPH, request->round, (uint32_t)hop, request->slot);
    void *data = NULL;
    enum error_code rc = batch_builder_scratch(b, 0, count, 1, 0, &data, err);
    float *factor = data;
    uint32_t drawn = 0;
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const uint32_t node = node_chances_draw(request->graph.chances, &stream, i);
        const float share = (float)(1 / (count * request->graph.chances->chance[node]));
        const uint32_t number = pair_table_find(&b->pairs, layer_rows_key(0, hop), node);
        if (number != PAIR_TABLE_NONE) {
            factor[number] += share;
            continue;
        }
        factor[drawn] = share;
        rc = pair_table_add(&b->pairs, b->budget, layer_rows_key(0, hop), node, drawn++, err);
    }
    choice->factor = factor;
    return rc;
}

static enum error_code draw(struct neighbor_sampler *sampler,
                            const struct neighbor_request *request, struct mini_batch *out,
                            struct error *err)
{
    struct batch_builder *b = NULL;
    must(request->graph.chances);
    enum error_code rc = neighbor_sampler_builder(sampler, &b, err);
    if (rc == ERROR_NONE)
        rc = layer_rows_begin(b, request, err);
    for (int hop = 0; rc == ERROR_NONE && hop < request->hop_count; hop++) {
        const int64_t fanout = request->fanout[hop];
        struct layer_choice choice = {.takes_all = fanout == FANOUT_ALL};
        if (!choice.takes_all)
            rc = draw_nodes(b, request, hop, (uint32_t)fanout, &choice, err);
        if (rc == ERROR_NONE)
            rc = layer_rows_add(b, 0, hop, &choice, err);
        batch_builder_end_hop(b, hop + 1);
    }
    return rc == ERROR_NONE ? batch_builder_finish(b, request, BATCH_LAYERED, out, err) : rc;
}

const struct sampler fastgcn_row = {
    .name = "fastgcn", .form = BATCH_LAYERED, .has_factors = true, .chances = &rule, .draw = draw};
