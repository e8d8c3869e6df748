/* GAT and GATv2 equal the slow reference and central differences, and give the same bits for any
 * number of threads. */
#include "common/nn/layers/attention/attention.h"

#include "tests/common/nn/model_run.h"

static const enum layer_kind kinds[] = {LAYER_GAT, LAYER_GATV2};

/* Sizes around the tile of 512 rows; one head and several; channels around the parts of a dot
 * product. */
static const struct sizes all_sizes[] = {
    {1, {1, 1}, 3, 1, 2, 1},
    {1, {7, 30}, 4, 1, 6, 3},
    {2, {5, 20, 60}, 6, 6, 3, 2},
    {2, {3, 9, 27}, 2, 40, 17, 2},
    {3, {4, 9, 25, 70}, 5, 8, 4, 4},
    {2, {1, 513, 700}, 2, 2, 2, 2},
    {2, {511, 513, 520}, 2, 2, 1, 1},
    {2, {2, 18, 60}, 2, 9, 2, 9}, /* more heads than a block of draws */
};

/* Starts a run off the kinks of ReLU: a destination whose shares are all dropped has only the bias,
 * which starts at 0. */
static void start(struct run *run, enum layer_kind kind, const struct sizes *sizes, float dropout)
{
    run_start(run, kind, sizes, dropout);
    for (uint64_t i = 0; i < run->model.value_count; i++)
        run->value[i] += 0.013F;
}

static void check_all_sizes(float dropout)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    for (size_t i = 0; i < sizeof all_sizes / sizeof *all_sizes; i++)
        for (int k = 0; k < 2; k++) {
            struct run run;
            start(&run, kinds[k], &all_sizes[i], dropout);
            run_both(&run, dropout > 0 ? &stream : NULL, NULL);
            check_logits(&run, dropout > 0 ? &stream : NULL);
            check_gradient(&run, dropout > 0 ? &stream : NULL);
            run_end(&run);
        }
}

static void agrees_with_the_reference_and_central_differences(void **state)
{
    (void)state;
    check_all_sizes(0);
}

static void dropout_of_shares_and_activations_goes_through_both_alike(void **state)
{
    (void)state;
    check_all_sizes(0.4F);
}

/* Like start(), with edge features. */
static void start_with_features(struct run *run, enum layer_kind kind, const struct sizes *sizes,
                                uint32_t dim, float dropout)
{
    struct model_config config = config_of_sizes(kind, sizes, dropout);
    config.edge_dim = dim;
    run_start_config(run, &config, sizes);
    block_fixture_describe_edges(&run->blocks, sizes->layer_count, dim, 8);
    for (uint64_t i = 0; i < run->model.value_count; i++)
        run->value[i] += 0.013F;
}

static void edge_features_count_in_the_scores(void **state)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    (void)state;
    for (size_t i = 0; i < sizeof all_sizes / sizeof *all_sizes; i++)
        for (int turn = 0; turn < 4; turn++) {
            const bool drops = turn & 1;
            struct run run;
            start_with_features(&run, kinds[turn / 2], &all_sizes[i], drops ? 5 : 1,
                                drops ? 0.3F : 0);
            run_both(&run, drops ? &stream : NULL, NULL);
            check_logits(&run, drops ? &stream : NULL);
            check_gradient(&run, drops ? &stream : NULL);
            run_end(&run);
        }
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static const struct sizes sizes = {3, {600, 1100, 9000, 12000}, 20, 18, 9, 3};
    static const int threads[] = {1, 2, 4, 33, 64};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct run alone;
        run_start(&alone, kinds[k], &sizes, 0.5F);
        run_both(&alone, &stream, NULL);
        for (int t = 0; t < 5; t++) {
            struct error err = {0};
            struct thread_pool *pool = NULL;
            struct run run;
            assert_ok(thread_pool_new(threads[t], &pool, &err), &err);
            run_start(&run, kinds[k], &sizes, 0.5F);
            run_both(&run, &stream, pool);
            assert_memory_equal(run.logits, alone.logits, run.logit_count * sizeof(float));
            assert_memory_equal(run.gradient, alone.gradient,
                                run.model.value_count * sizeof(float));
            run_end(&run);
            thread_pool_free(pool);
        }
        run_end(&alone);
    }
}

/* The shares of a destination sum to 1, so equal neighbours give the result of one of them. */
static void neighbours_that_are_alike_count_once(void **state)
{
    static const struct sizes sizes = {1, {40, 120}, 4, 1, 6, 3};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct run run;
        run_start(&run, kinds[k], &sizes, 0);
        for (size_t i = 0; i < run.blocks.node_count * run.blocks.input.stride; i++)
            run.blocks.feature[i] = (float)(i % run.blocks.input.stride) - 1.5F;
        run_both(&run, NULL, NULL);
        for (size_t i = 0; i < run.logit_count; i++)
            assert_float_equal(run.logits[i], run.logits[i % 6], 1e-5F);
        run_end(&run);
    }
}

static void evaluation_gives_the_bits_of_training_without_dropout(void **state)
{
    static const struct sizes sizes = {2, {300, 700, 1500}, 30, 16, 5, 4};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct run run;
        run_start(&run, kinds[k], &sizes, 0.5F);
        run_check_forward_alone(&run);
        run_end(&run);
    }
}

static void a_nan_in_the_features_reaches_the_logits(void **state)
{
    static const struct sizes sizes = {2, {3, 9, 20}, 4, 6, 3, 2};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct run run;
        run_start(&run, kinds[k], &sizes, 0);
        check_nan_reaches_logits(&run);
        run_end(&run);
    }
}

static void memory_that_runs_out_is_an_error_at_any_point(void **state)
{
    static const struct sizes sizes = {2, {300, 700, 1500}, 30, 16, 5, 2};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct run run;
        run_start(&run, kinds[k], &sizes, 0);
        check_memory_refusals(&run);
        run_end(&run);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    struct error err = {0};
    struct model model;
    struct model_outline config = {.layer.kind = LAYER_GAT,
                                   .hop_count = 2,
                                   .input_dim = 4,
                                   .layer.output_dim = 10,
                                   .output_dim = 3,
                                   .layer.option = {.heads = 4}};
    (void)state;
    assert_fails(model_init_outline(&model, &config, &err), ERROR_INVALID, "heads", &err);
    config.layer.option.heads = 5;
    assert_ok(model_init_outline(&model, &config, &err), &err);
    config.precision = PRECISION_BF16;
    assert_fails(model_init_outline(&model, &config, &err), ERROR_INVALID, "fp32", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_reference_and_central_differences),
        cmocka_unit_test(dropout_of_shares_and_activations_goes_through_both_alike),
        cmocka_unit_test(edge_features_count_in_the_scores),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(neighbours_that_are_alike_count_once),
        cmocka_unit_test(evaluation_gives_the_bits_of_training_without_dropout),
        cmocka_unit_test(a_nan_in_the_features_reaches_the_logits),
        cmocka_unit_test(memory_that_runs_out_is_an_error_at_any_point),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
