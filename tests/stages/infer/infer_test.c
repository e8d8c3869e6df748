/*
 * Units of infer as the stage loop runs them, up to the sealed outputs.
 */
#define INFER_RUN_WITH_STAGE
#include "store/open/artifact_kinds.h"
#include "store/records/round/outputs_seal.h"
#include "store/records/round/shard_seal.h"

#include "tests/stages/infer/infer_run.h"

/* Runs all units. Parts are in an unusual order: the units of a layer may run in any order. */
static void infer_everything(struct infer_run *run)
{
    static const int order[INFER_PARTS] = {2, 0, 3, 1};
    if (!run->state)
        assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    for (int layer = 1; layer <= run->model.config.layer_count; layer++)
        for (int i = 0; i < INFER_PARTS; i++)
            assert_ok(infer_run_work(run, UNIT_INFER, layer, order[i]), &run->err);
    assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0), &run->err);
}

static void start_again(struct infer_run *run, int threads, uint64_t memory_bytes)
{
    stage.close(run->state);
    run->state = NULL;
    thread_pool_free(run->context.pool);
    assert_ok(thread_pool_new(threads, &run->context.pool, &run->err), &run->err);
    run->context.memory_bytes = memory_bytes;
}

static void read_seal(struct infer_run *run, struct outputs_seal *seal, char folder[FILE_PATH_SIZE])
{
    assert_ok(
        outputs_seal_get(run->temp->store, infer_run_seal(run).text, INFER_RUN_ID, seal, &run->err),
        &run->err);
    assert_ok(store_artifact(run->temp->store,
                             key_outputs(INFER_RUN_ID, infer_run_version(run), "").text, folder,
                             &run->err),
              &run->err);
}

static void the_best_weights_are_used_unless_told_otherwise(void **state)
{
    static const char *const choices[] = {"best", "last"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        void *temp = NULL;
        static struct outputs_seal seal;
        char folder[FILE_PATH_SIZE];
        assert_int_equal(temp_store_setup(&temp), 0);
        struct infer_run *run = infer_run_new(temp, &(struct infer_case){0});
        infer_run_set(run, "infer.weights", choices[i]);
        infer_everything(run);
        read_seal(run, &seal, folder);
        assert_int_equal(infer_run_version(run), i == 0 ? 3 : 5);
        assert_ok(weights_identity_check(i == 0 ? &run->weights.best : &run->weights.last,
                                         &seal.weights, "the seal", &run->err),
                  &run->err);
        double *expected =
            infer_run_reference(run, i == 0 ? run->weights.best_value : run->weights.value);
        float *found = infer_run_layer(run, infer_run_version(run), 2, 3);
        infer_run_assert_close(found, expected, (size_t)INFER_NODES * 3, 5e-6);
        memory_free(expected);
        memory_free(found);
        infer_run_close(run);
        assert_int_equal(temp_store_teardown(&temp), 0);
    }
}

/* A unit that runs again is compared with its record, and the outputs with their seal. */
static void done_again_with_other_threads_and_memory_nothing_differs(void **state)
{
    const struct infer_case what = {.model = "gcn", .near = true};
    struct infer_run *run = infer_run_new(*state, &what);
    infer_everything(run);
    infer_everything(run);
    start_again(run, 2, 1ULL << 30);
    infer_everything(run);
    start_again(run, 4, 4000000);
    infer_everything(run);
    start_again(run, 1, 2000000);
    infer_everything(run);
    thread_pool_free(run->context.pool);
    run->context.pool = NULL;
    infer_run_close(run);
}

/* Ranges of 256 rows up to all rows, and any number of threads: the files are compared with
 * their seal. */
static void outputs_are_the_same_in_any_memory(void **state)
{
    static const uint64_t memory_bytes[] = {100000, 140000, 1000000};
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){.class_count = 2});
    static struct outputs_seal first, again;
    char folder[FILE_PATH_SIZE];
    infer_everything(run);
    read_seal(run, &first, folder);
    for (int i = 0; i < 3; i++) {
        start_again(run, i + 1, memory_bytes[i]);
        assert_ok(store_remove(run->temp->store, infer_run_seal(run).text, &run->err), &run->err);
        assert_ok(store_remove(run->temp->store,
                               key_outputs(INFER_RUN_ID, infer_run_version(run), "").text,
                               &run->err),
                  &run->err);
        assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
        assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0), &run->err);
        read_seal(run, &again, folder);
        assert_string_equal(first.files, again.files);
        assert_string_equal(first.metrics, again.metrics);
    }
    start_again(run, 1, 20000);
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    assert_fails(infer_run_work(run, UNIT_OUTPUTS, 0, 0), ERROR_NO_MEMORY, "the budget is",
                 &run->err);
    thread_pool_free(run->context.pool);
    run->context.pool = NULL;
    infer_run_close(run);
}

