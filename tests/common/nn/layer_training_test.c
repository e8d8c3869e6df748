/* A model trained layer by layer, each from what was carried over from the others and nothing else, gives the bits of the whole. */
#include "common/math/bf16_product.h"
#include "common/nn/layer_training.h"

#include "tests/common/nn/model_run.h"

struct trial {
    struct layer_list list;
    enum jumping_knowledge jumps;
    enum activation_kind activation;
};

static const struct trial trials[] = {
    {{3, {LAYER_SAGE, LAYER_SAGE, LAYER_SAGE}, NORM_NONE, false, false},
     JUMP_NONE,
     ACTIVATION_RELU},
    {{3, {LAYER_GCN, LAYER_GCN, LAYER_GCN}, NORM_NONE, false, true}, JUMP_NONE, ACTIVATION_RELU},
    {{2, {LAYER_GAT, LAYER_GAT}, NORM_NONE, false, false}, JUMP_NONE, ACTIVATION_ELU},
    {{2, {LAYER_GATV2, LAYER_GATV2}, NORM_NONE, true, false}, JUMP_NONE, ACTIVATION_ELU},
    {{2, {LAYER_GIN, LAYER_GIN}, NORM_NONE, false, false}, JUMP_NONE, ACTIVATION_RELU},
    {{2, {LAYER_GIN, LAYER_GIN}, NORM_BATCH, false, false}, JUMP_NONE, ACTIVATION_RELU},
    {{2, {LAYER_GIN, LAYER_GIN}, NORM_LAYER, true, false}, JUMP_LAST, ACTIVATION_ELU},
    {{2, {LAYER_LE, LAYER_GRAPH_CONV}, NORM_NONE, false, true}, JUMP_NONE, ACTIVATION_RELU},
    {{2, {LAYER_PROPAGATE, LAYER_SGC}, NORM_NONE, false, false}, JUMP_NONE, ACTIVATION_NONE},
    {{4, {LAYER_MLP, LAYER_APPNP, LAYER_APPNP, LAYER_APPNP}, NORM_NONE, false, false},
     JUMP_NONE,
     ACTIVATION_NONE},
    {{3, {LAYER_MLP, LAYER_SAGE, LAYER_GCN}, NORM_BATCH, true, false}, JUMP_NONE, ACTIVATION_RELU},
    {{3, {LAYER_SAGE, LAYER_SAGE, LAYER_SAGE}, NORM_LAYER, true, true}, JUMP_NONE, ACTIVATION_ELU},
    {{2, {LAYER_IDENTITY, LAYER_GCN}, NORM_NONE, false, false}, JUMP_NONE, ACTIVATION_RELU},
    {{3, {LAYER_SAGE, LAYER_GCN, LAYER_SAGE}, NORM_NONE, true, false}, JUMP_CAT, ACTIVATION_RELU},
    {{3, {LAYER_SAGE, LAYER_SAGE, LAYER_GCN}, NORM_BATCH, true, false}, JUMP_MAX, ACTIVATION_RELU},
};
enum { TRIAL_COUNT = sizeof trials / sizeof *trials };

/* Widths that grow and shrink: both orders of projection and aggregation. More rows than a tile has. */
static const struct sizes all_sizes[] = {{0, {5, 20, 60, 90}, 6, 5, 3, 1},
                                         {0, {513, 700, 1500, 2100}, 4, 9, 4, 1}};

static void start(struct run *run, const struct trial *trial, const struct sizes *sizes)
{
    struct error err = {0};
    struct model_config config =
        config_of_list(&trial->list, sizes, trial->activation, trial->jumps != JUMP_NONE);
    for (int i = 0; i < config.layer_count; i++)
        config.layer[i].dropout = 0.4;
    if (trial->jumps)
        assert_ok(model_config_jump(&config, trial->jumps, sizes->output, &err), &err);
    run_start_config(run, &config, sizes);
    if (trial->list.values)
        block_fixture_value_edges(&run->blocks, run->model.hop_count, 3);
}

/* What one process leaves for another: nothing of it is in the arena in which it was made. */
static void *carry(const void *from, size_t bytes)
{
    return memcpy(memory_alloc(bytes, 1), from, bytes);
}

