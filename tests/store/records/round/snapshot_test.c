#include "store/objects/keys.h"
#include "store/records/round/snapshot.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>

static const char run[] = "karate-00000001";
static const char table[] = "convs.0.bias 4 1\n";
static const char log_text[] = "{\"round\":4}\n{\"snapshot\":5}\n";
static const float value[4] = {1, 2, 3, 4}, first[4] = {5, 6, 7, 8}, second[4] = {0, 1, 0, 1},
                   best_value[4] = {9, 9, 9, 9}, with_nan[4] = {0, NAN, 0, 0};

static const double rounds[2][PROGRESS_COUNT] = {{0.75, 2, 4, 0.01, 3.5, 0},
                                                 {0.5, 3, 4, 0.01, 2.5, 0}};

static struct snapshot some_snapshot(void)
{
    return (struct snapshot){.version = 5,
                             .previous_version = 3,
                             .best_version = 3,
                             .since_best = 1,
                             .epoch = 2,
                             .stop = true,
                             .train_loss = 0.5,
                             .train_accuracy = 0.75,
                             .valid_loss = 0.625,
                             .valid_metric = 0.25,
                             .best_metric = 0.375,
                             .learning_rate = 0.01,
                             .valid_accuracy = 0.125,
                             .step = 5,
                             .value_count = 4,
                             .value = value,
                             .first = first,
                             .second = second,
                             .best_value = best_value,
                             .table = table,
                             .table_size = sizeof table - 1,
                             .progress = {0.5, 3, 4, 0.01, 2.5, 0},
                             .rounds = rounds[0],
                             .round_count = 2,
                             .log = log_text,
                             .log_size = sizeof log_text - 1};
}

static void a_snapshot_comes_back_as_it_was(void **state)
{
    struct temp_store *p = *state;
    const struct snapshot put = some_snapshot();
    struct snapshot got = {0};
    assert_ok(snapshot_put(p->store, run, &put, &p->err), &p->err);
    assert_ok(snapshot_get(p->store, run, 5, &got, &p->err), &p->err);
    assert_int_equal(got.version, 5);
    assert_int_equal(got.previous_version, 3);
    assert_int_equal(got.best_version, 3);
    assert_int_equal(got.since_best, 1);
    assert_int_equal(got.epoch, 2);
    assert_true(got.stop);
    assert_true(got.train_loss == 0.5 && got.train_accuracy == 0.75);
    assert_true(got.valid_loss == 0.625 && got.valid_accuracy == 0.125);
    assert_true(got.valid_metric == 0.25 && got.best_metric == 0.375);
    assert_true(got.learning_rate == 0.01);
    assert_int_equal(got.step, 5);
    assert_memory_equal(got.value, value, sizeof value);
    assert_memory_equal(got.first, first, sizeof first);
    assert_memory_equal(got.second, second, sizeof second);
    assert_memory_equal(got.best_value, best_value, sizeof best_value);
    assert_int_equal(got.table_size, sizeof table - 1);
    assert_memory_equal(got.table, table, sizeof table - 1);
    assert_memory_equal(got.progress, put.progress, sizeof put.progress);
    assert_int_equal(got.round_count, 2);
    assert_memory_equal(got.rounds, rounds, sizeof rounds);
    assert_int_equal(got.log_size, sizeof log_text - 1);
    assert_memory_equal(got.log, log_text, sizeof log_text - 1);
    store_release_record(&got.view);
}

static void the_best_snapshot_is_its_own_best_and_may_lack_metrics(void **state)
{
    struct temp_store *p = *state;
    struct snapshot put = some_snapshot(), got = {0};
    put.best_version = put.version;
    put.best_value = NULL;
    put.second = NULL;
    put.valid_loss = put.valid_metric = put.best_metric = put.valid_accuracy = (double)NAN;
    put.log = NULL;
    put.log_size = 0;
    assert_ok(snapshot_put(p->store, run, &put, &p->err), &p->err);
    assert_ok(snapshot_get(p->store, run, 5, &got, &p->err), &p->err);
    assert_ptr_equal(got.best_value, got.value);
    assert_null(got.second);
    assert_true(isnan(got.valid_metric));
    assert_int_equal(got.log_size, 0);
    store_release_record(&got.view);
}

