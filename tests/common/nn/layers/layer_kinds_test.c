/* Every kind of layer except attention, in lists: equals the slow reference and central
 * differences, and gives the same bits for any number of threads. A new kind is a row of
 * `trials`. */
#include "common/nn/layers/layer.h"

#include "tests/common/nn/model_run.h"

enum { LIST_MAX = 4 };

struct trial {
    int layer_count;
    enum layer_kind kind[LIST_MAX];
    enum layer_aggr aggr;
    bool values; /* edges have values */
};

static const struct trial trials[] = {
    {2, {LAYER_SAGE, LAYER_SAGE}, LAYER_AGGR_MAX, false},
    {2, {LAYER_SAGE, LAYER_SAGE}, LAYER_AGGR_MAX, true},
    {2, {LAYER_SAGE, LAYER_SAGE}, LAYER_AGGR_ADD, true},
    {3, {LAYER_SAGE, LAYER_MLP, LAYER_GCN}, LAYER_AGGR_MAX, false},
    {2, {LAYER_GRAPH_CONV, LAYER_GRAPH_CONV}, LAYER_AGGR_AUTO, false},
    {2, {LAYER_GRAPH_CONV, LAYER_GRAPH_CONV}, LAYER_AGGR_AUTO, true},
    {2, {LAYER_GRAPH_CONV, LAYER_GRAPH_CONV}, LAYER_AGGR_MEAN, true},
    {2, {LAYER_GRAPH_CONV, LAYER_SAGE}, LAYER_AGGR_MAX, true},
    {4, {LAYER_MLP, LAYER_GRAPH_CONV, LAYER_SAGE, LAYER_MLP}, LAYER_AGGR_AUTO, false},
    {4, {LAYER_MLP, LAYER_MLP, LAYER_SAGE, LAYER_GCN}, LAYER_AGGR_AUTO, true},
    {2, {LAYER_GIN, LAYER_GIN}, LAYER_AGGR_AUTO, false},
    {3, {LAYER_MLP, LAYER_GIN, LAYER_GCN}, LAYER_AGGR_AUTO, false},
    {2, {LAYER_PROPAGATE, LAYER_SGC}, LAYER_AGGR_AUTO, false},
    {3, {LAYER_MLP, LAYER_PROPAGATE, LAYER_SGC}, LAYER_AGGR_AUTO, true},
    {3, {LAYER_MLP, LAYER_APPNP, LAYER_APPNP}, LAYER_AGGR_AUTO, false},
    {4, {LAYER_MLP, LAYER_APPNP, LAYER_APPNP, LAYER_MLP}, LAYER_AGGR_AUTO, true},
    {2, {LAYER_LE, LAYER_LE}, LAYER_AGGR_AUTO, false},
    {2, {LAYER_LE, LAYER_LE}, LAYER_AGGR_AUTO, true},
    {4, {LAYER_MLP, LAYER_LE, LAYER_GCN, LAYER_MLP}, LAYER_AGGR_AUTO, true},
    {3, {LAYER_GCN, LAYER_IDENTITY, LAYER_SAGE}, LAYER_AGGR_AUTO, false},
    {4, {LAYER_IDENTITY, LAYER_SAGE, LAYER_SAGE, LAYER_IDENTITY}, LAYER_AGGR_AUTO, false},
};
enum { TRIAL_COUNT = sizeof trials / sizeof *trials };

/* Sizes around the tile of 512 rows. */
static const struct sizes all_sizes[] = {
    {2, {5, 20, 60}, 6, 5, 3, 1},
    {2, {1, 3, 9}, 3, 8, 4, 1},
    {2, {511, 513, 520}, 2, 3, 2, 1},
};
enum { SIZE_COUNT = sizeof all_sizes / sizeof *all_sizes };

/* Returns whether any layer gives as many columns as it reads: then all layers do. */
static bool keeps_width(const struct trial *trial)
{
    for (int i = 0; i < trial->layer_count; i++)
        if (layer_type_of(trial->kind[i])->keeps_width)
            return true;
    return false;
}

/* Starts a run off the kinks of ReLU. */
static void start(struct run *run, const struct trial *trial, const struct sizes *sizes,
                  float dropout)
{
    struct model_config config = {.input_dim = sizes->input, .layer_count = trial->layer_count};
    for (int i = 0; i < trial->layer_count; i++) {
        const bool is_last = i == trial->layer_count - 1;
        const uint32_t dim = is_last ? sizes->output : sizes->hidden;
        config.layer[i] = (struct layer_config){
            .kind = trial->kind[i],
            .output_dim = keeps_width(trial) ? sizes->input : dim,
            .option = {.heads = 1, .aggr = trial->aggr, .train_eps = i < 2, .alpha = 0.3},
            .activation = is_last ? ACTIVATION_NONE : ACTIVATION_RELU,
            .dropout = (double)dropout};
    }
    run_start_config(run, &config, sizes);
    for (uint64_t i = 0; i < run->model.value_count; i++)
        run->value[i] += 0.013F;
    if (trial->values)
        block_fixture_value_edges(&run->blocks, run->model.hop_count, 3);
}

static void check_all(float dropout)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    for (size_t t = 0; t < TRIAL_COUNT; t++)
        for (size_t s = 0; s < SIZE_COUNT; s++) {
            struct run run;
            start(&run, &trials[t], &all_sizes[s], dropout);
            run_both(&run, dropout > 0 ? &stream : NULL, NULL);
            check_logits(&run, dropout > 0 ? &stream : NULL);
            check_gradient(&run, dropout > 0 ? &stream : NULL);
            run_end(&run);
        }
}

static void agree_with_the_reference_and_central_differences(void **state)
{
    (void)state;
    check_all(0);
}

static void dropout_goes_through_forward_and_backward_alike(void **state)
{
    (void)state;
    check_all(0.4F);
}

static void mostly_zero_inputs_give_what_others_give(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run run;
        start(&run, &trials[t], &all_sizes[0], 0);
        thin_out(&run, all_sizes[0].input);
        run_both(&run, NULL, NULL);
        check_logits(&run, NULL);
        check_gradient(&run, NULL);
        run_end(&run);
    }
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static const struct sizes sizes = {2, {1100, 9000, 12000}, 20, 18, 9, 1};
    static const int threads[] = {1, 2, 4, 33, 64};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run alone;
        start(&alone, &trials[t], &sizes, 0.5F);
        run_both(&alone, &stream, NULL);
        for (size_t n = 0; n < sizeof threads / sizeof *threads; n++) {
            struct error err = {0};
            struct thread_pool *pool = NULL;
            struct run run;
            assert_ok(thread_pool_new(threads[n], &pool, &err), &err);
            start(&run, &trials[t], &sizes, 0.5F);
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

static void evaluation_gives_the_bits_of_training_without_dropout(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run run;
        start(&run, &trials[t], &all_sizes[2], 0.5F);
        run_check_forward_alone(&run);
        run_end(&run);
    }
}

static void what_is_no_number_or_has_no_room_is_noticed(void **state)
{
    static const struct sizes sizes = {2, {300, 700, 1500}, 30, 16, 5, 1};
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run run;
        start(&run, &trials[t], &sizes, 0);
        check_memory_refusals(&run);
        run.arena.limit = 0;
        check_nan_reaches_logits(&run);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_with_the_reference_and_central_differences),
        cmocka_unit_test(dropout_goes_through_forward_and_backward_alike),
        cmocka_unit_test(mostly_zero_inputs_give_what_others_give),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(evaluation_gives_the_bits_of_training_without_dropout),
        cmocka_unit_test(what_is_no_number_or_has_no_room_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