struct carried {
    void *output[LAYER_COUNT_MAX];
    size_t bytes[LAYER_COUNT_MAX];
    struct output_gradient gradient[LAYER_COUNT_MAX];
};

static void carry_output(struct carried *carried, const struct run *run,
                         const struct model_input *input, int layer, void *output)
{
    const enum precision precision = run->model.config.precision;
    const size_t rows = layer_training_rows(&run->model, layer, input);
    const size_t stride = precision_stride(precision, model_layer_output_dim(&run->model, layer));
    carried->bytes[layer] = rows * stride * precision_bytes(precision);
    if (layer == run->model.config.layer_count - 1)
        assert_memory_equal(output, run->logits, run->logit_count * sizeof(float));
    else
        carried->output[layer] = carry(output, carried->bytes[layer]);
}

/* What is new of `left` since `before`. */
static void carry_gradient(struct output_gradient *before, const struct output_gradient *left,
                           size_t rows, size_t dim)
{
    if (left->next != before->next)
        before->next = carry(left->next, rows * dim * sizeof(float));
    for (int p = before->parts.count; p < left->parts.count; p++) {
        const struct gradient_part *part = &left->parts.part[p];
        float *own = memory_alloc((size_t)part->row_count * dim, sizeof *own);
        for (uint32_t row = 0; row < part->row_count; row++)
            memcpy(own + row * dim, part->row + row * part->stride, dim * sizeof *own);
        before->parts.part[p] = (struct gradient_part){own, dim, part->row_count};
    }
    before->parts.count = left->parts.count;
}

static void release(struct carried *carried, int layer_count)
{
    for (int layer = 0; layer < layer_count - 1; layer++) {
        memory_free(carried->output[layer]);
        memory_free(carried->gradient[layer].next);
        for (int p = 0; p < carried->gradient[layer].parts.count; p++)
            memory_free((void *)carried->gradient[layer].parts.part[p].row);
    }
}

/* The outputs that layer `layer` reads, and nothing in the place of the others. */
static void outputs_below(const struct run *run, const struct carried *carried, int layer,
                          float *logits, void *output[LAYER_COUNT_MAX])
{
    const uint32_t reads = layer_training_reads(&run->model, layer);
    for (int k = 0; k < LAYER_COUNT_MAX; k++)
        output[k] = reads >> k & 1 ? carried->output[k] : NULL;
    if (layer == run->model.config.layer_count - 1)
        output[layer] = logits;
}

/* In an arena that holds nothing else. */
static struct model_trace *forward(struct run *run, const struct model_input *input, int layer,
                                   struct thread_pool *pool, float *logits,
                                   const struct carried *carried, void *output[LAYER_COUNT_MAX])
{
    struct error err = {0};
    struct model_trace *trace = NULL;
    const struct model_workspace workspace = {&run->arena, pool};
    arena_reset(&run->arena);
    outputs_below(run, carried, layer, logits, output);
    assert_ok(layer_training_forward(&run->model, run->value, layer, input, output, &workspace,
                                     &trace, &err),
              &err);
    return trace;
}

static void go_forth(struct run *run, const struct model_input *input, struct thread_pool *pool,
                     float *logits, struct carried *carried)
{
    for (int layer = 0; layer < run->model.config.layer_count; layer++) {
        void *output[LAYER_COUNT_MAX];
        (void)forward(run, input, layer, pool, logits, carried, output);
        carry_output(carried, run, input, layer, output[layer]);
    }
}

static void go_back(struct run *run, const struct model_input *input, struct thread_pool *pool,
                    float *logits, struct carried *carried, float *gradient)
{
    struct error err = {0};
    const struct model_workspace workspace = {&run->arena, pool};
    const int last = run->model.config.layer_count - 1;
    carried->gradient[last].parts =
        (struct gradient_parts){1,
                                {{run->slope, model_output_dim(&run->model),
                                  layer_training_rows(&run->model, last, input)}}};
    for (int layer = last; layer >= 0; layer--) {
        struct output_gradient left[LAYER_COUNT_MAX];
        void *output[LAYER_COUNT_MAX];
        struct model_trace *trace = forward(run, input, layer, pool, logits, carried, output);
        if (layer < last)
            assert_memory_equal(output[layer], carried->output[layer], carried->bytes[layer]);
        memcpy(left, carried->gradient, sizeof left);
        assert_ok(
            layer_training_backward(&run->model, trace, layer, left, &workspace, gradient, &err),
            &err);
        for (int k = 0; k < layer; k++)
            carry_gradient(&carried->gradient[k], &left[k],
                           layer_training_rows(&run->model, k, input),
                           model_layer_output_dim(&run->model, k));
    }
}

