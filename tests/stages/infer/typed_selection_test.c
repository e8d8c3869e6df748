/*
 * Models over relations for some nodes from their neighbourhood, compared with an inference of all
 * nodes.
 */
#include "stages/infer/rows/selected_inference.h"

#include "tests/stages/infer/typed_trials.h"
#include "tests/support/shard_damage.h"

enum { WANTED = 5 };
/* Papers of all parts; one is the last of its part. */
static const uint32_t wanted[WANTED] = {1899, 17, 3499, 1950, 700};

static enum error_code select_papers(struct typed_run *run, const struct typed_trial *trial,
                                     uint64_t budget_bytes, struct selected_rows *rows)
{
    struct topology topology = {0};
    uint32_t node[WANTED];
    for (int i = 0; i < WANTED; i++)
        node[i] = typed_run_pid(run, TYPED_PAPER, wanted[i]);
    assert_ok(topology_open(run->temp->store, &run->book, &topology, &run->err), &run->err);
    const struct selection_config config = {.tiles = typed_trial_tiles(run, trial, &topology),
                                            .weights = run->weights.value,
                                            .budget_bytes = budget_bytes,
                                            .node = node,
                                            .count = WANTED};
    const enum error_code rc = selected_inference_run(&config, rows, &run->err);
    inference_tiles_free(config.tiles);
    topology_close(&topology);
    return rc;
}

static void some_nodes_have_the_bits_of_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof typed_trials / sizeof *typed_trials; i++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct typed_run *run = typed_trial_new(temp, &typed_trials[i]);
        struct selected_rows rows = {0};
        assert_ok(typed_trial_infer(run, &typed_trials[i], &typed_plenty), &run->err);
        assert_ok(select_papers(run, &typed_trials[i], 0, &rows), &run->err);
        for (int layer = run->model.config.layer_count; layer > 0; layer--) {
            const size_t dim = model_layer_output_dim(&run->model, layer - 1);
            float *all = typed_run_layer(run, layer, TYPED_PAPER, (uint32_t)dim);
            assert_non_null(all);
            for (size_t k = 0; k < WANTED; k++)
                assert_memory_equal(rows.row[layer] + k * dim, all + wanted[k] * dim,
                                    dim * sizeof *all);
            memory_free(all);
        }
        selected_rows_release(&rows);
        typed_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

static void a_neighborhood_that_does_not_fit_is_refused(void **state)
{
    struct typed_run *run = typed_trial_new(*state, &typed_trials[0]);
    struct selected_rows rows = {0};
    assert_fails(select_papers(run, &typed_trials[0], 100000, &rows), ERROR_NO_MEMORY,
                 "the neighbourhood of 5 nodes is", &run->err);
    assert_null(rows.row[0]);
    shard_damage_largest_table(run->temp->store,
                               key_part_type(run->book.id, 1, TYPED_PAPER, "shard"));
    assert_fails(select_papers(run, &typed_trials[0], 0, &rows), ERROR_CORRUPT, "shard", &run->err);
    assert_null(rows.row[0]);
    typed_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_nodes_have_the_bits_of_all),
        test_with_store(a_neighborhood_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
