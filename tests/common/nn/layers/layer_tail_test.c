/* The tail of a layer equals slow references, and gives the same bits for any number of threads. */
#include "tests/common/nn/model_run.h"

#include <stdio.h>

/* Sizes around the tile of 512 rows. Heads divide the hidden width. */
static const struct sizes all_sizes[] = {
    {2, {5, 20, 60}, 6, 4, 3, 2},
    {3, {4, 9, 25, 70}, 5, 6, 5, 3},
    {2, {2, 513, 900}, 4, 2, 2, 1},
};

/* Returns a model with another kind for each layer; `turn` selects activation, norm and residual in
 * turn. */
static struct model_config mixed_config(const struct sizes *sizes, int turn, float dropout)
{
    struct model_config config = config_of_sizes(LAYER_SAGE, sizes, dropout);
    for (int i = 0; i < config.layer_count; i++) {
        config.layer[i].kind = (enum layer_kind)((turn + i) % LAYER_GAT);
        config.layer[i].residual = (turn / 2 + i) % 2;
        if (i == config.layer_count - 1)
            continue;
        config.layer[i].activation = (enum activation_kind)((turn + i) % ACTIVATION_KIND_COUNT);
        config.layer[i].norm = (enum norm_kind)((turn + i) % NORM_KIND_COUNT);
    }
    return config;
}