/* run->logits and run->gradient are those of the whole model. */
static void check_by_layers(struct run *run, const struct random_stream *dropout,
                            struct thread_pool *pool)
{
    const struct model_input input = {
        .block = run->blocks.block, .rows = run->blocks.input, .dropout = dropout};
    const size_t bytes = run->model.value_count * sizeof(float);
    struct carried carried = {0};
    float *gradient = memory_alloc(1, bytes);
    float *logits = memory_alloc(run->logit_count, sizeof *logits);
    memset(gradient, 0xff, bytes); /* what no layer writes is none */
    go_forth(run, &input, pool, logits, &carried);
    go_back(run, &input, pool, logits, &carried, gradient);
    assert_memory_equal(gradient, run->gradient, bytes);
    release(&carried, run->model.config.layer_count);
    memory_free(gradient);
    memory_free(logits);
}

static void each_kind_of_model_gives_the_bits_of_the_whole(void **state)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    struct error err = {0};
    struct thread_pool *pool = NULL;
    (void)state;
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    for (size_t t = 0; t < TRIAL_COUNT; t++)
        for (size_t s = 0; s < sizeof all_sizes / sizeof *all_sizes; s++)
            for (int turn = 0; turn < 2; turn++) {
                struct run run;
                start(&run, &trials[t], &all_sizes[s]);
                run_both(&run, turn ? &stream : NULL, NULL);
                check_by_layers(&run, turn ? &stream : NULL, turn ? pool : NULL);
                run_end(&run);
            }
    thread_pool_free(pool);
}

static void inputs_that_are_mostly_zero_or_in_bf16_do_so_too(void **state)
{
    static const struct sizes sizes = {3, {600, 1100, 2000, 3000}, 20, 17, 9, 1};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    const int forms = bf16_product_is_possible() ? 2 : 1;
    (void)state;
    if (forms == 1)
        print_message("not in bf16: this processor has no avx512_bf16\n");
    for (int turn = 0; turn < 2 * forms; turn++) {
        struct run run;
        run_start(&run, turn % 2 ? LAYER_GCN : LAYER_SAGE, &sizes, 0.5F);
        if (turn / 2)
            run_in_bf16(&run);
        else
            thin_out(&run, sizes.input);
        run_both(&run, &stream, NULL);
        check_by_layers(&run, &stream, NULL);
        run_end(&run);
    }
}

static void a_layer_says_what_it_reads(void **state)
{
    static const struct sizes sizes = {0, {5, 20, 60, 90}, 6, 5, 3, 1};
    struct run run;
    (void)state;
    start(&run, &trials[0], &sizes);
    assert_int_equal(layer_training_reads(&run.model, 0), 0);
    assert_int_equal(layer_training_reads(&run.model, 2), 1U << 1);
    run_end(&run);
    start(&run, &trials[7], &sizes); /* APPNP reads what went into the first of its kind */
    assert_int_equal(layer_training_reads(&run.model, 3), 1U << 2 | 1U << 0);
    run_end(&run);
    start(&run, &trials[TRIAL_COUNT - 1], &sizes);
    assert_int_equal(layer_training_reads(&run.model, 3), 7);
    run_end(&run);
}

/* Who puts a gradient together of what layers found leaves out no value, and takes none twice. */
static void each_value_is_of_one_layer(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run run;
        start(&run, &trials[t], &all_sizes[0]);
        uint8_t *seen = memory_alloc(run.model.value_count, 1);
        memset(seen, 0, run.model.value_count);
        uint64_t count = 0;
        for (int layer = 0; layer < run.model.config.layer_count; layer++) {
            struct value_range range[LAYER_VALUE_RANGES_MAX];
            for (int i = layer_training_values(&run.model, layer, range) - 1; i >= 0; i--)
                for (uint64_t v = 0; v < range[i].count; v++, count++)
                    assert_false(seen[range[i].first + v]++);
        }
        assert_int_equal(count, run.model.value_count);
        memory_free(seen);
        run_end(&run);
    }
}