static void outputs_of_a_killed_worker_are_taken_over(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    static struct outputs_seal first, second;
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    const struct key seal_key = infer_run_seal(run);
    bool found = true;
    infer_everything(run);
    read_seal(run, &first, folder);
    assert_ok(store_remove(run->temp->store, seal_key.text, &run->err), &run->err);
    assert_ok(infer_run_work(run, UNIT_OUTPUTS, 0, 0),
              &run->err); /* published, but not yet sealed */
    read_seal(run, &second, folder);
    assert_string_equal(first.files, second.files);
    assert_string_equal(first.metrics, second.metrics);
    assert_ok(outputs_seal_check(&second, folder, &run->err), &run->err);

    assert_ok(store_remove(run->temp->store, seal_key.text, &run->err), &run->err);
    assert_ok(file_path(path, &run->err, "%s/metrics.json", folder), &run->err);
    assert_ok(file_replace(path, "{}\n", 3, false, &run->err), &run->err);
    assert_fails(infer_run_work(run, UNIT_OUTPUTS, 0, 0), ERROR_CORRUPT, "metrics.json: expected",
                 &run->err);
    assert_ok(store_has(run->temp->store, seal_key.text, &found, &run->err), &run->err);
    assert_false(found);
    infer_run_close(run);
}

static void a_replay_compares_and_writes_nothing(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    infer_everything(run);
    stage.close(run->state);
    run->state = NULL;
    struct store *usual = run->temp->store, *replay = NULL;
    assert_ok(store_open(run->temp->dir.path, STORE_REPLAY, &replay, &run->err), &run->err);
    run->context.store = replay;
    run->context.is_replay = true;
    infer_everything(run);
    const struct store_replay seen = store_replay_report(replay);
    assert_int_equal(seen.matched, 2 * INFER_PARTS + 1);
    assert_int_equal(seen.differed, 0);
    stage.close(run->state);
    run->state = NULL;
    store_close(replay);
    run->temp->store = usual;
    infer_run_close(run);
}

static void without_a_snapshot_there_is_nothing_to_do_yet(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    assert_ok(store_remove(run->temp->store, key_snapshot(INFER_RUN_ID, 5).text, &run->err),
              &run->err);
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    assert_fails(infer_run_work(run, UNIT_INFER, 1, 0), ERROR_NOT_FOUND, "snapshot", &run->err);
    infer_run_close(run);
}

static void snapshot_in_mid_training(struct infer_run *run)
{
    struct snapshot last = {0};
    assert_ok(snapshot_get(run->temp->store, INFER_RUN_ID, 5, &last, &run->err), &run->err);
    struct snapshot early = last;
    early.version = early.best_version = 2;
    early.previous_version = -1;
    early.best_value = early.value;
    early.stop = false;
    assert_ok(snapshot_put(run->temp->store, INFER_RUN_ID, &early, &run->err), &run->err);
    assert_ok(snapshot_switch(run->temp->store, INFER_RUN_ID, 2, &run->err), &run->err);
    store_release_record(&last.view);
}

static enum error_code infer_version(struct infer_run *run, int64_t version, int part)
{
    const struct unit unit = {.kind = UNIT_INFER, .round = version, .layer = 1, .slot = part};
    run->err = (struct error){0};
    return stage.work(&run->context, run->state, &unit, &run->err);
}

/* Whatever a unit asks for, weights of an unfinished run, or others than those it ended with,
 * are refused. Nothing is left that a later unit could take for done. */
