/* Layer by layer over several parts, against the model over the whole graph at once. */
#include "common/base/stop_signal.h"
#include "stages/infer/part_inference.h"

#include "tests/stages/infer/infer_layers.h"
#include "tests/support/shard_damage.h"

static void the_layers_give_the_model_over_all_neighbors(void **state)
{
    static const char *const models[] = {"sage", "gcn"}, *const fanouts[] = {"4", "4, 4",
                                                                             "3, 3, 3"};
    (void)state;
    for (int m = 0; m < 4; m++)
        for (int layers = 1; layers <= 3; layers++) {
            void *temp = NULL;
            const struct infer_case what = {
                .model = models[m % 2], .fanouts = fanouts[layers - 1], .weighted = m >= 2};
            assert_int_equal(temp_store_setup(&temp), 0);
            struct infer_run *run = infer_run_new(temp, &what);
            assert_int_equal(run->model.config.layer_count, layers);
            infer_all_layers(run, &plenty);
            double *expected = infer_run_reference(run, run->weights.value);
            float *found = infer_run_layer(run, 5, layers, 3);
            infer_run_assert_close(found, expected, (size_t)INFER_NODES * 3,
                                   m % 2 == 0 ? 5e-6 : 2e-4);
            memory_free(expected);
            memory_free(found);
            infer_run_close(run);
            assert_int_equal(temp_store_teardown(&temp), 0);
        }
}

static void threads_and_memory_change_no_bit(void **state)
{
    static const char *const models[] = {"sage", "gcn"};
    static const struct infer_conditions others[] = {
        {.threads = 2, .input_bytes = 1ULL << 30},
        {.threads = 4, .input_bytes = 1ULL << 30},
        {.threads = 1, .input_bytes = 300000},
        {.threads = 3, .input_bytes = 390000},
        {.threads = 4, .input_bytes = 300000, .windows_bytes = 390000},
    };
    (void)state;
    for (int m = 0; m < 2; m++) {
        void *temp = NULL;
        const struct infer_case what = {.model = models[m], .near = true};
        assert_int_equal(temp_store_setup(&temp), 0);
        struct infer_run *run = infer_run_new(temp, &what);
        infer_all_layers(run, &plenty);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            infer_all_layers(run, &others[i]);
        infer_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* The error names the block that the window wanted, and nothing of the part is stored. */
static void damage_in_a_window_is_named(void **state)
{
    static const char *const models[] = {"gin", "sage"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct infer_run *run = infer_run_new(temp, &(struct infer_case){.model = models[m]});
        struct topology topology = {0};
        struct arena arena = {0};
        bool found = true;
        assert_ok(topology_open(run->temp->store, &run->book, &topology, &run->err), &run->err);
        assert_ok(topology_open_parts(&topology, NULL, &run->err), &run->err);
        shard_damage_largest_table(run->temp->store, key_part(INFER_PARTITION_ID, 1, "shard"));
        struct part_inference inference = {.arena = &arena,
                                           .context = &run->context,
                                           .topology = &topology,
                                           .model = &run->model,
                                           .weights = run->weights.value,
                                           .identity = &run->weights.last,
                                           .edge_use = run->edge_use,
                                           .input = open_input(run, 1, 300000)};
        inference.windows = open_windows(run, &topology, 1, inference.input, 350000);
        assert_fails(part_inference_run(&inference, 1, 3, &run->err), ERROR_CORRUPT,
                     "part/0000000001/shard", &run->err);
        assert_non_null(strstr(run->err.message, "features"));
        assert_ok(store_has(run->temp->store, key_infer(INFER_RUN_ID, 5, 1, 3, "shard").text,
                            &found, &run->err),
                  &run->err);
        assert_false(found);
        source_windows_free(inference.windows);
        feature_source_close(inference.input);
        arena_release(&arena);
        topology_close(&topology);
        infer_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* Layer 1 of a part, with all that it takes. */
struct one_part {
    struct topology topology;
    struct arena arena;
    struct part_inference inference;
};

static void one_part_open(struct one_part *one, struct infer_run *run, const float *weights)
{
    *one = (struct one_part){.inference = {.arena = &one->arena,
                                           .context = &run->context,
                                           .topology = &one->topology,
                                           .model = &run->model,
                                           .weights = weights,
                                           .identity = &run->weights.last,
                                           .edge_use = run->edge_use,
                                           .input = open_input(run, 1, 1ULL << 30)}};
    const struct neighbor_sampler_config config = {.topology = &one->topology,
                                                   .has_self_loops = true};
    assert_ok(topology_open(run->temp->store, &run->book, &one->topology, &run->err), &run->err);
    assert_ok(topology_open_parts(&one->topology, NULL, &run->err), &run->err);
    assert_ok(neighbor_sampler_new(&config, &one->inference.sampler, &run->err), &run->err);
}

static void one_part_close(struct one_part *one)
{
    neighbor_sampler_free(one->inference.sampler);
    feature_source_close(one->inference.input);
    arena_release(&one->arena);
    topology_close(&one->topology);
}

static void other_weights_are_another_output(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    infer_all_layers(run, &plenty);
    struct one_part one;
    one_part_open(&one, run, run->weights.best_value);
    assert_fails(part_inference_run(&one.inference, 1, 0, &run->err), ERROR_CORRUPT, "infer",
                 &run->err);
    one_part_close(&one);
    infer_run_close(run);
}

static void a_stop_or_a_small_budget_leaves_nothing(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    bool found = true;
    struct one_part one;
    one_part_open(&one, run, run->weights.value);
    stop_signal_set(true);
    assert_fails(part_inference_run(&one.inference, 1, 0, &run->err), ERROR_UNAVAILABLE, "stopped",
                 &run->err);
    stop_signal_set(false);
    one.arena.limit = 4096;
    assert_fails(part_inference_run(&one.inference, 1, 0, &run->err), ERROR_NO_MEMORY,
                 "budget of 4096", &run->err);
    assert_ok(store_has(run->temp->store, key_infer(INFER_RUN_ID, 5, 1, 0, "shard").text, &found,
                        &run->err),
              &run->err);
    assert_false(found);
    one_part_close(&one);
    infer_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layers_give_the_model_over_all_neighbors),
        cmocka_unit_test(threads_and_memory_change_no_bit),
        cmocka_unit_test(damage_in_a_window_is_named),
        test_with_store(other_weights_are_another_output),
        test_with_store(a_stop_or_a_small_budget_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
