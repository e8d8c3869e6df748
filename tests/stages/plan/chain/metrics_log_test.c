#include "common/base/memory.h"
#include "stages/plan/chain/metrics_log.h"
#include "store/objects/keys.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>

static const char run[] = "karate-00000001";

static void lines_are_json_with_the_numbers_of_rounds_and_snapshots(void **state)
{
    (void)state;
    struct error err = {0};
    struct json_writer log = {0};
    const struct schedule schedule = {.rounds_per_epoch = 4};
    const double progress[PROGRESS_COUNT] = {0.5, 3, 4, 0.25, 2, 0}, no_seeds[PROGRESS_COUNT] = {0};
    struct snapshot snapshot = {.version = 8,
                                .epoch = 2,
                                .train_loss = 0.5,
                                .train_accuracy = 0.75,
                                .valid_loss = 1.5,
                                .valid_accuracy = 0.25,
                                .valid_metric = 0.125,
                                .best_version = 4,
                                .stop = true};
    metrics_log_add_round(&log, &schedule, true, 7, progress);
    metrics_log_add_round(&log, &schedule, true, 8, no_seeds);
    metrics_log_add_snapshot(&log, &snapshot, true, METRIC_MACRO_F1, "");
    snapshot.valid_loss = snapshot.valid_accuracy = (double)NAN;
    snapshot.stop = false;
    metrics_log_add_snapshot(&log, &snapshot, true, METRIC_LOSS, "large");
    metrics_log_add_snapshot(&log, &snapshot, true, METRIC_ACCURACY, "");
    assert_ok(json_writer_finish(&log, &err), &err);
    const char warned[] = "{\"snapshot\":8,\"epoch\":2,\"train_loss\":0.5,\"train_accuracy\":0.75,"
                          "\"valid_loss\":null,\"valid_accuracy\":null,\"best\":4,"
                          "\"stop\":false,\"warning\":\"large\"}\n";
    const char rest[] = "{\"snapshot\":8,\"epoch\":2,\"train_loss\":0.5,\"train_accuracy\":0.75,"
                        "\"valid_loss\":null,\"valid_accuracy\":null,\"best\":4,\"stop\":false}\n";
    char expected[2048];
    (void)snprintf(expected, sizeof expected,
                   "{\"round\":7,\"epoch\":2,\"loss\":0.5,\"accuracy\":0.75,"
                   "\"learning_rate\":0.25,\"gradient_norm\":2}\n"
                   "{\"round\":8,\"epoch\":3,\"loss\":null,\"accuracy\":null,"
                   "\"learning_rate\":0,\"gradient_norm\":0}\n"
                   "{\"snapshot\":8,\"epoch\":2,\"train_loss\":0.5,\"train_accuracy\":0.75,"
                   "\"valid_loss\":1.5,\"valid_accuracy\":0.25,\"valid_macro_f1\":0.125,"
                   "\"best\":4,\"stop\":true}\n%s%s",
                   warned, rest);
    assert_string_equal(log.text, expected);
    json_writer_release(&log);
}

/* Stores snapshot `version` with two lines, of which the second is its own. */
static void put_snapshot(struct temp_store *p, int64_t version, int64_t previous)
{
    static const float value[1] = {1};
    char log[128];
    (void)snprintf(log, sizeof log, "{\"round\":%d}\n{\"snapshot\":%d,\"epoch\":1}\n",
                   (int)version - 1, (int)version);
    const struct snapshot snapshot = {.version = version,
                                      .previous_version = previous,
                                      .best_version = version,
                                      .step = (uint64_t)version,
                                      .value_count = 1,
                                      .value = value,
                                      .first = value,
                                      .table = "a 1 1\n",
                                      .table_size = 6,
                                      .log = log,
                                      .log_size = strlen(log)};
    assert_ok(snapshot_put(p->store, run, &snapshot, &p->err), &p->err);
}

/* Checks that the file has lines of exactly these snapshots; the list ends with 0. */
static void check_file(struct temp_store *p, const int *versions)
{
    char path[FILE_PATH_SIZE], expected[2048] = "";
    char *text = NULL;
    size_t size = 0, at = 0;
    for (; *versions; versions++)
        at += (size_t)snprintf(expected + at, sizeof expected - at,
                               "{\"round\":%d}\n{\"snapshot\":%d,\"epoch\":1}\n", *versions - 1,
                               *versions);
    assert_ok(store_note_path(p->store, metrics_log_note(run).text, path, &p->err), &p->err);
    assert_ok(file_read(path, 0, &text, &size, &p->err), &p->err);
    assert_string_equal(text, expected);
    memory_free(text);
}

static void update(struct temp_store *p, int64_t version)
{
    assert_ok(metrics_log_update(p->store, run, version, NULL, &p->err), &p->err);
}

