/* The gradient of the input rows equals central differences, for every kind that may read input
 * rows, and asking for it changes no other result. */
#include "tests/common/nn/model_run.h"

static const struct layer_list trials[] = {
    {2, {LAYER_SAGE, LAYER_SAGE}, NORM_NONE, false, false},
    {2, {LAYER_SAGE, LAYER_SAGE}, NORM_LAYER, true, true},
    {2, {LAYER_GCN, LAYER_GCN}, NORM_NONE, false, false},
    {2, {LAYER_GCN, LAYER_SAGE}, NORM_NONE, true, true},
    {2, {LAYER_GAT, LAYER_GAT}, NORM_NONE, false, false},
    {2, {LAYER_GATV2, LAYER_GAT}, NORM_NONE, true, false},
    {2, {LAYER_GIN, LAYER_GIN}, NORM_NONE, false, false},
    {2, {LAYER_GIN, LAYER_GIN}, NORM_LAYER, false, false},
    {3, {LAYER_MLP, LAYER_GIN, LAYER_GIN}, NORM_BATCH, true, false},
    {2, {LAYER_LE, LAYER_SAGE}, NORM_NONE, false, false},
    {2, {LAYER_GRAPH_CONV, LAYER_GRAPH_CONV}, NORM_NONE, false, true},
    {2, {LAYER_PROPAGATE, LAYER_SGC}, NORM_NONE, false, false},
    {3, {LAYER_MLP, LAYER_APPNP, LAYER_APPNP}, NORM_NONE, false, false},
    {3, {LAYER_MLP, LAYER_SAGE, LAYER_GCN}, NORM_LAYER, true, false},
    {2, {LAYER_IDENTITY, LAYER_GCN}, NORM_NONE, false, false},
};
enum { TRIAL_COUNT = sizeof trials / sizeof *trials };

static const struct sizes all_sizes[] = {{2, {5, 20, 60}, 6, 5, 3, 1},
                                         {2, {4, 11, 30}, 4, 9, 4, 1}};

static void start(struct run *run, const struct layer_list *trial, const struct sizes *sizes)
{
    const struct model_config config = config_of_list(trial, sizes, ACTIVATION_ELU, false);
    run_start_config(run, &config, sizes);
    for (uint64_t i = 0; i < run->model.value_count; i++)
        run->value[i] += 0.013F;
    if (trial->values)
        block_fixture_value_edges(&run->blocks, run->model.hop_count, 3);
}

/* Like run_both(), with the gradient of the input in the arena. */
static const float *run_to_input(struct run *run, struct thread_pool *pool)
{
    struct error err = {0};
    struct model_trace *trace = NULL;
    static const bool wanted[] = {true};
    const struct model_workspace workspace = {&run->arena, pool};
    const struct model_input input = {
        .block = run->blocks.block, .rows = run->blocks.input, .wants_gradient = wanted};
    arena_reset(&run->arena);
    assert_ok(model_forward(&run->model, run->value, &input, &workspace, run->logits, &trace, &err),
              &err);
    assert_ok(
        model_backward(&run->model, run->value, trace, run->slope, &workspace, run->gradient, &err),
        &err);
    return model_input_gradient(trace, 0);
}

static void check_input(struct run *run, const float *gradient, const char *what)
{
    const uint32_t dim = run->model.config.input_dim;
    const uint32_t sources = run->blocks.block[0].source_count;
    const float step = 0x1p-9F;
    double *value = in_double(run), size = 0;
    for (size_t i = 0; i < (size_t)sources * dim; i++)
        size = fmax(size, fabs((double)gradient[i]));
    assert_true(size > 0);
    for (uint32_t row = 0; row < sources; row++)
        for (uint32_t c = 0; c < dim; c++) {
            float *x =
                run->blocks.feature + run->blocks.row_index[row] * run->blocks.input.stride + c;
            const float kept = *x;
            *x = kept + step;
            const double above = reference_scalar(run, value, NULL), to = (double)*x;
            *x = kept - step;
            const double below = reference_scalar(run, value, NULL), from = (double)*x;
            *x = kept;
            const double expected = (above - below) / (to - from);
            if (!(fabs(expected - (double)gradient[row * dim + c]) <= 2e-3 * size + 1e-7))
                fail_msg("%s: row %u column %u is %g, expected %g", what, row, c,
                         (double)gradient[row * dim + c], expected);
        }
    memory_free(value);
}

static void agrees_with_central_differences(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++)
        for (size_t s = 0; s < sizeof all_sizes / sizeof *all_sizes; s++) {
            struct run run;
            start(&run, &trials[t], &all_sizes[s]);
            check_input(&run, run_to_input(&run, NULL), layer_names[trials[t].kind[0]]);
            run_end(&run);
        }
}

static void the_gradient_of_the_weights_stays_the_same(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run run;
        start(&run, &trials[t], &all_sizes[0]);
        const size_t bytes = run.model.value_count * sizeof *run.gradient;
        float *plain = memory_alloc(1, bytes);
        run_both(&run, NULL, NULL);
        memcpy(plain, run.gradient, bytes);
        memset(run.gradient, 0, bytes);
        (void)run_to_input(&run, NULL);
        assert_memory_equal(run.gradient, plain, bytes);
        memory_free(plain);
        run_end(&run);
    }
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static const struct sizes sizes = {2, {700, 2000, 5000}, 12, 10, 5, 1};
    (void)state;
    for (size_t t = 0; t < TRIAL_COUNT; t++) {
        struct run alone, run;
        struct error err = {0};
        struct thread_pool *pool = NULL;
        assert_ok(thread_pool_new(3, &pool, &err), &err);
        start(&alone, &trials[t], &sizes);
        start(&run, &trials[t], &sizes);
        const float *one = run_to_input(&alone, NULL), *three = run_to_input(&run, pool);
        assert_memory_equal(one, three,
                            (size_t)alone.blocks.block[0].source_count * sizes.input * sizeof *one);
        run_end(&alone);
        run_end(&run);
        thread_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_central_differences),
        cmocka_unit_test(the_gradient_of_the_weights_stays_the_same),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
