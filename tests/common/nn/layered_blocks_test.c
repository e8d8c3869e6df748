/*
 * Layers of a layered mini-batch: the rows of a block begin somewhere in arrays that all layers
 * share. Every kind of layer gives the same bits, forward and backward, as for the same rows in
 * arrays of their own.
 */
#include "common/nn/layers/layer.h"

#include "tests/common/nn/model_run.h"

enum { HOPS = 3, EDGES_MAX = 2000, FEATURES = 3 };

/* The rows of all blocks, one after the other, the last layer's first. The factor of every third
 * edge is not 1. */
struct shared {
    uint32_t row_start[EDGES_MAX], neighbor[HOPS * EDGES_MAX];
    float value[HOPS * EDGES_MAX], factor[HOPS * EDGES_MAX], feature[HOPS * EDGES_MAX][FEATURES];
    float own_factor[EDGES_MAX];
    struct message_block block[HOPS];
};

static float factor_of(uint32_t edge)
{
    return edge % 3 ? 1 : 0.5F + (float)(edge % 7);
}

static void share(struct run *run, struct shared *s, bool has_factors)
{
    uint32_t rows = 0, edges = 5; /* the rows and edges before these belong to no block */
    for (int hop = HOPS - 1; hop >= 0; hop--) {
        struct message_block *own = &run->blocks.block[hop];
        struct message_block *block = &s->block[hop];
        const uint32_t count = own->row_start[own->destination_count];
        must(own->row_start[0] == 0 && count < EDGES_MAX);
        for (uint32_t e = 0; e < count; e++) {
            s->own_factor[e] = factor_of(e);
            s->factor[edges + e] = factor_of(e);
            s->neighbor[edges + e] = own->neighbor[e];
            if (own->edge_value)
                s->value[edges + e] = own->edge_value[e];
            for (int k = 0; own->edge_feature && k < FEATURES; k++)
                s->feature[edges + e][k] = own->edge_feature[e * FEATURES + (uint32_t)k];
        }
        *block = *own;
        block->row_start = s->row_start + rows;
        block->neighbor = s->neighbor;
        block->edge_value = own->edge_value ? s->value : NULL;
        block->edge_feature = own->edge_feature ? &s->feature[0][0] : NULL;
        block->edge_factor = has_factors ? s->factor : NULL;
        own->edge_factor = has_factors ? s->own_factor : NULL;
        for (uint32_t i = 0; i <= own->destination_count; i++)
            s->row_start[rows + i] = edges + own->row_start[i];
        rows += own->destination_count;
        edges += count;
    }
}

/* SGC must be the last layer of a model, and a model of propagate layers alone would have nothing
 * to train. */
static enum layer_kind kind_at(enum layer_kind kind, int layer)
{
    const bool is_other =
        (kind == LAYER_SGC && layer < HOPS - 1) || (kind == LAYER_PROPAGATE && layer == 0);
    return is_other ? LAYER_GCN : kind;
}

static void check(enum layer_kind kind, bool has_values, bool has_factors)
{
    static struct shared s;
    const struct sizes sizes = {HOPS, {5, 20, 60, 150}, 6, 6, 6, 1};
    struct model_config config = {.input_dim = sizes.input, .layer_count = HOPS};
    struct run run;
    for (int i = 0; i < HOPS; i++)
        config.layer[i] = (struct layer_config){
            .kind = kind_at(kind, i),
            .output_dim = sizes.output,
            .option = {.heads = 2, .aggr = LAYER_AGGR_AUTO, .train_eps = true, .alpha = 0.3},
            .activation = i < HOPS - 1 ? ACTIVATION_RELU : ACTIVATION_NONE};
    config.edge_dim = layer_type_of(kind)->reads_edges >> EDGE_FEATURE & 1 ? FEATURES : 0;
    run_start_config(&run, &config, &sizes);
    if (has_values)
        block_fixture_value_edges(&run.blocks, HOPS, 3);
    if (config.edge_dim)
        block_fixture_describe_edges(&run.blocks, HOPS, FEATURES, 4);
    share(&run, &s, has_factors);
    run_both(&run, NULL, NULL);
    float *logits = memory_alloc(run.logit_count, sizeof *logits);
    float *gradient = memory_alloc(run.model.value_count, sizeof *gradient);
    memcpy(logits, run.logits, run.logit_count * sizeof *logits);
    memcpy(gradient, run.gradient, run.model.value_count * sizeof *gradient);
    memcpy(run.blocks.block, s.block, sizeof s.block);
    run_both(&run, NULL, NULL);
    assert_memory_equal(run.logits, logits, run.logit_count * sizeof *logits);
    assert_memory_equal(run.gradient, gradient, run.model.value_count * sizeof *gradient);
    memory_free(logits);
    memory_free(gradient);
    run_end(&run);
}

static void rows_may_begin_anywhere(void **state)
{
    (void)state;
    for (enum layer_kind kind = 0; kind < LAYER_KIND_COUNT; kind++)
        if (layer_type_of(kind)->uses_edges && !layer_type_of(kind)->reads_start &&
            !layer_type_of(kind)->only_typed)
            for (int with = 0; with < 4; with++)
                check(kind, with & 1, with & 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_may_begin_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
