#include "common/base/json.h"
#include "common/base/memory.h"
#include "stages/plan/chain/metrics_log.h"

#include "tests/stages/small_run.h"

#include <math.h>

/* 2 rounds an epoch and a snapshot each epoch: 2, 4, ..., 12. Two validation slots with 10
 * answers. */
#define COMMON_SETTINGS                                                                            \
    "epochs=6", "sample.batch_size=6", "sample.batches_per_round=3",                               \
        "sample.evaluation_batch_size=2", "aggregate.optimizer=sgd"

static const char *const keep_all[] = {COMMON_SETTINGS, "checkpoint.keep=0", NULL};
static const char *const keep_one[] = {COMMON_SETTINGS, "checkpoint.keep=1", NULL};
static const char *const keep_two[] = {COMMON_SETTINGS, "checkpoint.keep=2", NULL};
static const char *const patient[] = {COMMON_SETTINGS, "checkpoint.patience=2", NULL};

/* Right answers of 10 at snapshots 2, 4, ...: the best is 6. */
static const uint64_t right[] = {3, 5, 9, 9, 2, 8};

static void begin(struct small_run *run, struct store *store, const char *const *set)
{
    small_run_init(run, store, 20, 4, set);
    assert_int_equal(run->schedule.every_rounds, 2);
    assert_int_equal(run->schedule.evaluation_slot_count, 2);
}

/* Stores what the other stages have made when the checkpoint of `version` begins. */
static void put_inputs(struct small_run *run, int64_t version)
{
    if (version == 2)
        small_run_put_version(run, 0);
    for (int64_t v = version - 1; v <= version; v++) {
        small_run_put_mini_batches(run, v - 1);
        small_run_put_gradients(run, v - 1);
        small_run_put_version(run, v);
    }
    small_run_put_evaluations(run, version, right[version / 2 - 1]);
}

static void checkpoint(struct small_run *run, int64_t version)
{
    void *state = NULL;
    assert_ok(stage.open(&run->context, &state, &run->err), &run->err);
    assert_ok(small_run_work(run, state, UNIT_CHECKPOINT, version), &run->err);
    stage.close(state);
}

static void run_until(struct small_run *run, int64_t first, int64_t last)
{
    for (int64_t version = first; version <= last; version += 2) {
        put_inputs(run, version);
        checkpoint(run, version);
    }
}

static struct snapshot read_snapshot(struct small_run *run, int64_t version)
{
    struct snapshot snapshot = {0};
    assert_ok(snapshot_get(run->store, SMALL_RUN_ID, version, &snapshot, &run->err), &run->err);
    return snapshot;
}

/* --- the whole store as text: keys and content hashes, the ref, the file --- */

struct listing {
    struct small_run *run;
    struct json_writer text;
};

static enum error_code list_one(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct listing *listing = context;
    char hash[CHECKSUM_TEXT_SIZE];
    (void)err;
    must(!is_artifact);
    const struct checksum content = small_run_content(listing->run, key);
    checksum_text(&content, hash);
    json_put_raw(&listing->text, key);
    json_put_raw(&listing->text, " ");
    json_put_raw(&listing->text, hash);
    json_put_raw(&listing->text, "\n");
    return ERROR_NONE;
}

static char *describe(struct small_run *run)
{
    struct listing listing = {.run = run};
    char path[FILE_PATH_SIZE];
    char *lines = NULL;
    size_t size = 0;
    int64_t current = 0;
    assert_ok(store_list(run->store, "", list_one, &listing, &run->err), &run->err);
    assert_ok(snapshot_current_version(run->store, SMALL_RUN_ID, &current, NULL, &run->err),
              &run->err);
    json_put_int64(&listing.text, "current", current);
    assert_ok(store_note_path(run->store, metrics_log_note(SMALL_RUN_ID).text, path, &run->err),
              &run->err);
    assert_ok(file_read(path, 0, &lines, &size, &run->err), &run->err);
    json_put_raw(&listing.text, lines);
    memory_free(lines);
    assert_ok(json_writer_finish(&listing.text, &run->err), &run->err);
    return listing.text.text;
}

/* --- tests --- */

