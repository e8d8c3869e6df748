/*
 * Models over relations, layer by layer and type by type over several parts, compared with the
 * model over the whole graph.
 */
#include "tests/stages/infer/typed_trials.h"
#include "tests/support/shard_damage.h"

static void assert_logits(struct typed_run *run, const struct typed_trial *trial)
{
    const uint32_t classes = run->book.class_count;
    float *expected = typed_run_expected(run, run->weights.value, trial->by_weights);
    float *found = typed_run_layer(run, run->model.config.layer_count, TYPED_PAPER, classes);
    double largest = 0;
    assert_non_null(found);
    for (size_t i = 0; i < (size_t)typed_run_count[TYPED_PAPER] * classes; i++)
        largest = fmax(largest, fabs((double)expected[i]));
    for (size_t i = 0; i < (size_t)typed_run_count[TYPED_PAPER] * classes; i++)
        if (!(fabs((double)(found[i] - expected[i])) <= 1e-5 * largest))
            fail_msg("%s: logit %zu: expected %.9g, found %.9g", trial->set[0], i,
                     (double)expected[i], (double)found[i]);
    memory_free(expected);
    memory_free(found);
}

static void the_layers_give_the_model_over_all_neighbors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof typed_trials / sizeof *typed_trials; i++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct typed_run *run = typed_trial_new(temp, &typed_trials[i]);
        assert_ok(typed_trial_infer(run, &typed_trials[i], &typed_plenty), &run->err);
        assert_logits(run, &typed_trials[i]);
        typed_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* Budgets for all rows, for all types except authors, and for venues only. Layers that sum in
 * windows have room for some tiles at a time, and then not even for the sums of one. */
static void threads_and_memory_change_no_bit(void **state)
{
    static const struct typed_conditions others[] = {
        {4, 1ULL << 30, 0}, {1, 900000, 0}, {2, 700000, 0}, {3, 450000, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof typed_trials / sizeof *typed_trials; i += 2) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct typed_run *run = typed_trial_new(temp, &typed_trials[i]);
        assert_ok(typed_trial_infer(run, &typed_trials[i], &typed_plenty), &run->err);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            assert_ok(typed_trial_infer(run, &typed_trials[i], &others[k]), &run->err);
        assert_fails(
            typed_trial_infer(run, &typed_trials[i], &(struct typed_conditions){1, 100000, 0}),
            ERROR_NO_MEMORY, "give more --memory", &run->err);
        typed_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* The first layer of GAT sums the rows of relations in windows (typed_windows_test). */
static void attention_in_windows_changes_no_bit(void **state)
{
    static const struct typed_conditions others[] = {{1, 900000, 2000000}, {3, 1000000, 4000000}};
    static const struct typed_trial gats[] = {
        {{"train-step.model=gat", "train-step.heads=1", "train-step.hidden=256",
          "train-step.projection=none"},
         false},
        {{"train-step.model=gat", "train-step.heads=2", "train-step.hidden=512",
          "train-step.projection=none", "train-step.relation_aggr=mean",
          "train-step.edge_features=false"},
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof gats / sizeof *gats; i++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct typed_run *run = typed_trial_new(temp, &gats[i]);
        assert_ok(typed_trial_infer(run, &gats[i], &typed_plenty), &run->err);
        assert_logits(run, &gats[i]);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            assert_ok(typed_trial_infer(run, &gats[i], &others[k]), &run->err);
        typed_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* Below the last layer, rows of all types that papers hear from are computed; in the last layer,
 * only papers. If the last layer is a matrix, the layer below also computes only papers. */
static void only_what_the_logits_need_is_computed(void **state)
{
    static const struct typed_trial some[] = {
        {{"train-step.model=rgcn", "sample.fanouts=2,2,2"}, false},
        {{"train-step.model=hgt", "train-step.heads=1"}, false},
    };
    static const int papers_alone[] = {3, 2}; /* first layer that computes papers only */
    (void)state;
    for (int i = 0; i < 2; i++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct typed_run *run = typed_trial_new(temp, &some[i]);
        assert_ok(typed_trial_infer(run, &some[i], &typed_plenty), &run->err);
        for (int layer = 1; layer <= 3; layer++)
            for (uint32_t type = 0; type < TYPED_RUN_TYPES; type++) {
                float *rows = typed_run_layer(run, layer, type, layer == 3 ? 3 : 32);
                assert_int_equal(rows != NULL, layer < papers_alone[i] || type == TYPED_PAPER);
                memory_free(rows);
            }
        typed_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* The error names the type whose row is damaged, and no part of the output is stored. */
static void damage_in_a_tile_is_named(void **state)
{
    struct typed_run *run = typed_trial_new(*state, &typed_trials[0]);
    bool found = true;
    shard_damage_largest_table(run->temp->store,
                               key_part_type(run->book.id, 1, TYPED_AUTHOR, "shard"));
    assert_fails(typed_trial_infer(run, &typed_trials[0], &(struct typed_conditions){1, 450000, 0}),
                 ERROR_CORRUPT, "rows of type author", &run->err);
    assert_ok(store_has(run->temp->store, key_infer(INFER_RUN_ID, 5, 1, 2, "shard_seal").text,
                        &found, &run->err),
              &run->err);
    assert_false(found);
    typed_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layers_give_the_model_over_all_neighbors),
        cmocka_unit_test(threads_and_memory_change_no_bit),
        cmocka_unit_test(attention_in_windows_changes_no_bit),
        cmocka_unit_test(only_what_the_logits_need_is_computed),
        test_with_store(damage_in_a_tile_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