static void no_other_weights_are_taken_than_those_the_run_ended_with(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    const struct unit outputs = {.kind = UNIT_OUTPUTS, .round = 2};
    bool found = true;
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    snapshot_in_mid_training(run);
    assert_fails(infer_version(run, 2, 0), ERROR_NOT_FOUND,
                 "weights 2: the run has not ended: its newest snapshot is 2", &run->err);
    assert_fails(stage.work(&run->context, run->state, &outputs, &run->err), ERROR_NOT_FOUND,
                 "the run has not ended", &run->err);
    assert_ok(snapshot_switch(run->temp->store, INFER_RUN_ID, 5, &run->err), &run->err);
    assert_fails(infer_version(run, 2, 0), ERROR_INVALID,
                 "weights 2: the run ended with snapshot 5, of which inference takes weights 3",
                 &run->err);
    assert_fails(infer_version(run, 5, 0), ERROR_INVALID, "inference takes weights 3", &run->err);
    infer_everything(run); /* the state is that of the failed units */
    double *expected = infer_run_reference(run, run->weights.best_value);
    float *layer = infer_run_layer(run, 3, 2, 3);
    infer_run_assert_close(layer, expected, (size_t)INFER_NODES * 3, 5e-6);
    for (int64_t version = 2; version <= 5; version += 3) {
        const struct key key = key_infer(INFER_RUN_ID, version, 1, 0, "shard");
        assert_ok(store_has(run->temp->store, key.text, &found, &run->err), &run->err);
        assert_false(found);
    }
    memory_free(expected);
    memory_free(layer);
    infer_run_close(run);
}

/* One worker runs two units of two versions, as when a run gets other settings for its outputs. */
static void a_worker_keeps_no_weights_or_layers_of_another_version(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    infer_everything(run);
    infer_run_set(run, "infer.weights", "last");
    infer_everything(run);
    for (int i = 0; i < 2; i++) {
        double *expected =
            infer_run_reference(run, i == 0 ? run->weights.best_value : run->weights.value);
        float *layer = infer_run_layer(run, i == 0 ? 3 : 5, 2, 3);
        infer_run_assert_close(layer, expected, (size_t)INFER_NODES * 3, 5e-6);
        memory_free(expected);
        memory_free(layer);
    }
    infer_run_close(run);
}

/* A layer has the label of version 3 but was computed with other weights. */
static void layers_of_other_weights_are_refused(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    struct shard_seal seal;
    const struct key key = key_infer(INFER_RUN_ID, 3, 1, 2, "shard_seal");
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    for (int part = 0; part < INFER_PARTS; part++)
        assert_ok(infer_run_work(run, UNIT_INFER, 1, part), &run->err);
    assert_ok(shard_seal_get(run->temp->store, key.text, INFER_RUN_ID, &seal, &run->err),
              &run->err);
    assert_ok(store_remove(run->temp->store, key.text, &run->err), &run->err);
    seal.weights.sum.bytes[0] ^= 1;
    assert_ok(shard_seal_put(run->temp->store, key.text, INFER_RUN_ID, &seal, &run->err),
              &run->err);
    assert_fails(infer_run_work(run, UNIT_INFER, 2, 0), ERROR_CORRUPT,
                 "expected weights 3 of snapshot 5", &run->err);
    infer_run_close(run);
}

static void reseal_layer(struct infer_run *run, const char *key, struct shard_seal *seal,
                         struct weights_identity weights)
{
    seal->weights = weights;
    assert_ok(store_remove(run->temp->store, key, &run->err), &run->err);
    assert_ok(shard_seal_put(run->temp->store, key, INFER_RUN_ID, seal, &run->err), &run->err);
}

static void verify_compares_what_infer_made_with_the_snapshot_of_its_weights(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    struct store *store = run->temp->store;
    struct shard_seal layer;
    static struct outputs_seal seal;
    const struct key shard = key_infer(INFER_RUN_ID, 3, 1, 2, "shard"),
                     shard_seal = key_infer(INFER_RUN_ID, 3, 1, 2, "shard_seal"),
                     outputs = key_outputs(INFER_RUN_ID, 3, ""), key = infer_run_seal(run);
    infer_everything(run);
    assert_ok(artifact_verify(store, shard.text, &run->err), &run->err);
    assert_ok(artifact_verify(store, outputs.text, &run->err), &run->err);

    assert_ok(shard_seal_get(store, shard_seal.text, INFER_RUN_ID, &layer, &run->err), &run->err);
    struct weights_identity other = run->weights.best;
    other.sum.bytes[3] ^= 64;
    reseal_layer(run, shard_seal.text, &layer, other);
    assert_fails(artifact_verify(store, shard.text, &run->err), ERROR_CORRUPT,
                 "expected weights 3 of snapshot 5", &run->err);
    reseal_layer(run, shard_seal.text, &layer, run->weights.last);
    assert_fails(artifact_verify(store, shard.text, &run->err), ERROR_CORRUPT,
                 "expected a seal of weights 3, found 5", &run->err);
    layer.has_weights = false;
    reseal_layer(run, shard_seal.text, &layer, run->weights.best);
    assert_fails(artifact_verify(store, shard.text, &run->err), ERROR_CORRUPT,
                 "names the weights used", &run->err);

    assert_ok(outputs_seal_get(store, key.text, INFER_RUN_ID, &seal, &run->err), &run->err);
    seal.weights = other;
    assert_ok(store_remove(store, key.text, &run->err), &run->err);
    assert_ok(outputs_seal_put(store, key.text, INFER_RUN_ID, &seal, &run->err), &run->err);
    assert_fails(artifact_verify(store, outputs.text, &run->err), ERROR_CORRUPT,
                 "expected weights 3 of snapshot 5", &run->err);
    infer_run_close(run);
}

