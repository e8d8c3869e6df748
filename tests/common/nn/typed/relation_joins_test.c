/* The rows of several relations are joined by sum, mean and max, in floats and in bf16. */
#include "common/base/memory.h"
#include "common/math/bf16_product.h"
#include "common/math/bf16_rows.h"
#include "common/nn/layers/layer.h"
#include "common/nn/model.h"

#include "tests/support/test.h"
#include "tests/support/typed_fixture.h"

#include <math.h>
#include <string.h>

enum { HOPS = 2, WIDTH = 24, OUTPUT = 8 };

static const uint32_t counts[HOPS + 1][FIXTURE_TYPES] = {
    {1700, 900, 120}, {1300, 700, 90}, {600, 0, 0}};
static const uint32_t dims[FIXTURE_TYPES] = {20, 20, 20};

struct run {
    struct model model;
    struct typed_fixture blocks;
    struct arena arena;
    void *rounded[FIXTURE_TYPES];
    float *value, *gradient, *logits, *slope;
    size_t logit_count;
};

static struct model_config config_of(enum layer_kind kind, enum relation_aggr aggr,
                                     enum precision precision)
{
    struct model_config config = {.layer_count = HOPS, .precision = precision};
    config.types.schema = fixture_reversed_schema;
    config.types.relation_aggr = aggr;
    memcpy(config.types.input_dim, dims, sizeof dims);
    for (int i = 0; i < HOPS; i++)
        config.layer[i] =
            (struct layer_config){.kind = kind,
                                  .output_dim = i < HOPS - 1 ? WIDTH : OUTPUT,
                                  .activation = i < HOPS - 1 ? ACTIVATION_RELU : ACTIVATION_NONE,
                                  .dropout = 0.25};
    return config;
}

/* Rounds the features of each type, in the order of the nodes. */
static void round_rows(struct run *run)
{
    for (uint32_t t = 0; t < FIXTURE_TYPES; t++) {
        struct input_rows *rows = &run->blocks.rows[t];
        const size_t stride = precision_stride(PRECISION_BF16, dims[t]);
        bf16 *out = memory_alloc(counts[0][t] * stride, sizeof *out);
        for (uint32_t i = 0; i < counts[0][t]; i++)
            bf16_rows_round(out + i * stride,
                            run->blocks.feature[t] + rows->row_index[i] * rows->stride, dims[t], 1);
        *rows = (struct input_rows){.base = out, .stride = stride, .precision = PRECISION_BF16};
        run->rounded[t] = out;
    }
}

static void start(struct run *run, const struct model_config *config)
{
    struct error err = {0};
    *run = (struct run){.logit_count = (size_t)counts[config->layer_count][PAPER] * OUTPUT};
    assert_ok(model_init(&run->model, config, &err), &err);
    typed_fixture_make(&run->blocks, &fixture_reversed_schema, HOPS, counts, dims, 5, false);
    if (config->precision == PRECISION_BF16)
        round_rows(run);
    run->value = memory_alloc(run->model.value_count, sizeof *run->value);
    run->gradient = memory_alloc(run->model.value_count, sizeof *run->gradient);
    run->logits = memory_alloc(run->logit_count, sizeof *run->logits);
    run->slope = memory_alloc(run->logit_count, sizeof *run->slope);
    model_initialise(&run->model, 5, run->value);
    for (size_t i = 0; i < run->logit_count; i++)
        run->slope[i] = sinf((float)i * 1.7F) / 100;
}

static void end(struct run *run)
{
    typed_fixture_release(&run->blocks);
    arena_release(&run->arena);
    for (int t = 0; t < FIXTURE_TYPES; t++)
        memory_free(run->rounded[t]);
    memory_free(run->value);
    memory_free(run->gradient);
    memory_free(run->logits);
    memory_free(run->slope);
}

static void run_both(struct run *run, struct thread_pool *pool)
{
    const struct random_stream dropout = random_stream_of(9, RANDOM_DROPOUT, 4, 0, 2);
    const struct model_workspace workspace = {&run->arena, pool};
    const struct model_input input = {
        .relations = run->blocks.block, .type_rows = run->blocks.rows, .dropout = &dropout};
    struct model_trace *trace = NULL;
    struct error err = {0};
    arena_reset(&run->arena);
    assert_ok(model_forward(&run->model, run->value, &input, &workspace, run->logits, &trace, &err),
              &err);
    assert_ok(
        model_backward(&run->model, run->value, trace, run->slope, &workspace, run->gradient, &err),
        &err);
}

static void assert_near(const float *found, const float *expected, size_t count, double least,
                        const char *kind, const char *of)
{
    double size = 0, distance = 0;
    for (size_t i = 0; i < count; i++) {
        const double d = (double)found[i] - (double)expected[i];
        size += (double)expected[i] * (double)expected[i];
        distance += d * d;
    }
    if (!(size > 0 && distance > 0 && sqrt(distance / size) <= least))
        fail_msg("%s: %s in bf16 are %g of their size away from those in floats", kind, of,
                 sqrt(distance / size));
}