static void a_snapshot_with_one_bad_section_is_corrupt(void **state)
{
    struct temp_store *p = *state;
    static const int64_t later[8] = {6, 3, 0, 3, 1, 2}, backwards[8] = {5, 5, 0, 3, 1, 2},
                         best_later[8] = {5, 3, 0, 6, 1, 2}, stop_two[8] = {5, 3, 2, 3, 1, 2},
                         own_best[8] = {5, 3, 0, 5, 0, 2};
    const struct {
        struct tamper change;
        const char *message;
    } bad[] = {
        {{"cursor", ELEMENT_I64, later, 8}, "version is 6, expected 5"},
        {{"cursor", ELEMENT_I64, backwards, 8}, "expected previous < version"},
        {{"cursor", ELEMENT_I64, best_later, 8}, "best 6"},
        {{"cursor", ELEMENT_I64, stop_two, 8}, "\"cursor\" stop: expected 0 to 1, found 2"},
        {{"cursor", ELEMENT_I64, own_best, 8}, "best_value stands in the best snapshot itself"},
        {{"cursor", ELEMENT_I64, later, 7}, "cursor"},
        {{"metric", ELEMENT_UNKNOWN, NULL, 0}, "metric"},
        {{"value", ELEMENT_F32, value, 3}, "first: expected 3 elements, found 4"},
        {{"value", ELEMENT_F32, with_nan, 4},
         "\"value\" entry 1: expected a finite number, found nan"},
        {{"first", ELEMENT_F32, first, 3}, "first: expected 4 elements, found 3"},
        {{"second", ELEMENT_F32, with_nan, 4},
         "\"second\" entry 1: expected a finite number, found nan"},
        {{"best_value", ELEMENT_UNKNOWN, NULL, 0}, "best_value"},
        {{"best_value", ELEMENT_F32, with_nan, 4},
         "\"best_value\" entry 1: expected a finite number, found nan"},
        {{"table", ELEMENT_U8, "a 1 3\n", 6}, "describes 3 values, expected 4"},
        {{"log", ELEMENT_U8, "{}", 2}, "log: expected lines of text"},
        {{"log", ELEMENT_U8, "{\0}\n", 4}, "log: expected lines of text"},
    };
    const struct snapshot put = some_snapshot();
    const struct key key = key_snapshot(run, 5);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct snapshot got = {0};
        assert_ok(snapshot_put(p->store, run, &put, &p->err), &p->err);
        record_tamper(p->store, key.text, run, &bad[i].change);
        assert_fails(snapshot_get(p->store, run, 5, &got, &p->err), ERROR_CORRUPT, key.text,
                     &p->err);
        assert_non_null(strstr(p->err.message, bad[i].message));
        assert_null(got.value);
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
    }
}

static void the_switch_names_the_newest(void **state)
{
    struct temp_store *p = *state;
    int64_t version = 0;
    assert_int_equal(snapshot_current_version(p->store, run, &version, NULL, &p->err),
                     ERROR_NOT_FOUND);
    struct snapshot put = some_snapshot();
    assert_fails(snapshot_switch(p->store, run, 5, &p->err), ERROR_NOT_FOUND, "0000000005",
                 &p->err);
    assert_int_equal(snapshot_current_version(p->store, run, &version, NULL, &p->err),
                     ERROR_NOT_FOUND);
    for (put.version = 5; put.version <= 12; put.version += 7) {
        assert_ok(snapshot_put(p->store, run, &put, &p->err), &p->err);
        assert_ok(snapshot_switch(p->store, run, put.version, &p->err), &p->err);
    }
    assert_ok(snapshot_current_version(p->store, run, &version, NULL, &p->err), &p->err);
    assert_int_equal(version, 12);
    struct snapshot_position position = {0};
    assert_ok(snapshot_position_get(p->store, run, &position, &p->err), &p->err);
    assert_int_equal(position.kept_from, 12);
    const char *const bad[] = {"", "x", "-1 0", "12", "12x 1", "12 13", "12 -1", "12 1 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_ok(
            store_switch_set(p->store, key_run(run, "current_snapshot").text, bad[i], &p->err),
            &p->err);
        assert_fails(snapshot_position_get(p->store, run, &position, &p->err), ERROR_CORRUPT,
                     "expected the version of a snapshot", &p->err);
        assert_ok(snapshot_current_version(p->store, run, &version, NULL, &p->err), &p->err);
        assert_int_equal(version, 12);
    }
}

static void damage(struct temp_store *p, const char *path)
{
    char whole[FILE_PATH_SIZE];
    assert_ok(file_path(whole, &p->err, "%s/%s", store_root(p->store), path), &p->err);
    assert_ok(file_replace(whole, "damaged", 7, false, &p->err), &p->err);
}

static int64_t stands_at(struct temp_store *p)
{
    struct snapshot found = {0};
    const enum error_code rc = snapshot_get_current(p->store, run, &found, &p->err);
    if (rc == ERROR_NOT_FOUND)
        return -1;
    assert_ok(rc, &p->err);
    const int64_t version = found.version;
    store_release_record(&found.view);
    return version;
}