static void a_snapshot_says_how_training_and_validation_went(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, keep_all);
    run_until(&run, 2, 8);
    struct snapshot s = read_snapshot(&run, 8), six = read_snapshot(&run, 6);
    assert_int_equal(s.previous_version, 6);
    assert_int_equal(s.epoch, 4);
    assert_int_equal(s.step, 8);
    assert_int_equal(s.best_version, 6); /* 9 of 10 again is not better */
    assert_int_equal(s.since_best, 1);
    assert_false(s.stop);
    /* Rounds 6 and 7 made weights 7 (18 seeds, loss 1/8) and 8 (2 seeds, loss 1/9). */
    assert_true(fabs(s.train_loss - (18.0 / 8 + 2.0 / 9) / 20) < 1e-15);
    assert_true(s.train_accuracy == 0.5);
    assert_true(s.valid_accuracy == 0.9 && s.valid_metric == 0.9 && s.best_metric == 0.9);
    assert_true(s.valid_loss == (1 + 2) / 20.0);
    assert_true(s.learning_rate == 0.01);
    assert_memory_equal(s.best_value, six.value, SMALL_VALUES * sizeof(float));
    struct weights weights = {0};
    assert_ok(weights_get(run.store, SMALL_RUN_ID, 8, &weights, &run.err), &run.err);
    assert_memory_equal(s.value, weights.value, SMALL_VALUES * sizeof(float));
    assert_memory_equal(s.progress, weights.progress, sizeof s.progress);
    store_release_record(&weights.view);
    store_release_record(&s.view);
    store_release_record(&six.view);
}

static void metrics_tell_of_every_round_and_snapshot(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    char path[FILE_PATH_SIZE];
    char *text = NULL;
    size_t size = 0;
    begin(&run, temp->store, keep_one);
    run_until(&run, 2, 12);
    assert_ok(store_note_path(run.store, metrics_log_note(SMALL_RUN_ID).text, path, &run.err),
              &run.err);
    assert_ok(file_read(path, 0, &text, &size, &run.err), &run.err);
    int64_t round = 0, version = 2;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        struct json_document *document = NULL;
        const size_t length = (size_t)(strchr(line, '\n') - line);
        int64_t number = 0;
        assert_ok(json_parse(line, length, "line", &document, &run.err), &run.err);
        if (json_int64(json_get(json_root(document), "round"), &number)) {
            assert_int_equal(number, round++);
        } else {
            assert_true(json_int64(json_get(json_root(document), "snapshot"), &number));
            assert_int_equal(number, version);
            assert_int_equal(number, round);
            version += 2;
        }
        json_free(document);
    }
    assert_int_equal(round, 12);
    assert_int_equal(version, 14);
    memory_free(text);
}

static void the_last_round_and_lost_patience_stop_the_run(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, patient);
    run_until(&run, 2, 10);
    struct snapshot eight = read_snapshot(&run, 8), ten = read_snapshot(&run, 10);
    assert_false(eight.stop);
    assert_true(ten.stop); /* 8 and 10 were not better than 6 */
    assert_int_equal(ten.since_best, 2);
    store_release_record(&eight.view);
    store_release_record(&ten.view);
    run.settings.checkpoint.patience = 0;
    run_until(&run, 12, 12);
    struct snapshot twelve = read_snapshot(&run, 12);
    assert_true(twelve.stop);
    assert_int_equal(twelve.best_version, 6);
    store_release_record(&twelve.view);
}

static void a_lower_loss_is_better(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, keep_two);
    run.settings.checkpoint.metric = METRIC_LOSS;
    run_until(&run, 2, 12);
    struct snapshot s = read_snapshot(&run, 12);
    assert_int_equal(s.best_version, 6);
    assert_true(s.best_metric == 3 / 20.0);
    store_release_record(&s.view);
}

static void without_validation_the_last_is_the_best(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    small_run_init(&run, temp->store, 20, 0, patient);
    for (int64_t version = 2; version <= 6; version += 2) {
        put_inputs(&run, version);
        checkpoint(&run, version);
    }
    struct snapshot s = read_snapshot(&run, 6);
    assert_int_equal(s.best_version, 6);
    assert_int_equal(s.since_best, 0);
    assert_true(isnan(s.valid_loss) && isnan(s.valid_metric) && isnan(s.best_metric));
    assert_false(s.stop);
    store_release_record(&s.view);
}

static bool has_snapshot(struct small_run *run, int64_t version)
{
    bool found = false;
    assert_ok(store_has(run->store, key_snapshot(SMALL_RUN_ID, version).text, &found, &run->err),
              &run->err);
    return found;
}