static void same_bits_by_threads(const struct model_config *config, const struct run *expected)
{
    struct error err = {0};
    struct thread_pool *pool = NULL;
    struct run run;
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    start(&run, config);
    run_both(&run, pool);
    assert_memory_equal(run.logits, expected->logits, run.logit_count * sizeof(float));
    assert_memory_equal(run.gradient, expected->gradient, run.model.value_count * sizeof(float));
    end(&run);
    thread_pool_free(pool);
}

/* A rounded operand is off by at most 1/256; many random errors add up as the root of their
 * number. */
static void bf16_is_near_floats_and_gives_the_same_bits_by_threads(void **state)
{
    static const enum layer_kind kinds[] = {LAYER_SAGE, LAYER_GRAPH_CONV, LAYER_RGCN, LAYER_GCN};
    (void)state;
    if (!bf16_product_is_possible())
        skip();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct run floats, rounded;
        const struct model_config config = config_of(kinds[k], RELATION_AGGR_SUM, PRECISION_FP32);
        const struct model_config bf16_config =
            config_of(kinds[k], RELATION_AGGR_SUM, PRECISION_BF16);
        start(&floats, &config);
        start(&rounded, &bf16_config);
        run_both(&floats, NULL);
        run_both(&rounded, NULL);
        assert_near(rounded.logits, floats.logits, floats.logit_count, 0.02, layer_names[kinds[k]],
                    "logits");
        assert_near(rounded.gradient, floats.gradient, floats.model.trained_count, 0.05,
                    layer_names[kinds[k]], "gradients");
        same_bits_by_threads(&bf16_config, &rounded);
        end(&floats);
        end(&rounded);
    }
}

/* --- the largest --- */

/* Starts a model with the same weights that sums, in which all relations other than `relation` have
 * zero weights, so that it gives the rows of that relation alone. */
static void start_relation(struct run *run, const struct run *whole, int relation)
{
    struct model_config own = whole->model.config;
    own.types.relation_aggr = RELATION_AGGR_SUM;
    start(run, &own);
    const struct model_layer *layer = &run->model.layer[0];
    const int each = layer->parameter_count / (int)own.types.schema.relation_count;
    memcpy(run->value, whole->value, run->model.value_count * sizeof *run->value);
    for (int p = 0; p < layer->parameter_count; p++) {
        const struct parameter *parameter = &run->model.parameter[p];
        const size_t count = (size_t)parameter->rows * parameter->cols;
        if (p / each != relation)
            memset(run->value + parameter->offset, 0, count * sizeof *run->value);
    }
}

/* Checks that the gradient of a relation's tensors is that of the rows which this relation gave
 * alone. */
static void check_relation(const struct run *whole, struct run *alone, int relation)
{
    const struct model_layer *layer = &whole->model.layer[0];
    const int each = layer->parameter_count / (FIXTURE_RELATIONS - 1);
    run_both(alone, NULL);
    for (int p = relation * each; p < (relation + 1) * each; p++) {
        const struct parameter *own = &whole->model.parameter[p];
        for (uint64_t i = own->offset; i < own->offset + (uint64_t)own->rows * own->cols; i++)
            assert_true(fabsf(whole->gradient[i] - alone->gradient[i]) <= 1e-6F);
    }
}

static void check_largest(enum layer_kind kind)
{
    enum { RELATIONS = 3 };

    static const int to_paper[RELATIONS] = {0, 1, 4};
    struct model_config config = config_of(kind, RELATION_AGGR_MAX, PRECISION_FP32);
    struct run whole, alone[RELATIONS];
    size_t from[RELATIONS] = {0};
    config.layer_count = 1;
    config.layer[0] = config.layer[1];
    start(&whole, &config);
    for (uint64_t i = 0; i < whole.model.value_count; i++)
        whole.value[i] += i % 3 ? 0.013F : -0.02F;
    run_both(&whole, NULL);
    for (int r = 0; r < RELATIONS; r++) {
        start_relation(&alone[r], &whole, to_paper[r]);
        run_both(&alone[r], NULL);
    }
    for (size_t i = 0; i < whole.logit_count; i++) {
        int largest = 0;
        for (int r = 1; r < RELATIONS; r++)
            if (alone[r].logits[i] > alone[largest].logits[i])
                largest = r;
        from[largest]++;
        assert_true(fabsf(whole.logits[i] - alone[largest].logits[i]) <= 1e-5F);
        for (int r = 0; r < RELATIONS; r++)
            alone[r].slope[i] = r == largest ? whole.slope[i] : 0;
    }
    assert_true(from[0] && from[1] && from[2]);
    for (int r = 0; r < RELATIONS; r++) {
        check_relation(&whole, &alone[r], to_paper[r]);
        end(&alone[r]);
    }
    end(&whole);
}

/* Tests a kind that is not linear, and two with a separate matrix of own rows. */
static void the_largest_of_what_relations_give_has_the_gradient(void **state)
{
    static const enum layer_kind kinds[] = {LAYER_GIN, LAYER_SAGE, LAYER_GRAPH_CONV};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        check_largest(kinds[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bf16_is_near_floats_and_gives_the_same_bits_by_threads),
        cmocka_unit_test(the_largest_of_what_relations_give_has_the_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
