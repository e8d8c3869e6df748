/*
 * Units of infer whose n-th store call fails, for every n: a part of the first layer, a part of
 * the second layer, the outputs.
 */
#define INFER_RUN_WITH_STAGE
#include "common/base/log.h"
#include "store/backends/directory/directory.h"

#include "tests/stages/fault_walk.h"
#include "tests/stages/infer/infer_run.h"

struct scene {
    struct infer_run *run;
    enum unit_kind kind;
    int layer;
};

/* Runs the unit as a worker that has just started, so all inputs are opened too. */
static enum error_code attempt(void *context, struct error *err)
{
    const struct scene *scene = context;
    struct infer_run *run = scene->run;
    enum error_code rc = stage.open(&run->context, &run->state, &run->err);
    if (rc == ERROR_NONE)
        rc = infer_run_work(run, scene->kind, scene->layer, 0);
    stage.close(run->state);
    run->state = NULL;
    *err = run->err;
    return rc;
}

static void remove_made(void *context)
{
    const struct scene *scene = context;
    struct infer_run *run = scene->run;
    struct store *store = run->temp->store;
    const int64_t version = infer_run_version(run);
    const struct key keys[4] = {key_infer(INFER_RUN_ID, version, scene->layer, 0, "shard"),
                                key_infer(INFER_RUN_ID, version, scene->layer, 0, "shard_seal"),
                                key_outputs(INFER_RUN_ID, version, ""), infer_run_seal(run)};
    const int from = scene->kind == UNIT_OUTPUTS ? 2 : 0;
    for (int i = from; i < from + 2; i++)
        assert_ok(store_remove(store, keys[i].text, &run->err), &run->err);
}

static void whichever_store_call_fails_layers_and_outputs_end_alike(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){.near = true});
    static const struct scene scenes[] = {
        {NULL, UNIT_INFER, 1}, {NULL, UNIT_INFER, 2}, {NULL, UNIT_OUTPUTS, 0}};
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    for (int layer = 1; layer <= 2; layer++)
        for (int part = 0; part < INFER_PARTS; part++)
            assert_ok(infer_run_work(run, UNIT_INFER, layer, part), &run->err);
    stage.close(run->state);
    run->state = NULL;
    run->context.store = store_faults_open(&directory_backend, store_root(run->temp->store));
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        struct scene scene = scenes[i];
        scene.run = run;
        const struct fault_walk walk = {.context = &scene,
                                        .store = run->context.store,
                                        .prefix = "run",
                                        .attempt = attempt,
                                        .undo = remove_made};
        fault_walk_some(&walk, 1, scene.kind == UNIT_OUTPUTS ? 2 : 1); /* RocksDB is slow */
    }
    store_close(run->context.store);
    infer_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(whichever_store_call_fails_layers_and_outputs_end_alike),
    };
    log_open("test", LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
