/* Initial weights and two rounds of aggregation, with each store call failing in turn. */
#include "store/backends/memory/memory_backend.h"

#include "tests/stages/fault_walk.h"
#include "tests/stages/small_run.h"

static const char *const settings[] = {"epochs=5", "sample.batch_size=6",
                                       "sample.batches_per_round=3", NULL};

static enum error_code attempt(void *context, struct error *err)
{
    struct small_run *run = context;
    static const struct unit units[] = {{.kind = UNIT_INITIALISE},
                                        {.kind = UNIT_AGGREGATE, .round = 0},
                                        {.kind = UNIT_AGGREGATE, .round = 1}};
    void *state = NULL;
    enum error_code rc = stage.open(&run->context, &state, err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof units / sizeof *units; i++)
        rc = stage.work(&run->context, state, &units[i], err);
    stage.close(state);
    return rc;
}

static void undo(void *context)
{
    struct small_run *run = context;
    for (int64_t version = 0; version <= 2; version++) {
        assert_ok(store_remove(run->store, key_weights(SMALL_RUN_ID, version).text, &run->err),
                  &run->err);
        assert_ok(
            store_remove(run->store, key_optimizer_state(SMALL_RUN_ID, version).text, &run->err),
            &run->err);
    }
}

static void whichever_store_call_fails_rounds_end_alike(void **state)
{
    struct small_run run;
    (void)state;
    struct store *store = store_faults_open(&memory_backend, "aggregate");
    small_run_init(&run, store, 20, 4, settings);
    for (int64_t round = 0; round < 2; round++)
        small_run_put_gradients(&run, round);
    const struct fault_walk walk = {
        .context = &run, .store = store, .prefix = "run", .attempt = attempt, .undo = undo};
    fault_walk_all(&walk);
    store_close(store);
    memory_store_forget("aggregate");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whichever_store_call_fails_rounds_end_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