static void a_layer_waits_for_all_parts_below(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    assert_ok(infer_run_work(run, UNIT_INFER, 1, 0), &run->err);
    assert_fails(infer_run_work(run, UNIT_INFER, 2, 0), ERROR_NOT_FOUND, "infer", &run->err);
    assert_fails(infer_run_work(run, UNIT_OUTPUTS, 0, 0), ERROR_NOT_FOUND, "outputs of run-1",
                 &run->err);
    for (int part = 1; part < INFER_PARTS; part++)
        assert_ok(infer_run_work(run, UNIT_INFER, 1, part), &run->err);
    assert_ok(infer_run_work(run, UNIT_INFER, 2, 0), &run->err);
    infer_run_close(run);
}

/* A worker prefers parts of the same layer that it has open, those after its last one first. */
static void a_worker_prefers_the_parts_that_it_holds(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE];
    struct unit unit = {.kind = UNIT_INFER, .round = infer_run_version(run), .layer = 1};
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    assert_int_equal(stage.prefers(&run->context, run->state, &unit, wanted), 0);
    for (int part = 1; part < INFER_PARTS; part++)
        assert_ok(infer_run_work(run, UNIT_INFER, 1, part), &run->err);
    unit.layer = 2;
    assert_int_equal(stage.prefers(&run->context, run->state, &unit, wanted), INFER_PARTS - 1);
    for (int i = 0; i < INFER_PARTS - 1; i++) {
        char name[UNIT_NAME_SIZE];
        unit.slot = 1 + i;
        unit_name(&unit, name);
        assert_string_equal(wanted[i], name);
    }
    /* the part is open */
    assert_int_equal(stage.prefers(&run->context, run->state, &unit, wanted), 0);
    assert_ok(infer_run_work(run, UNIT_INFER, 1, 0), &run->err);
    unit.slot = 0;
    assert_int_equal(stage.prefers(&run->context, run->state, &unit, wanted), 0);
    infer_run_close(run);
}

static void a_budget_too_small_is_said(void **state)
{
    struct infer_run *run = infer_run_new(*state, &(struct infer_case){0});
    run->context.memory_bytes = 40000;
    assert_ok(stage.open(&run->context, &run->state, &run->err), &run->err);
    assert_fails(infer_run_work(run, UNIT_INFER, 1, 0), ERROR_NO_MEMORY, "budget", &run->err);
    infer_run_close(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_weights_are_used_unless_told_otherwise),
        test_with_store(done_again_with_other_threads_and_memory_nothing_differs),
        test_with_store(outputs_are_the_same_in_any_memory),
        test_with_store(outputs_of_a_killed_worker_are_taken_over),
        test_with_store(a_replay_compares_and_writes_nothing),
        test_with_store(without_a_snapshot_there_is_nothing_to_do_yet),
        test_with_store(no_other_weights_are_taken_than_those_the_run_ended_with),
        test_with_store(a_worker_keeps_no_weights_or_layers_of_another_version),
        test_with_store(layers_of_other_weights_are_refused),
        test_with_store(verify_compares_what_infer_made_with_the_snapshot_of_its_weights),
        test_with_store(a_layer_waits_for_all_parts_below),
        test_with_store(a_worker_prefers_the_parts_that_it_holds),
        test_with_store(a_budget_too_small_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
