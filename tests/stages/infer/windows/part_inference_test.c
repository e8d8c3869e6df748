/*
 * Inference layer by layer over several parts, compared with the model over the whole graph.
 */
#include "common/base/stop_signal.h"
#include "stages/infer/windows/part_inference.h"

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

/* The error names the block that the window read, and no part of the output is stored. */
static void damage_in_a_window_is_named(void **state)
{
    static const char *const models[] = {"gin", "sage"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct infer_run *run = infer_run_new(temp, &(struct infer_case){.model = models[m]});
        struct infer_layer l;
        bool found = true;
        const struct infer_conditions how = {.input_bytes = 300000, .windows_bytes = 350000};
        infer_layer_open(&l, run, 1, &how);
        infer_layer_open_parts(&l, &how);
        shard_damage_largest_table(run->temp->store, key_part(INFER_PARTITION_ID, 1, "shard"));
        assert_fails(infer_layer_run(&l, run->weights.value, 3), ERROR_CORRUPT,
                     "part/0000000001/shard", &run->err);
        assert_non_null(strstr(run->err.message, "features"));
        assert_ok(store_has(run->temp->store, key_infer(INFER_RUN_ID, 5, 1, 3, "shard").text,
                            &found, &run->err),
                  &run->err);
        assert_false(found);
        infer_layer_close(&l);
        infer_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

static void other_weights_are_another_output(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    struct infer_layer l;
    infer_all_layers(run, &plenty);
    infer_layer_open(&l, run, 1, &plenty);
    infer_layer_open_parts(&l, &plenty);
    assert_fails(infer_layer_run(&l, run->weights.best_value, 0), ERROR_CORRUPT, "infer",
                 &run->err);
    infer_layer_close(&l);
    infer_run_close(run);
}

static void a_stop_or_a_small_budget_leaves_nothing(void **state)
{
    const struct infer_conditions little = {.value_bytes = 4096, .input_bytes = 1ULL << 30};
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    bool found = true;
    struct infer_layer l;
    infer_layer_open(&l, run, 1, &little);
    infer_layer_open_parts(&l, &little);
    stop_signal_set(true);
    assert_fails(infer_layer_run(&l, run->weights.value, 0), ERROR_UNAVAILABLE, "stopped",
                 &run->err);
    stop_signal_set(false);
    assert_fails(infer_layer_run(&l, run->weights.value, 0), ERROR_NO_MEMORY, "budget of 4096",
                 &run->err);
    assert_ok(store_has(run->temp->store, key_infer(INFER_RUN_ID, 5, 1, 0, "shard").text, &found,
                        &run->err),
              &run->err);
    assert_false(found);
    infer_layer_close(&l);
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