static void the_newest_and_the_best_outlive_the_run(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    bool found = true;
    begin(&run, temp->store, keep_two);
    run_until(&run, 2, 12);
    for (int64_t version = 2; version <= 12; version += 2)
        assert_true(has_snapshot(&run, version) == (version == 6 || version >= 10));
    for (int64_t version = 0; version <= 12; version++) {
        const struct key key = key_weights(SMALL_RUN_ID, version);
        assert_ok(store_has(run.store, key.text, &found, &run.err), &run.err);
        assert_true(found == (version >= 10));
    }
}

/* How far a worker came with a checkpoint before it was killed. do_part() does the steps one by
 * one: a replay puts the record and nothing else. */
enum progress_of_kill {
    KILLED_BEFORE,
    KILLED_AFTER_PUT,
    KILLED_AFTER_FILE,
    KILLED_AFTER_SWITCH,
    KILLS
};

static void do_part(struct small_run *run, int64_t version, enum progress_of_kill part)
{
    if (part >= KILLED_AFTER_PUT) {
        run->context.is_replay = true;
        checkpoint(run, version);
        run->context.is_replay = false;
    }
    if (part >= KILLED_AFTER_FILE)
        assert_ok(metrics_log_update(run->store, SMALL_RUN_ID, version, NULL, &run->err),
                  &run->err);
    if (part >= KILLED_AFTER_SWITCH)
        assert_ok(snapshot_switch(run->store, SMALL_RUN_ID, version, &run->err), &run->err);
}

static struct store *open_other(struct temp_store *temp, int number)
{
    struct store *other = NULL;
    char path[FILE_PATH_SIZE];
    assert_ok(file_path(path, &temp->err, "%s/other-%d", temp->dir.path, number), &temp->err);
    assert_ok(store_open(path, 0, &other, &temp->err), &temp->err);
    return other;
}

/* `redo`: the unit is given out again; otherwise the run goes on with the next snapshot. */
static void check_kills(struct temp_store *temp, bool redo, int64_t last)
{
    struct small_run straight;
    struct store *reference = open_other(temp, redo ? 100 : 200);
    begin(&straight, reference, keep_one);
    run_until(&straight, 2, last);
    char *expected = describe(&straight);
    for (int part = redo ? KILLED_BEFORE : KILLED_AFTER_PUT; part < KILLS; part++) {
        struct small_run killed;
        struct store *store = open_other(temp, part + (redo ? 0 : KILLS));
        begin(&killed, store, keep_one);
        for (int64_t version = 2; version <= last; version += 2) {
            put_inputs(&killed, version);
            if (redo || version < last)
                do_part(&killed, version, (enum progress_of_kill)part);
            if (redo || version == last)
                checkpoint(&killed, version);
        }
        char *found = describe(&killed);
        assert_string_equal(found, expected);
        memory_free(found);
        store_close(store);
    }
    memory_free(expected);
    store_close(reference);
}

static void a_unit_killed_between_any_two_steps_is_done_again_alike(void **state)
{
    check_kills(*state, true, 12);
}

static void what_a_kill_left_undone_the_next_checkpoint_makes_good(void **state)
{
    check_kills(*state, false, 10);
}

/* A worker that goes on commits now and then; a worker that does a single unit commits it. */
static void check_one_worker(struct temp_store *temp, int number, const char *const *settings)
{
    struct small_run single, steady;
    void *stage_state = NULL;
    struct store *reference = open_other(temp, number), *store = open_other(temp, number + 1);
    begin(&single, reference, settings);
    run_until(&single, 2, 12);
    begin(&steady, store, settings);
    assert_ok(stage.open(&steady.context, &stage_state, &steady.err), &steady.err);
    for (int64_t version = 2; version <= 12; version += 2) {
        put_inputs(&steady, version);
        assert_ok(small_run_work(&steady, stage_state, UNIT_CHECKPOINT, version), &steady.err);
    }
    stage.close(stage_state);
    char *expected = describe(&single), *found = describe(&steady);
    assert_string_equal(found, expected);
    memory_free(found);
    memory_free(expected);
    store_close(store);
    store_close(reference);
}

static void snapshots_committed_together_end_as_if_committed_one_by_one(void **state)
{
    check_one_worker(*state, 300, keep_one);
    check_one_worker(*state, 400, keep_two);
    check_one_worker(*state, 500, keep_all);
}

