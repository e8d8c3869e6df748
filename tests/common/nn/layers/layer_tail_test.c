/* What follows a layer: against slow references, and the same bits for any threads. */
#include "tests/common/nn/model_run.h"

/* Around the tile of 512 rows. Heads divide the hidden width. */
static const struct sizes all_sizes[] = {
    {2, {5, 20, 60}, 6, 4, 3, 2},
    {3, {4, 9, 25, 70}, 5, 6, 5, 3},
    {2, {2, 513, 900}, 4, 2, 2, 1},
};

/* A kind for each layer, and each activation in turn. */
static struct model_config mixed_config(const struct sizes *sizes, int turn, float dropout)
{
    struct model_config config = config_of_sizes(LAYER_SAGE, sizes, dropout);
    for (int i = 0; i < config.layer_count; i++) {
        config.layer[i].kind = (enum layer_kind)((turn + i) % LAYER_GAT);
        if (i < config.layer_count - 1)
            config.layer[i].activation = (enum activation_kind)((turn + i) % ACTIVATION_KIND_COUNT);
    }
    return config;
}

static void check_all(float dropout)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    const struct random_stream *draws = dropout > 0 ? &stream : NULL;
    for (int turn = 0; turn < 8; turn++)
        for (size_t i = 0; i < sizeof all_sizes / sizeof *all_sizes; i++) {
            struct run run;
            const struct model_config config = mixed_config(&all_sizes[i], turn, dropout);
            run_start_config(&run, &config, &all_sizes[i]);
            run_both(&run, draws, NULL);
            check_logits(&run, draws);
            check_gradient(&run, draws);
            run_end(&run);
        }
}

static void activations_agree_with_the_reference_and_central_differences(void **state)
{
    (void)state;
    check_all(0);
}

static void dropout_behind_any_activation_goes_through_both_alike(void **state)
{
    (void)state;
    check_all(0.4F);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static const struct sizes sizes = {3, {600, 1100, 9000, 12000}, 20, 18, 9, 3};
    static const int threads[] = {1, 2, 4, 33};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    const struct model_config config = mixed_config(&sizes, 1, 0.5F);
    struct run alone;
    (void)state;
    run_start_config(&alone, &config, &sizes);
    run_both(&alone, &stream, NULL);
    for (int t = 0; t < 4; t++) {
        struct error err = {0};
        struct thread_pool *pool = NULL;
        struct run run;
        assert_ok(thread_pool_new(threads[t], &pool, &err), &err);
        run_start_config(&run, &config, &sizes);
        run_both(&run, &stream, pool);
        assert_memory_equal(run.logits, alone.logits, run.logit_count * sizeof(float));
        assert_memory_equal(run.gradient, alone.gradient, run.model.value_count * sizeof(float));
        run_end(&run);
        thread_pool_free(pool);
    }
    run_end(&alone);
}

static void memory_that_runs_out_is_an_error_at_any_point(void **state)
{
    static const struct sizes sizes = {2, {300, 700, 1500}, 30, 16, 5, 2};
    const struct model_config config = mixed_config(&sizes, 1, 0);
    struct run run;
    (void)state;
    run_start_config(&run, &config, &sizes);
    check_memory_refusals(&run);
    run_end(&run);
}

static void a_model_with_a_tail_is_for_fp32(void **state)
{
    static const struct sizes sizes = {2, {3, 9, 20}, 4, 6, 3, 2};
    struct error err = {0};
    struct model model;
    struct model_config config = config_of_sizes(LAYER_SAGE, &sizes, 0.5F);
    (void)state;
    config.precision = PRECISION_BF16;
    assert_ok(model_init(&model, &config, &err), &err);
    config.layer[0].activation = ACTIVATION_ELU;
    assert_fails(model_init(&model, &config, &err), ERROR_INVALID, "fp32", &err);
    config.layer[1].activation = ACTIVATION_RELU;
    assert_fails(model_init(&model, &config, &err), ERROR_INVALID,
                 "layer 2 of the model (sage): its output are the logits", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_agree_with_the_reference_and_central_differences),
        cmocka_unit_test(dropout_behind_any_activation_goes_through_both_alike),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(memory_that_runs_out_is_an_error_at_any_point),
        cmocka_unit_test(a_model_with_a_tail_is_for_fp32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
