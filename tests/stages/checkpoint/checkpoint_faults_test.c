/* A checkpoint, and the pruning after it, with each store call failing in turn. */
#include "store/backends/memory/memory_backend.h"

#include "tests/stages/fault_walk.h"
#include "tests/stages/small_run.h"

static const char *const settings[] = {"epochs=6",
                                       "sample.batch_size=6",
                                       "sample.batches_per_round=3",
                                       "sample.evaluation_batch_size=2",
                                       "checkpoint.keep=0",
                                       NULL};

static enum error_code attempt(void *context, struct error *err)
{
    struct small_run *run = context;
    const struct unit unit = {.kind = UNIT_CHECKPOINT, .round = 2};
    void *state = NULL;
    enum error_code rc = stage.open(&run->context, &state, err);
    if (rc == ERROR_NONE)
        rc = stage.work(&run->context, state, &unit, err);
    stage.close(state);
    return rc;
}

static void undo(void *context)
{
    struct small_run *run = context;
    assert_ok(store_remove(run->store, key_snapshot(SMALL_RUN_ID, 2).text, &run->err), &run->err);
    assert_ok(
        store_switch_remove(run->store, key_run(SMALL_RUN_ID, "current_snapshot").text, &run->err),
        &run->err);
}

static void whichever_store_call_fails_the_snapshot_ends_alike(void **state)
{
    struct small_run run;
    (void)state;
    struct store *store = store_faults_open(&memory_backend, "checkpoint");
    small_run_init(&run, store, 20, 4, settings);
    small_run_put_version(&run, 0);
    for (int64_t v = 1; v <= 2; v++) {
        small_run_put_mini_batches(&run, v - 1);
        small_run_put_gradients(&run, v - 1);
        small_run_put_version(&run, v);
    }
    small_run_put_evaluations(&run, 2, 3);
    const struct fault_walk walk = {
        .context = &run, .store = store, .prefix = "run", .attempt = attempt, .undo = undo};
    fault_walk_all(&walk);
    store_close(store);
    memory_store_forget("checkpoint");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whichever_store_call_fails_the_snapshot_ends_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