/* The worker after the killed one does not know what was not committed. */
static void what_was_not_committed_is_committed_by_the_next_worker(void **state)
{
    struct temp_store *temp = *state;
    struct small_run straight, killed;
    struct store *reference = open_other(temp, 600), *store = open_other(temp, 601);
    begin(&straight, reference, keep_two);
    run_until(&straight, 2, 12);
    begin(&killed, store, keep_two);
    run_until(&killed, 2, 2);
    for (int64_t version = 4; version <= 10; version += 2) {
        put_inputs(&killed, version);
        do_part(&killed, version, KILLED_AFTER_PUT);
    }
    for (int64_t version = 4; version <= 8; version += 2)
        checkpoint(&killed, version); /* the queue begins after the snapshot that the ref names */
    run_until(&killed, 10, 12);
    char *expected = describe(&straight), *found = describe(&killed);
    assert_string_equal(found, expected);
    memory_free(found);
    memory_free(expected);
    store_close(store);
    store_close(reference);
}

/* The file of metrics is for people: if it cannot be written the run goes on, and the next commit
 * writes it. */
static void a_file_of_metrics_that_cannot_be_written_stops_nothing(void **state)
{
    struct temp_store *temp = *state;
    struct small_run straight, hindered;
    char folder[FILE_PATH_SIZE];
    void *worker = NULL;
    struct store *reference = open_other(temp, 700), *store = open_other(temp, 701);
    begin(&straight, reference, keep_two);
    run_until(&straight, 2, 12);
    begin(&hindered, store, keep_two);
    assert_ok(file_path(folder, &hindered.err, "%s/logs", store_root(store)), &hindered.err);
    assert_ok(file_replace(folder, "no folder", 9, false, &hindered.err), &hindered.err);
    assert_ok(stage.open(&hindered.context, &worker, &hindered.err), &hindered.err);
    for (int64_t version = 2; version <= 12; version += 2) {
        put_inputs(&hindered, version);
        if (version == 12)
            assert_ok(file_remove_all(folder, &hindered.err), &hindered.err);
        assert_ok(small_run_work(&hindered, worker, UNIT_CHECKPOINT, version), &hindered.err);
    }
    stage.close(worker);
    checkpoint(&hindered, 12);
    char *expected = describe(&straight), *found = describe(&hindered);
    assert_string_equal(found, expected);
    memory_free(found);
    memory_free(expected);
    store_close(store);
    store_close(reference);
}

static int64_t current_version(struct small_run *run)
{
    int64_t current = 0;
    assert_ok(snapshot_current_version(run->store, SMALL_RUN_ID, &current, NULL, &run->err),
              &run->err);
    return current;
}

static void the_switch_does_not_go_back(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, keep_all);
    run_until(&run, 2, 8);
    checkpoint(&run, 4); /* as a worker does that took very long */
    assert_int_equal(current_version(&run), 8);
    /* If the ref is lost, or names a lost snapshot, the run is at the whole snapshot before it. */
    assert_ok(store_remove(run.store, key_snapshot(SMALL_RUN_ID, 8).text, &run.err), &run.err);
    checkpoint(&run, 4);
    assert_int_equal(current_version(&run), 4);
}

/* Lost records must be made again in order: so the run passes a snapshot that is there already, and
 * does not jump to it. */
static void a_run_that_was_set_back_goes_on_step_by_step(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, keep_all);
    run_until(&run, 2, 8);
    assert_ok(snapshot_switch(run.store, SMALL_RUN_ID, 2, &run.err), &run.err);
    for (int64_t version = 4; version <= 8; version += 2) {
        checkpoint(&run, version);
        assert_int_equal(current_version(&run), version);
    }
}

static void a_replay_matches_and_changes_nothing(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct store *replay = NULL;
    begin(&run, temp->store, keep_all);
    run_until(&run, 2, 8);
    run.settings.checkpoint.keep = 1;
    char *before = describe(&run);
    assert_ok(store_open(temp->dir.path, STORE_REPLAY, &replay, &run.err), &run.err);
    run.context.store = replay;
    run.context.is_replay = true;
    for (int64_t version = 2; version <= 8; version += 2)
        checkpoint(&run, version);
    const struct store_replay report = store_replay_report(replay);
    assert_int_equal(report.matched, 4);
    assert_int_equal(report.differed + report.absent, 0);
    char *after = describe(&run);
    assert_string_equal(after, before);
    memory_free(before);
    memory_free(after);
    store_close(replay);
}

/* The optimizer state has the progress of the rounds, so the weights between two snapshots are not
 * read. */
