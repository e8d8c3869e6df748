/* Models over relations layer by layer and type by type, over several parts, against the model over the whole graph. */
#include "stages/infer/typed_inference.h"

#include "tests/stages/infer/typed_run.h"
#include "tests/support/shard_damage.h"

enum { SETTINGS_MAX = 12 };

struct conditions { /* what must not change a bit */
    int threads;
    uint64_t rows_bytes;
};

static const struct conditions plenty = {1, 1ULL << 30};

/* The settings of a model, with those that all have. */
struct trial {
    const char *set[SETTINGS_MAX];
    bool by_weights;
};

static const struct trial trials[] = {
    {{"train-step.model=rgcn", "train-step.projection=relu"}, false},
    {{"train-step.model=rgcn", "train-step.bases=2", "train-step.norm=layer",
      "train-step.residual=true"},
     false},
    {{"train-step.model=sage", "train-step.relation_aggr=mean"}, true},
    {{"train-step.model=sage", "train-step.aggr=add", "train-step.norm=batch"}, false},
    {{"train-step.model=graph_conv"}, true},
    {{"train-step.model=gat", "train-step.heads=2"}, false},
    {{"train-step.model=rgat", "train-step.heads=2", "train-step.projection=linear"}, false},
    {{"train-step.model=hgt", "train-step.heads=2"}, false},
};

static struct typed_run *new_run(void *temp, const struct trial *trial)
{
    static const char *const common[] = {"ingest.relations=true", "train-step.hidden=32",
                                         "sample.fanouts=3,3", "train-step.projection=linear"};
    const char *settings[SETTINGS_MAX + 5] = {NULL};
    size_t count = 0;
    for (; count < sizeof common / sizeof *common; count++)
        settings[count] = common[count];
    for (int i = 0; i < SETTINGS_MAX && trial->set[i]; i++)
        settings[count++] = trial->set[i];
    return typed_run_new(temp, settings);
}

/* Done again, a part is compared with what is stored, so different bits are an error. */
static enum error_code infer(struct typed_run *run, const struct trial *trial,
                             const struct conditions *how)
{
    struct topology topology = {0};
    struct thread_pool *pool = NULL;
    struct typed_inference *inference = NULL;
    assert_ok(topology_open(run->temp->store, &run->book, &topology, &run->err), &run->err);
    assert_ok(topology_open_parts(&topology, NULL, &run->err), &run->err);
    assert_ok(thread_pool_new(how->threads, &pool, &run->err), &run->err);
    run->context.pool = pool;
    const struct typed_inference_config config = {.context = &run->context,
                                                  .topology = &topology,
                                                  .model = &run->model,
                                                  .edge_columns =
                                                      trial->by_weights ? 1U << EDGE_WEIGHT : 0,
                                                  .rows_bytes = how->rows_bytes,
                                                  .neighbor_bytes = 1ULL << 30,
                                                  .value_bytes = 1ULL << 30};
    enum error_code rc = typed_inference_new(&config, &inference, &run->err);
    for (int layer = 1; rc == ERROR_NONE && layer <= run->model.config.layer_count; layer++)
        for (int part = TYPED_RUN_PARTS - 1; rc == ERROR_NONE && part >= 0; part--)
            rc = typed_inference_run(inference, run->weights.value, &run->weights.last, layer, part,
                                     &run->err);
    typed_inference_free(inference);
    run->context.pool = NULL;
    thread_pool_free(pool);
    topology_close(&topology);
    return rc;
}

static void assert_logits(struct typed_run *run, const struct trial *trial)
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
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct typed_run *run = new_run(temp, &trials[i]);
        assert_ok(infer(run, &trials[i], &plenty), &run->err);
        assert_logits(run, &trials[i]);
        typed_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* All rows in memory, those of all types but authors, and of venues alone. */
static void threads_and_memory_change_no_bit(void **state)
{
    static const struct conditions others[] = {{4, 1ULL << 30}, {1, 900000}, {3, 450000}};
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i += i < 4 ? 2 : 3) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct typed_run *run = new_run(temp, &trials[i]);
        assert_ok(infer(run, &trials[i], &plenty), &run->err);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            assert_ok(infer(run, &trials[i], &others[k]), &run->err);
        assert_fails(infer(run, &trials[i], &(struct conditions){1, 100000}), ERROR_NO_MEMORY,
                     "give more --memory", &run->err);
        typed_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* Below the last layer rows of all types that papers hear from, in it those of papers; behind a last layer that is a matrix
 * those of papers in the layer below, too. */
static void only_what_the_logits_need_is_computed(void **state)
{
    static const struct trial some[] = {
        {{"train-step.model=rgcn", "sample.fanouts=2,2,2"}, false},
        {{"train-step.model=hgt", "train-step.heads=1"}, false},
    };
    static const int papers_alone[] = {3, 2}; /* from this layer on */
    (void)state;
    for (int i = 0; i < 2; i++) {
        void *temp = NULL;
        assert_int_equal(temp_store_setup(&temp), 0);
        struct typed_run *run = new_run(temp, &some[i]);
        assert_ok(infer(run, &some[i], &plenty), &run->err);
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

/* The error names the type whose row is damaged, and nothing of the part is stored. */
static void damage_in_a_tile_is_named(void **state)
{
    struct typed_run *run = new_run(*state, &trials[0]);
    bool found = true;
    shard_damage_largest_table(run->temp->store,
                               key_part_type(run->book.id, 1, TYPED_AUTHOR, "shard"));
    assert_fails(infer(run, &trials[0], &(struct conditions){1, 450000}), ERROR_CORRUPT,
                 "rows of type author", &run->err);
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
        cmocka_unit_test(only_what_the_logits_need_is_computed),
        test_with_store(damage_in_a_tile_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