static void check_all(float dropout)
{
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    const struct random_stream *draws = dropout > 0 ? &stream : NULL;
    for (int turn = 0; turn < 12; turn++)
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

/* Returns a model of GIN with each norm and activation, which then also stand between the two
 * matrices of all layers. */
static struct model_config inner_config(const struct sizes *sizes, enum norm_kind norm,
                                        enum activation_kind activation)
{
    struct error err = {0};
    struct model_config config;
    const struct model_outline outline = {.layer = {.kind = LAYER_GIN,
                                                    .output_dim = sizes->hidden,
                                                    .option = {.train_eps = true},
                                                    .norm = norm,
                                                    .activation = activation},
                                          .hop_count = sizes->layer_count,
                                          .input_dim = sizes->input,
                                          .output_dim = sizes->output};
    assert_ok(model_config_of(&config, &outline, &err), &err);
    return config;
}

static void norms_and_activations_inside_gin_agree_with_the_reference(void **state)
{
    (void)state;
    for (int turn = 0; turn < NORM_KIND_COUNT * ACTIVATION_KIND_COUNT; turn++) {
        /* one of them on more rows than a tile has */
        const size_t count = turn == NORM_BATCH ? sizeof all_sizes / sizeof *all_sizes : 1;
        for (size_t i = 0; i < count; i++) {
            struct run run;
            const struct model_config config =
                inner_config(&all_sizes[i], (enum norm_kind)(turn % NORM_KIND_COUNT),
                             (enum activation_kind)(turn / NORM_KIND_COUNT));
            run_start_config(&run, &config, &all_sizes[i]);
            run_both(&run, NULL, NULL);
            check_logits(&run, NULL);
            check_gradient(&run, NULL);
            run_end(&run);
        }
    }
}

static bool has_tensor(const struct model *model, const char *name)
{
    for (int i = 0; i < model->parameter_count; i++)
        if (strcmp(model->parameter[i].name, name) == 0)
            return true;
    return false;
}

/* The expected names are those of PyG's GIN(6, 4, 2, 3, norm="batch_norm").state_dict(). */
static void gin_has_the_tensors_of_pyg(void **state)
{
    static const char *const inner[] = {"weight", "bias", "running_mean", "running_var",
                                        "num_batches_tracked"};
    struct model_config config = inner_config(&all_sizes[0], NORM_BATCH, ACTIVATION_ELU);
    struct error err = {0};
    struct model model;
    (void)state;
    assert_ok(model_init(&model, &config, &err), &err);
    assert_int_equal(model.parameter_count, 2 * (5 + 5) + 5);
    for (int i = 0; i < 10; i++) {
        char name[PARAMETER_NAME_SIZE];
        (void)snprintf(name, sizeof name, "convs.%d.nn.norms.0.module.%s", i / 5, inner[i % 5]);
        assert_true(has_tensor(&model, name));
    }
    config = inner_config(&all_sizes[0], NORM_LAYER, ACTIVATION_RELU);
    assert_ok(model_init(&model, &config, &err), &err);
    assert_true(has_tensor(&model, "convs.1.nn.norms.0.weight"));
    /* as in models made before that option existed */
    config.layer[0].option.inner = LAYER_INNER_RELU;
    layer_config_set_inner(&config.layer[0], NORM_LAYER, ACTIVATION_ELU);
    assert_ok(model_init(&model, &config, &err), &err);
    assert_false(has_tensor(&model, "convs.0.nn.norms.0.weight"));
    assert_int_equal(model.layer[0].config.inner_activation, ACTIVATION_RELU);
}

/* Returns a model of hop_count layers of a kind, with the matrix behind them. */
static struct model_config jumping_config(const struct sizes *sizes, enum layer_kind kind,
                                          enum jumping_knowledge jump, bool residual)
{
    struct error err = {0};
    struct model_config config;
    const struct model_outline outline = {.layer.kind = kind,
                                          .hop_count = sizes->layer_count,
                                          .input_dim = sizes->input,
                                          .layer.output_dim = sizes->hidden,
                                          .output_dim = sizes->output,
                                          .layer.option = {.heads = sizes->heads},
                                          .jumping_knowledge = jump,
                                          .layer.residual = residual,
                                          .layer.dropout = 0.4};
    assert_ok(model_config_of(&config, &outline, &err), &err);
    assert_int_equal(config.layer_count, sizes->layer_count + 1);
    return config;
}

static void jumping_knowledge_agrees_with_the_reference_and_central_differences(void **state)
{
    static const enum layer_kind kinds[] = {LAYER_SAGE, LAYER_GCN, LAYER_GAT};
    const struct random_stream stream = random_stream_of(99, RANDOM_DROPOUT, 4, 0, 2);
    (void)state;
    for (int turn = 0; turn < 9; turn++)
        for (size_t i = 0; i < sizeof all_sizes / sizeof *all_sizes; i++) {
            struct run run;
            const struct model_config config =
                jumping_config(&all_sizes[i], kinds[turn % 3],
                               (enum jumping_knowledge)(JUMP_LAST + turn / 3), turn % 2);
            run_start_config(&run, &config, &all_sizes[i]);
            assert_string_equal(run.model.parameter[run.model.parameter_count - 2].name,
                                "lin.weight");
            /* With biases of 0, a row of which dropout leaves nothing would give 0, where ReLU has
             * no slope. */
            for (uint64_t v = 0; v < run.model.trained_count; v++)
                run.value[v] += 0.01F;
            run_both(&run, turn % 2 ? &stream : NULL, NULL);
            check_logits(&run, turn % 2 ? &stream : NULL);
            check_gradient(&run, turn % 2 ? &stream : NULL);
            run_end(&run);
        }
}

static void what_cannot_jump_is_refused(void **state)
{
    static const struct sizes sizes = {3, {4, 9, 25, 70}, 5, 6, 5, 3};
    struct model_config config = jumping_config(&sizes, LAYER_SAGE, JUMP_MAX, false);
    const struct model_outline listed = {.layer.kind = LAYER_MLP,
                                         .input_dim = 3,
                                         .layer.output_dim = 3,
                                         .output_dim = 3,
                                         .jumping_knowledge = JUMP_CAT};
    struct error err = {0};
    struct model model;
    (void)state;
    config.layer[1].output_dim = 7;
    assert_fails(model_init(&model, &config, &err), ERROR_INVALID,
                 "layer 2 of the model (sage): its width is 7 and that of the first layer 6", &err);
    assert_fails(model_init_outline(&model, &listed, &err), ERROR_INVALID,
                 "jumping_knowledge is cat, which models of kind mlp do not have", &err);
}

static void dropout_behind_any_activation_goes_through_both_alike(void **state)
{
    (void)state;
    check_all(0.4F);
}

static void check_evaluation(const struct model_config *config, const struct sizes *sizes)
{
    struct error err = {0};
    struct run run;
    run_start_config(&run, config, sizes);
    for (uint64_t i = run.model.trained_count; i < run.model.value_count; i++)
        run.value[i] = 0.5F + 0.1F * (float)(i % 7);
    const struct model_workspace workspace = {.arena = &run.arena};
    const struct model_input input = {.block = run.blocks.block, .rows = run.blocks.input};
    assert_ok(model_forward(&run.model, run.value, &input, &workspace, run.logits, NULL, &err),
              &err);
    double *value = in_double(&run);
    double *logits =
        model_reference_logits(&run.model, value, run.blocks.block, &run.blocks.input, NULL, false);
    for (size_t i = 0; i < run.logit_count; i++)
        assert_true(fabs((double)run.logits[i] - logits[i]) <= 1e-4 * (1 + fabs(logits[i])));
    memory_free(logits);
    memory_free(value);
    run_end(&run);
}

/* Batch norms use the stored statistics if there is no backward pass. */
static void evaluation_goes_by_the_running_statistics(void **state)
{
    static const struct sizes sizes = {3, {40, 90, 600, 900}, 6, 4, 3, 2};
    struct model_config config = mixed_config(&sizes, 1, 0.5F);
    const struct model_config inner = inner_config(&sizes, NORM_BATCH, ACTIVATION_RELU);
    (void)state;
    config.layer[0].norm = config.layer[1].norm = NORM_BATCH;
    check_evaluation(&config, &sizes);
    check_evaluation(&inner, &sizes);
}

/* The places of the gradients of running statistics receive the statistics of the batch. */
static void backward_tells_the_statistics_of_the_batch(void **state)
{
    static const struct sizes sizes = {2, {3, 700, 900}, 6, 4, 3, 2};
    struct model_config config = config_of_sizes(LAYER_SAGE, &sizes, 0);
    struct run run;
    (void)state;
    config.layer[0].norm = NORM_BATCH;
    run_start_config(&run, &config, &sizes);
    run_both(&run, NULL, NULL);
    const float *buffer = run.gradient + run.model.trained_count;
    assert_float_equal(buffer[8], 700, 0);
    /* With these as running statistics, evaluation gives the results of training. */
    for (int i = 0; i < 8; i++)
        run.value[run.model.trained_count + (uint64_t)i] = buffer[i];
    float *kept = memory_alloc(run.logit_count, sizeof *kept);
    memcpy(kept, run.logits, run.logit_count * sizeof *kept);
    struct error err = {0};
    const struct model_workspace workspace = {.arena = &run.arena};
    const struct model_input input = {.block = run.blocks.block, .rows = run.blocks.input};
    assert_ok(model_forward(&run.model, run.value, &input, &workspace, run.logits, NULL, &err),
              &err);
    for (size_t i = 0; i < run.logit_count; i++)
        assert_float_equal(run.logits[i], kept[i], 1e-5);
    memory_free(kept);
    run_end(&run);
}

static void a_batch_of_one_row_goes_by_the_running_statistics(void **state)
{
    static const struct sizes sizes = {2, {1, 1, 9}, 6, 4, 3, 2};
    struct model_config config = config_of_sizes(LAYER_SAGE, &sizes, 0);
    struct run run;
    (void)state;
    config.layer[0].norm = NORM_BATCH;
    run_start_config(&run, &config, &sizes);
    run_both(&run, NULL, NULL);
    check_logits(&run, NULL);
    check_gradient(&run, NULL);
    assert_float_equal(run.gradient[run.model.trained_count + 8], 0, 0);
    run_end(&run);
}

static void check_threads(const struct model_config *config, const struct sizes *sizes)
{
    static const int threads[] = {1, 2, 4, 33, 64};
    const struct random_stream stream = random_stream_of(3, RANDOM_DROPOUT, 1, 0, 0);
    struct run alone;
    run_start_config(&alone, config, sizes);
    run_both(&alone, &stream, NULL);
    for (int t = 0; t < 5; t++) {
        struct error err = {0};
        struct thread_pool *pool = NULL;
        struct run run;
        assert_ok(thread_pool_new(threads[t], &pool, &err), &err);
        run_start_config(&run, config, sizes);
        run_both(&run, &stream, pool);
        assert_memory_equal(run.logits, alone.logits, run.logit_count * sizeof(float));
        assert_memory_equal(run.gradient, alone.gradient, run.model.value_count * sizeof(float));
        run_end(&run);
        thread_pool_free(pool);
    }
    run_end(&alone);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static const struct sizes sizes = {3, {600, 1100, 9000, 12000}, 20, 18, 9, 3};
    const struct model_config config = mixed_config(&sizes, 1, 0.5F);
    const struct model_config inner = inner_config(&sizes, NORM_BATCH, ACTIVATION_RELU);
    (void)state;
    check_threads(&config, &sizes);
    check_threads(&inner, &sizes);
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
    const struct model_config joined = jumping_config(&sizes, LAYER_SAGE, JUMP_MAX, true);
    run_start_config(&run, &joined, &sizes);
    check_memory_refusals(&run);
    run_end(&run);
    const struct model_config inner = inner_config(&sizes, NORM_BATCH, ACTIVATION_RELU);
    run_start_config(&run, &inner, &sizes);
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
    config.layer[0].activation = ACTIVATION_RELU;
    config.layer[0].norm = NORM_LAYER;
    assert_fails(model_init(&model, &config, &err), ERROR_INVALID, "fp32", &err);
    config.layer[1].norm = NORM_BATCH;
    assert_fails(model_init(&model, &config, &err), ERROR_INVALID,
                 "layer 2 of the model (sage): its output are the logits", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_agree_with_the_reference_and_central_differences),
        cmocka_unit_test(dropout_behind_any_activation_goes_through_both_alike),
        cmocka_unit_test(jumping_knowledge_agrees_with_the_reference_and_central_differences),
        cmocka_unit_test(what_cannot_jump_is_refused),
        cmocka_unit_test(norms_and_activations_inside_gin_agree_with_the_reference),
        cmocka_unit_test(gin_has_the_tensors_of_pyg),
        cmocka_unit_test(evaluation_goes_by_the_running_statistics),
        cmocka_unit_test(backward_tells_the_statistics_of_the_batch),
        cmocka_unit_test(a_batch_of_one_row_goes_by_the_running_statistics),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(memory_that_runs_out_is_an_error_at_any_point),
        cmocka_unit_test(a_model_with_a_tail_is_for_fp32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