/* Of forward and backward of one layer, by doing it or by counting. The rows around it are none of its own. */
static size_t bytes_of_layer(struct run *run, int layer, bool counts)
{
    struct error err = {0};
    struct arena arena = {.counts = counts};
    struct carried around = {0};
    struct model_trace *trace = NULL;
    struct output_gradient left[LAYER_COUNT_MAX] = {0};
    void *output[LAYER_COUNT_MAX] = {NULL};
    const struct model_workspace workspace = {.arena = &arena};
    const struct model_input input = {.block = run->blocks.block, .rows = run->blocks.input};
    go_forth(run, &input, NULL, run->logits, &around);
    outputs_below(run, &around, layer, run->logits, output);
    const size_t rows = layer_training_rows(&run->model, layer, &input);
    const size_t dim = model_layer_output_dim(&run->model, layer);
    float *given = memory_alloc(rows * dim, sizeof *given);
    memset(given, 0, rows * dim * sizeof *given);
    if (layer < run->model.config.layer_count - 1)
        left[layer].next = given;
    else
        left[layer].parts = (struct gradient_parts){1, {{given, dim, (uint32_t)rows}}};
    assert_ok(layer_training_forward(&run->model, run->value, layer, &input, output, &workspace,
                                     &trace, &err),
              &err);
    assert_ok(
        layer_training_backward(&run->model, trace, layer, left, &workspace, run->gradient, &err),
        &err);
    const size_t used = arena.used;
    arena_release(&arena);
    memory_free(given);
    release(&around, run->model.config.layer_count);
    return used;
}

static void a_layer_takes_less_memory_than_the_whole_and_it_is_known_beforehand(void **state)
{
    static const struct sizes sizes = {3, {513, 1100, 2000, 3000}, 16, 16, 16, 1};
    (void)state;
    for (enum layer_kind kind = LAYER_SAGE; kind <= LAYER_GCN; kind++) {
        struct run run;
        run_start(&run, kind, &sizes, 0);
        run_both(&run, NULL, NULL);
        const size_t whole = run.arena.used;
        for (int layer = 0; layer < sizes.layer_count; layer++) {
            const size_t bytes = bytes_of_layer(&run, layer, false);
            assert_int_equal(bytes_of_layer(&run, layer, true), bytes);
            assert_true(bytes < whole);
        }
        run_end(&run);
    }
}

static void memory_that_runs_out_is_an_error(void **state)
{
    static const struct sizes sizes = {2, {5, 20, 60}, 6, 5, 3, 1};
    struct error err = {0};
    struct run run;
    (void)state;
    run_start(&run, LAYER_SAGE, &sizes, 0);
    const struct model_workspace workspace = {.arena = &run.arena};
    const struct model_input input = {.block = run.blocks.block, .rows = run.blocks.input};
    enum error_code rc = ERROR_NO_MEMORY;
    int refused = 0;
    for (size_t limit = 1; rc != ERROR_NONE; limit += 4096) {
        struct model_trace *trace = NULL;
        void *output[LAYER_COUNT_MAX] = {NULL};
        run.arena.limit = limit;
        arena_reset(&run.arena);
        rc = layer_training_forward(&run.model, run.value, 0, &input, output, &workspace, &trace,
                                    &err);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        refused += rc != ERROR_NONE;
    }
    assert_true(refused > 1);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_model_gives_the_bits_of_the_whole),
        cmocka_unit_test(inputs_that_are_mostly_zero_or_in_bf16_do_so_too),
        cmocka_unit_test(a_layer_says_what_it_reads),
        cmocka_unit_test(each_value_is_of_one_layer),
        cmocka_unit_test(a_layer_takes_less_memory_than_the_whole_and_it_is_known_beforehand),
        cmocka_unit_test(memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