static void remove_snapshot(struct temp_store *p, int64_t version)
{
    assert_ok(store_remove(p->store, key_snapshot(run, version).text, &p->err), &p->err);
}

static void remove_file(struct temp_store *p)
{
    char path[FILE_PATH_SIZE];
    assert_ok(store_note_path(p->store, metrics_log_note(run).text, path, &p->err), &p->err);
    assert_ok(file_remove_all(path, &p->err), &p->err);
}

static void known_lines_are_not_read_again(void **state)
{
    struct temp_store *p = *state;
    const int both[] = {2, 4, 6, 0};
    char text[] = "{\"round\":3}\n{\"snapshot\":4,\"epoch\":1}\n"
                  "{\"round\":5}\n{\"snapshot\":6,\"epoch\":1}\n";
    const struct metrics_lines known = {
        .after = 2, .version = 6, .text = text, .size = sizeof text - 1};
    put_snapshot(p, 2, -1);
    /* Lines that the file lacks come from the records before the known lines. */
    assert_ok(metrics_log_update(p->store, run, 6, &known, &p->err), &p->err);
    check_file(p, both);
    /* The file has half of the known lines, so the rest is read. */
    remove_file(p);
    put_snapshot(p, 4, 2);
    put_snapshot(p, 6, 4);
    update(p, 4);
    assert_ok(metrics_log_update(p->store, run, 6, &known, &p->err), &p->err);
    check_file(p, both);
}

static void the_file_grows_and_outlives_the_snapshots(void **state)
{
    struct temp_store *p = *state;
    const int two[] = {2, 4, 0}, three[] = {2, 4, 6, 0};
    put_snapshot(p, 2, -1);
    update(p, 2);
    put_snapshot(p, 4, 2);
    update(p, 4);
    check_file(p, two);
    update(p, 4);
    update(p, 2); /* a late worker removes nothing */
    check_file(p, two);
    remove_snapshot(p, 2);
    put_snapshot(p, 6, 4);
    update(p, 6);
    check_file(p, three);
}

static void what_killed_workers_left_out_is_added(void **state)
{
    struct temp_store *p = *state;
    const int all[] = {2, 4, 6, 8, 0}, none_before[] = {6, 8, 0};
    char path[FILE_PATH_SIZE];
    put_snapshot(p, 2, -1);
    update(p, 2);
    put_snapshot(p, 4, 2);
    put_snapshot(p, 6, 4);
    put_snapshot(p, 8, 6);
    update(p, 8);
    check_file(p, all);
    assert_ok(store_note_path(p->store, metrics_log_note(run).text, path, &p->err), &p->err);
    assert_ok(file_remove_all(path, &p->err), &p->err);
    update(p, 8);
    check_file(p, all);
    assert_ok(file_remove_all(path, &p->err), &p->err);
    remove_snapshot(p, 4);
    update(p, 8);
    check_file(p, none_before);
}

static void a_torn_end_is_cut_off(void **state)
{
    struct temp_store *p = *state;
    const char torn[] = "{\"round\":1}\n{\"snapshot\":2,\"epoch\":1}\n{\"round\":3}\n{\"snap";
    const int all[] = {2, 4, 0};
    char path[FILE_PATH_SIZE];
    put_snapshot(p, 2, -1);
    put_snapshot(p, 4, 2);
    update(p, 2);
    assert_ok(store_note_path(p->store, metrics_log_note(run).text, path, &p->err), &p->err);
    assert_ok(file_replace(path, torn, strlen(torn), false, &p->err), &p->err);
    update(p, 4);
    check_file(p, all);
}

static void a_snapshot_that_is_not_stored_is_named(void **state)
{
    struct temp_store *p = *state;
    assert_fails(metrics_log_update(p->store, run, 4, NULL, &p->err), ERROR_NOT_FOUND,
                 key_snapshot(run, 4).text, &p->err);
}

static enum error_code refuse(void *context, const char *key, bool is_artifact, struct error *err)
{
    (void)context;
    (void)is_artifact;
    return error_set(err, ERROR_CORRUPT, "%s is listed", key);
}

static void the_store_does_not_list_the_file(void **state)
{
    struct temp_store *p = *state;
    put_snapshot(p, 2, -1);
    update(p, 2);
    remove_snapshot(p, 2);
    assert_ok(store_list(p->store, "", refuse, NULL, &p->err), &p->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_json_with_the_numbers_of_rounds_and_snapshots),
        test_with_store(known_lines_are_not_read_again),
        test_with_store(the_file_grows_and_outlives_the_snapshots),
        test_with_store(what_killed_workers_left_out_is_added),
        test_with_store(a_torn_end_is_cut_off),
        test_with_store(a_snapshot_that_is_not_stored_is_named),
        test_with_store(the_store_does_not_list_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