static void weights_between_two_snapshots_are_not_read(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, keep_two);
    put_inputs(&run, 2);
    assert_ok(store_remove(run.store, key_weights(SMALL_RUN_ID, 1).text, &run.err), &run.err);
    checkpoint(&run, 2);
    struct snapshot snapshot = read_snapshot(&run, 2);
    assert_true(strncmp(snapshot.log, "{\"round\":0,", 11) == 0);
    assert_non_null(strstr(snapshot.log, "\n{\"round\":1,"));
    store_release_record(&snapshot.view);
}

static void missing_inputs_and_wrong_versions_are_named(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    void *worker = NULL;
    begin(&run, temp->store, keep_two);
    assert_ok(stage.open(&run.context, &worker, &run.err), &run.err);
    put_inputs(&run, 2);
    assert_fails(small_run_work(&run, worker, UNIT_CHECKPOINT, 3), ERROR_INVALID,
                 "no snapshot is made of weights 3", &run.err);
    assert_fails(small_run_work(&run, worker, UNIT_CHECKPOINT, 14), ERROR_INVALID,
                 "no snapshot is made of weights 14", &run.err);
    put_inputs(&run, 4);
    assert_fails(small_run_work(&run, worker, UNIT_CHECKPOINT, 4), ERROR_NOT_FOUND,
                 key_snapshot(SMALL_RUN_ID, 2).text, &run.err);
    const struct key lost[] = {key_weights(SMALL_RUN_ID, 2), key_optimizer_state(SMALL_RUN_ID, 2),
                               key_evaluation(SMALL_RUN_ID, 2, 1)};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        assert_ok(store_remove(run.store, lost[i].text, &run.err), &run.err);
        assert_fails(small_run_work(&run, worker, UNIT_CHECKPOINT, 2), ERROR_NOT_FOUND,
                     lost[i].text, &run.err);
        assert_false(has_snapshot(&run, 2));
        put_inputs(&run, 2);
    }
    stage.close(worker);
}

static void the_area_under_the_roc_wants_two_classes(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    void *stage_state = NULL;
    begin(&run, temp->store, keep_two);
    run.settings.checkpoint.metric = METRIC_ROC_AUC;
    assert_fails(stage.open(&run.context, &stage_state, &run.err), ERROR_INVALID,
                 "roc_auc, which single_label with 3 classes does not have: choose one of accuracy",
                 &run.err);
    run.book.class_count = 2;
    assert_ok(stage.open(&run.context, &stage_state, &run.err), &run.err);
    stage.close(stage_state);
}

static void memory_that_runs_out_leaves_no_snapshot_and_no_leak(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, keep_one);
    run_until(&run, 2, 2);
    put_inputs(&run, 4);
    const long live = memory_live_blocks();
    for (long allowed = 0;; allowed++) {
        void *worker = NULL;
        memory_fail_after(allowed);
        enum error_code rc = stage.open(&run.context, &worker, &run.err);
        if (rc == ERROR_NONE)
            rc = small_run_work(&run, worker, UNIT_CHECKPOINT, 4);
        memory_fail_after(-1);
        stage.close(worker);
        assert_int_equal(memory_live_blocks(), live);
        if (rc == ERROR_NONE)
            break;
        assert_int_equal(rc, ERROR_NO_MEMORY);
    }
    assert_true(has_snapshot(&run, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_snapshot_says_how_training_and_validation_went),
        test_with_store(metrics_tell_of_every_round_and_snapshot),
        test_with_store(the_last_round_and_lost_patience_stop_the_run),
        test_with_store(a_lower_loss_is_better),
        test_with_store(without_validation_the_last_is_the_best),
        test_with_store(the_newest_and_the_best_outlive_the_run),
        test_with_store(a_unit_killed_between_any_two_steps_is_done_again_alike),
        test_with_store(what_a_kill_left_undone_the_next_checkpoint_makes_good),
        test_with_store(snapshots_committed_together_end_as_if_committed_one_by_one),
        test_with_store(what_was_not_committed_is_committed_by_the_next_worker),
        test_with_store(a_file_of_metrics_that_cannot_be_written_stops_nothing),
        test_with_store(the_switch_does_not_go_back),
        test_with_store(a_run_that_was_set_back_goes_on_step_by_step),
        test_with_store(a_replay_matches_and_changes_nothing),
        test_with_store(weights_between_two_snapshots_are_not_read),
        test_with_store(missing_inputs_and_wrong_versions_are_named),
        test_with_store(the_area_under_the_roc_wants_two_classes),
        test_with_store(memory_that_runs_out_leaves_no_snapshot_and_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
