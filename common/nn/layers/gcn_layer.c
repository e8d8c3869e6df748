/*
 * The graph convolution of Kipf and Welling 2017, as PyG's GCNConv has it:
 *
 *   y_i = bias + sum over j in N(i) and i itself of W x_j / sqrt(d_i d_j)
 *
 * d is the in-degree in the whole graph without self loops, plus one: edges from a node to itself are
 * replaced by exactly one. When a row has fewer neighbours than its degree it was sampled, and the
 * neighbours' part is scaled by degree / neighbours: an unbiased estimate of the whole sum.
 *
 * With edge values w, as PyG's gcn_norm has it:   y_i = bias + sum over j of w_ij W x_j / sqrt(d_i d_j)
 *
 * where d is the sum of the values of a node's edges, an edge of the node to itself among them, and w_ii is that
 * one's value; both are 1 where there is none. A row that was sampled without that edge takes w_ii for 1.
 *
 * The projection and the aggregation commute. Aggregation moves rows about, so it is done at the smaller width.
 */
#include "common/nn/layers/layer.h"

#include <math.h>

/* The bias starts at zero. */
static int parameters(const struct model_layer *layer, struct layer_parameter *out)
{
    const uint32_t rows = layer->output_dim, cols = layer->input_dim;
    out[0] = (struct layer_parameter){.suffix = "lin.weight",
                                      .dgl = "weight",
                                      .dgl_transposes = true,
                                      .dim_count = 2,
                                      .rows = rows,
                                      .cols = cols,
                                      .bound = layer_glorot_bound(cols, rows)};
    out[1] = (struct layer_parameter){
        .suffix = "bias", .dgl = "bias", .dim_count = 1, .rows = rows, .cols = 1};
    return 2;
}

static bool projects_first(uint32_t input_dim, uint32_t output_dim)
{
    return input_dim > output_dim;
}

static uint32_t neighbors_of(const struct message_block *block, uint32_t i)
{
    uint32_t count = 0;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        count += block->neighbor[e] != i;
    return count;
}

/* PyG's gcn_norm: a sum that is not positive has no root, and the node sends and hears nothing. */
static float inverse_root(float sum)
{
    return sum > 0 ? 1 / sqrtf(sum) : 0;
}

/* The value of the edge of i to itself: of several the last one's. */
static float loop_value(const struct message_block *block, uint32_t i)
{
    float value = 1;
    for (uint32_t e = block->row_start[i]; e < block->row_start[i + 1]; e++)
        if (block->neighbor[e] == i)
            value = block->edge_value[e];
    return value;
}

static void weigh_valued_nodes(const struct message_block *block, float *source_scale,
                               float *self_scale)
{
    must(block->value_sum);
    for (uint32_t j = 0; j < block->source_count; j++)
        source_scale[j] = inverse_root(block->value_sum[j]);
    for (uint32_t i = 0; i < block->destination_count; i++)
        self_scale[i] = source_scale[i] * loop_value(block, i) * source_scale[i];
}

static void weigh_plain_nodes(const struct message_block *block, float *source_scale,
                              float *self_scale)
{
    for (uint32_t j = 0; j < block->source_count; j++)
        source_scale[j] = 1 / sqrtf((float)block->degree[j] + 1);
    for (uint32_t i = 0; i < block->destination_count; i++)
        self_scale[i] = 1 / ((float)block->degree[i] + 1);
}

static void weigh_nodes(const struct message_block *block, float *destination_scale,
                        float *source_scale, float *self_scale)
{
    must(block->degree);
    if (block->edge_value)
        weigh_valued_nodes(block, source_scale, self_scale);
    else
        weigh_plain_nodes(block, source_scale, self_scale);
    for (uint32_t i = 0; i < block->destination_count; i++) {
        const uint32_t found = neighbors_of(block, i);
        const bool sampled = found > 0 && found < block->degree[i];
        destination_scale[i] =
            sampled ? source_scale[i] * ((float)block->degree[i] / (float)found) : source_scale[i];
    }
}

static enum error_code weigh(const struct model_layer *layer, const struct message_block *block,
                             struct arena *arena, struct aggregation *out, struct error *err)
{
    (void)layer;
    static const char what[] = "the weights of edges";
    float *destination_scale = NULL, *source_scale = NULL, *self_scale = NULL;
    enum error_code rc = arena_new(arena, &destination_scale, block->destination_count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &source_scale, block->source_count, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &self_scale, block->destination_count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!arena->counts)
        weigh_nodes(block, destination_scale, source_scale, self_scale);
    *out = (struct aggregation){.destination_count = block->destination_count,
                                .destination_scale = destination_scale,
                                .source_scale = source_scale,
                                .edge_value = block->edge_value,
                                .self_scale = self_scale,
                                .skip_self_loops = true};
    return ERROR_NONE;
}

static const char dgl_note[] =
    "DGL's GraphConv is not GCN as it stands: it adds no loops and goes by out-degrees. "
    "These lines give the\n"
    "answers of this model on any graph, directed or not:\n"
    "    g = dgl.add_self_loop(dgl.remove_self_loop(g))\n"
    "    u, v = g.edges()\n"
    "    d = g.in_degrees().float()\n"
    "    w = 1 / torch.sqrt(d[u] * d[v])\n"
    "    GraphConv(..., norm=\"none\")      # each layer, called as layer(g, x, "
    "edge_weight=w)\n"
    "On an undirected graph the first line alone, with GraphConv's own norm=\"both\", gives "
    "the same.\n";

const struct layer_type gcn_layer = {
    .pyg_name = "GCN",
    .uses_edges = true,
    .dgl_note = dgl_note,
    .needs_degree = true,
    .parameters = parameters,
    .projects_first = projects_first,
    .weigh = weigh,
};
