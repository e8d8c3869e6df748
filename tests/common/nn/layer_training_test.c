/* A model that is trained layer by layer gives the bits of the whole model.
 * typed/typed_model_test.c tests graphs with several types. */
#include "common/math/bf16_product.h"
#include "common/nn/layer_training.h"

#include "tests/common/nn/layer_chain.h"
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

/* Widths that grow and shrink, for both orders of projection and aggregation, and more rows than a
 * tile has. */
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

static void check_by_layers(struct run *run, const struct random_stream *dropout,
                            struct thread_pool *pool)
{
    const struct model_input input = {
        .block = run->blocks.block, .rows = run->blocks.input, .dropout = dropout};
    layer_chain_check(&run->model, run->value, &input, run->slope, pool);
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
    start(&run, &trials[7], &sizes); /* APPNP's layers read the input of the first of their kind */
    assert_int_equal(layer_training_reads(&run.model, 3), 1U << 2 | 1U << 0);
    run_end(&run);
    start(&run, &trials[TRIAL_COUNT - 1], &sizes);
    assert_int_equal(layer_training_reads(&run.model, 3), 7);
    run_end(&run);
}

/* Merging the layers' gradients by these ranges takes each value exactly once. */
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

/* Returns the bytes that forward and backward of one layer need, measured by running them or by
 * counting. The rows around the layer are not included. */
static size_t bytes_of_layer(struct run *run, int layer, bool counts)
{
    struct error err = {0};
    struct arena arena = {.counts = counts};
    struct model_trace *trace = NULL;
    struct layer_output output[LAYER_COUNT_MAX];
    const struct model_workspace workspace = {.arena = &arena};
    const struct model_input input = {.block = run->blocks.block, .rows = run->blocks.input};
    struct layer_chain around = {
        .model = &run->model, .value = run->value, .input = &input, .slope = run->slope};
    chain_begin(&around, NULL);
    chain_go_forth(&around);
    chain_outputs_below(&around, layer, output);
    const size_t rows = chain_rows(&around, layer, 0);
    const size_t dim = model_layer_output_dim(&run->model, layer);
    if (layer < run->model.config.layer_count - 1)
        around.left[layer][0].next = memory_alloc(rows * dim, sizeof(float));
    assert_ok(layer_training_forward(&run->model, run->value, layer, &input, output, &workspace,
                                     &trace, &err),
              &err);
    chain_give(&around, trace, layer);
    assert_ok(layer_training_backward(trace, layer, run->gradient, &err), &err);
    const size_t used = arena.used;
    arena_release(&arena);
    chain_end(&around);
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
        struct layer_output output[LAYER_COUNT_MAX];
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