static void what_is_lost_stands_for_the_newest_whole_snapshot(void **state)
{
    struct temp_store *p = *state;
    struct snapshot put = some_snapshot();
    for (put.version = 5; put.version <= 19; put.version += 7)
        assert_ok(snapshot_put(p->store, run, &put, &p->err), &p->err);
    assert_int_equal(stands_at(p), 19); /* a switch that is gone */
    assert_ok(snapshot_switch(p->store, run, 12, &p->err), &p->err);
    assert_int_equal(stands_at(p), 12);
    damage(p, "switch/run/karate-00000001/current_snapshot");
    assert_int_equal(stands_at(p), 19);
    assert_ok(snapshot_switch(p->store, run, 19, &p->err), &p->err);
    damage(p, "run/karate-00000001/snapshot/0000000019.record");
    assert_int_equal(stands_at(p), 12);
    assert_ok(store_remove(p->store, key_snapshot(run, 12).text, &p->err), &p->err);
    assert_int_equal(stands_at(p), 5);
    damage(p, "run/karate-00000001/snapshot/0000000005.record");
    assert_int_equal(stands_at(p), -1);
}

static void a_run_can_stand_at_its_start(void **state)
{
    struct temp_store *p = *state;
    const struct snapshot put = some_snapshot();
    assert_ok(snapshot_put(p->store, run, &put, &p->err), &p->err);
    assert_ok(snapshot_switch(p->store, run, 0, &p->err), &p->err);
    assert_int_equal(stands_at(p), -1);
}

/* Writes weights and state 5 as the snapshot has them; gives their content. */
static void put_round_records(struct temp_store *p, struct checksum content[2])
{
    const struct key key[2] = {key_weights(run, 5), key_optimizer_state(run, 5)};
    const struct snapshot s = some_snapshot();
    const struct optimizer_state state = {.version = 5,
                                          .step = 5,
                                          .value_count = 4,
                                          .first = first,
                                          .second = second,
                                          .rounds = rounds[0],
                                          .round_count = 2};
    struct weights weights = {.version = 5,
                              .value_count = 4,
                              .value = value,
                              .table = table,
                              .table_size = sizeof table - 1};
    memcpy(weights.progress, s.progress, sizeof weights.progress);
    assert_ok(optimizer_state_put(p->store, run, &state, &p->err), &p->err);
    assert_ok(weights_put(p->store, run, &weights, &p->err), &p->err);
    for (int i = 0; i < 2; i++) {
        struct record_view view = {0};
        assert_ok(store_get(p->store, key[i].text, run, &view, &p->err), &p->err);
        content[i] = view.content;
        store_release_record(&view);
    }
}

static void lost_and_torn_records_are_made_again_from_a_snapshot(void **state)
{
    struct temp_store *p = *state;
    const struct snapshot put = some_snapshot();
    const struct key key[2] = {key_weights(run, 5), key_optimizer_state(run, 5)};
    struct checksum before[2];
    bool changed = true;
    put_round_records(p, before);
    assert_fails(snapshot_restore(p->store, run, 5, &changed, &p->err), ERROR_NOT_FOUND,
                 key_snapshot(run, 5).text, &p->err);
    assert_ok(snapshot_put(p->store, run, &put, &p->err), &p->err);
    for (int lost = 0; lost < 2; lost++) {
        char path[FILE_PATH_SIZE];
        assert_ok(file_path(path, &p->err, "%s/%s.record", store_root(p->store), key[lost].text),
                  &p->err);
        assert_ok(file_replace(path, "torn", 4, false, &p->err), &p->err);
        assert_ok(store_remove(p->store, key[1 - lost].text, &p->err), &p->err);
        assert_ok(snapshot_restore(p->store, run, 5, &changed, &p->err), &p->err);
        assert_true(changed);
        assert_ok(snapshot_restore(p->store, run, 5, &changed, &p->err), &p->err);
        assert_false(changed);
        for (int i = 0; i < 2; i++) {
            struct record_view view = {0};
            assert_ok(store_get(p->store, key[i].text, run, &view, &p->err), &p->err);
            assert_true(checksum_equal(&view.content, &before[i]));
            store_release_record(&view);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_snapshot_comes_back_as_it_was),
        test_with_store(the_best_snapshot_is_its_own_best_and_may_lack_metrics),
        test_with_store(a_snapshot_with_one_bad_section_is_corrupt),
        test_with_store(the_switch_names_the_newest),
        test_with_store(what_is_lost_stands_for_the_newest_whole_snapshot),
        test_with_store(a_run_can_stand_at_its_start),
        test_with_store(lost_and_torn_records_are_made_again_from_a_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
