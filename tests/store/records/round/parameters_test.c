#include "store/objects/keys.h"
#include "store/records/round/gradient.h"
#include "store/records/round/parameters.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>

static const char run[] = "karate-00000001";
static const char table[] = "convs.0.weight 2 3\nconvs.0.bias 2 1\n";
static const float value[8] = {1, -2, 3, -4, 5, -6, 7, -8};
static const float moment[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static const float with_nan[8] = {0, 1, 2, NAN, 4, 5, 6, 7};
static const float with_infinity[8] = {0, 1, 2, 3, 4, 5, 6, -INFINITY};

static struct weights some_weights(uint64_t version)
{
    return (struct weights){.version = version,
                            .value_count = 8,
                            .value = value,
                            .table = table,
                            .table_size = sizeof table - 1,
                            .progress = {0.5, 3, 4, 0.01, 2.5, 0}};
}

static struct evaluation some_evaluation(const double *tally)
{
    static const float score[3] = {0.5F, -1, 2};
    static const uint8_t truth[3] = {1, 0, 1};
    return (struct evaluation){.version = 6,
                               .seed_count = 3,
                               .correct_count = 2,
                               .loss_sum = 1.25,
                               .tally_size = 6,
                               .tally = tally,
                               .score_count = 3,
                               .score = score,
                               .truth = truth};
}

static void weights_come_back_as_they_were(void **state)
{
    struct temp_store *p = *state;
    const struct weights put = some_weights(12);
    struct weights got = {0};
    assert_ok(weights_put(p->store, run, &put, &p->err), &p->err);
    assert_ok(weights_get(p->store, run, 12, &got, &p->err), &p->err);
    assert_int_equal(got.version, 12);
    assert_int_equal(got.value_count, 8);
    assert_memory_equal(got.value, value, sizeof value);
    assert_int_equal(got.table_size, put.table_size);
    assert_memory_equal(got.table, table, put.table_size);
    assert_memory_equal(got.progress, put.progress, sizeof put.progress);
    store_release_record(&got.view);
}

static void optimizer_state_comes_back_with_and_without_second_moment(void **state)
{
    struct temp_store *p = *state;
    struct optimizer_state put = {
        .version = 3, .step = 3, .value_count = 8, .first = value, .second = moment};
    static const double rounds[2][PROGRESS_COUNT] = {{0.75, 2, 4, 0.01, 3.5, 0}, {0.5, 3}};
    struct optimizer_state got = {0};
    put.rounds = rounds[0];
    put.round_count = 2;
    assert_ok(optimizer_state_put(p->store, run, &put, &p->err), &p->err);
    assert_ok(optimizer_state_get(p->store, run, 3, &got, &p->err), &p->err);
    assert_int_equal(got.step, 3);
    assert_memory_equal(got.first, value, sizeof value);
    assert_memory_equal(got.second, moment, sizeof moment);
    assert_int_equal(got.round_count, 2);
    assert_memory_equal(got.rounds, rounds, sizeof rounds);
    store_release_record(&got.view);

    put.version = 4;
    put.second = NULL;
    put.rounds = NULL;
    assert_ok(optimizer_state_put(p->store, run, &put, &p->err), &p->err);
    assert_ok(optimizer_state_get(p->store, run, 4, &got, &p->err), &p->err);
    assert_int_equal(got.value_count, 8);
    assert_null(got.second);
    assert_null(got.rounds);
    assert_int_equal(got.round_count, 0);
    store_release_record(&got.view);
}

static void an_evaluation_comes_back_with_and_without_scores(void **state)
{
    struct temp_store *p = *state;
    const double tally[6] = {1, 1, 0, 1, 1, 0};
    struct evaluation put = some_evaluation(tally), got = {0};
    assert_ok(evaluation_put(p->store, run, 1, &put, &p->err), &p->err);
    assert_ok(evaluation_get(p->store, run, 6, 1, &got, &p->err), &p->err);
    assert_int_equal(got.tally_size, 6);
    assert_memory_equal(got.tally, tally, sizeof tally);
    assert_int_equal(got.score_count, 3);
    assert_memory_equal(got.score, put.score, 3 * sizeof *put.score);
    assert_memory_equal(got.truth, put.truth, 3);
    store_release_record(&got.view);

    put.version = 7;
    put.score_count = 0;
    assert_ok(evaluation_put(p->store, run, 1, &put, &p->err), &p->err);
    assert_ok(evaluation_get(p->store, run, 7, 1, &got, &p->err), &p->err);
    assert_int_equal(got.score_count, 0);
    assert_null(got.score);
    store_release_record(&got.view);
}

static void a_missing_record_is_not_found_by_its_key(void **state)
{
    struct temp_store *p = *state;
    struct weights weights = {0};
    struct gradient gradient = {0};
    assert_fails(weights_get(p->store, run, 41, &weights, &p->err), ERROR_NOT_FOUND,
                 "run/karate-00000001/weights/0000000041", &p->err);
    assert_null(weights.value);
    assert_fails(gradient_get(p->store, run, 41, 3, &gradient, &p->err), ERROR_NOT_FOUND,
                 "run/karate-00000001/round/0000000041/slot/00003/gradient", &p->err);
    assert_null(gradient.value);
}

struct bad_section {
    struct tamper change;
    const char *message;
};

#define TEXT_SECTION(text) ELEMENT_U8, text, sizeof(text) - 1

static void weights_with_one_bad_section_are_corrupt(void **state)
{
    struct temp_store *p = *state;
    static const uint64_t other_version = 13;
    static const double progress[6] = {0.5, 3, (double)INFINITY, 0.01, 2.5, 0};
    const struct bad_section bad[] = {
        {{"version", ELEMENT_U64, &other_version, 1}, "version is 13, expected 12"},
        {{"version", ELEMENT_UNKNOWN, NULL, 0}, "version"},
        {{"value", ELEMENT_F32, value, 7}, "describes 8 values, expected 7"},
        {{"value", ELEMENT_F32, value, 0}, "describes 8 values, expected 0"},
        {{"value", ELEMENT_F32, with_nan, 8},
         "\"value\" entry 3: expected a finite number, found nan"},
        {{"value", ELEMENT_F32, with_infinity, 8},
         "\"value\" entry 7: expected a finite number, found -inf"},
        {{"value", ELEMENT_I32, value, 8}, "value"},
        {{"table", TEXT_SECTION("a 2 3\nb 2 1")}, "line 2: expected 'name rows cols'"},
        {{"table", TEXT_SECTION("a 2 3\n2 1\n")}, "line 2: expected 'name rows cols'"},
        {{"table", TEXT_SECTION("a 8\n")}, "line 1: expected 'name rows cols'"},
        {{"table", TEXT_SECTION("a b 2 4\n")}, "line 1: expected 'name rows cols'"},
        {{"table", TEXT_SECTION("a -2 -4\n")}, "line 1: expected 'name rows cols'"},
        {{"table", TEXT_SECTION("a 2 4\n\n")}, "line 2: expected 'name rows cols'"},
        {{"table", TEXT_SECTION("a 2 5\n")}, "describes 10 values, expected 8"},
        {{"table", TEXT_SECTION("a 4294967295 4294967295\nb 4294967295 4294967295\n")},
         "line 2: expected 'name rows cols'"},
        {{"progress", ELEMENT_F64, progress, 6},
         "\"progress\" entry 2: expected a finite number, found inf"},
        {{"progress", ELEMENT_F64, progress, 5}, "progress"},
    };
    const struct weights put = some_weights(12);
    const struct key key = key_weights(run, 12);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weights got = {0};
        assert_ok(weights_put(p->store, run, &put, &p->err), &p->err);
        record_tamper(p->store, key.text, run, &bad[i].change);
        assert_fails(weights_get(p->store, run, 12, &got, &p->err), ERROR_CORRUPT, key.text,
                     &p->err);
        assert_non_null(strstr(p->err.message, bad[i].message));
        assert_null(got.view.data);
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
    }
}

static void optimizer_state_with_one_bad_section_is_corrupt(void **state)
{
    struct temp_store *p = *state;
    static const uint64_t two[2] = {1, 2};
    static const double rounds[2][PROGRESS_COUNT] = {{0.5, 3, 4, 0.01, 2.5, 0},
                                                     {0.5, 3, (double)NAN}};
    const struct bad_section bad[] = {
        {{"first", ELEMENT_F32, value, 7}, "second: expected 7 elements, found 8"},
        {{"first", ELEMENT_F32, with_nan, 8},
         "\"first\" entry 3: expected a finite number, found nan"},
        {{"second", ELEMENT_F32, moment, 0}, "second: expected 8 elements, found 0"},
        {{"second", ELEMENT_F32, with_infinity, 8},
         "\"second\" entry 7: expected a finite number, found -inf"},
        {{"step", ELEMENT_U64, two, 2}, "step"},
        {{"rounds", ELEMENT_F64, rounds, 7},
         "\"rounds\": expected 6 elements for each of 1 or more, found 7"},
        {{"rounds", ELEMENT_F64, rounds, 0},
         "\"rounds\": expected 6 elements for each of 1 or more, found 0"},
        {{"rounds", ELEMENT_F64, rounds, 12},
         "\"rounds\" entry 8: expected a finite number, found nan"},
    };
    static const double sound[PROGRESS_COUNT] = {0.5, 3, 4, 0.01, 2.5, 0};
    const struct optimizer_state put = {.version = 3,
                                        .step = 3,
                                        .value_count = 8,
                                        .first = value,
                                        .second = moment,
                                        .rounds = sound,
                                        .round_count = 1};
    const struct key key = key_optimizer_state(run, 3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct optimizer_state got = {0};
        assert_ok(optimizer_state_put(p->store, run, &put, &p->err), &p->err);
        record_tamper(p->store, key.text, run, &bad[i].change);
        assert_fails(optimizer_state_get(p->store, run, 3, &got, &p->err), ERROR_CORRUPT,
                     bad[i].message, &p->err);
        assert_null(got.first);
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
    }
}

static void a_gradient_or_evaluation_with_one_bad_section_is_corrupt(void **state)
{
    struct temp_store *p = *state;
    static const uint64_t counts[2] = {3, 4};
    static const double tally[6] = {1, 1, 0, 1, 1, 0};
    static const uint8_t truth[3] = {0, 2, 1};
    static const float score[3] = {0};
    const struct bad_section bad[] = {
        {{"counts", ELEMENT_U64, counts, 2}, "4 correct ones, expected at most the 3 seeds"},
        {{"tally", ELEMENT_F64, tally, 0}, "\"tally\" length: expected 1 or more, found 0"},
        {{"score", ELEMENT_F32, score, 2}, "truth"},
        {{"truth", ELEMENT_UNKNOWN, NULL, 0}, "truth"},
        {{"truth", ELEMENT_U8, truth, 3}, "\"truth\" entry 1: expected below 2, found 2"},
    };
    const struct evaluation put = some_evaluation(tally);
    const struct key key = key_evaluation(run, 6, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct evaluation got = {0};
        assert_ok(evaluation_put(p->store, run, 1, &put, &p->err), &p->err);
        record_tamper(p->store, key.text, run, &bad[i].change);
        assert_fails(evaluation_get(p->store, run, 6, 1, &got, &p->err), ERROR_CORRUPT,
                     bad[i].message, &p->err);
        assert_null(got.tally);
        assert_ok(store_remove(p->store, key.text, &p->err), &p->err);
    }
    const struct gradient gradient = {.value_count = 8, .value = value, .seed_count = 1};
    struct gradient got = {0};
    assert_ok(gradient_put(p->store, run, 0, 0, &gradient, NULL, &p->err), &p->err);
    record_tamper(p->store, key_gradient(run, 0, 0).text, run, &bad[0].change);
    assert_fails(gradient_get(p->store, run, 0, 0, &got, &p->err), ERROR_CORRUPT, bad[0].message,
                 &p->err);
}

static void a_record_of_another_kind_or_run_is_refused(void **state)
{
    struct temp_store *p = *state;
    const struct weights put = some_weights(1);
    struct record_view view = {0};
    struct gradient gradient = {0};
    assert_ok(weights_put(p->store, run, &put, &p->err), &p->err);
    assert_ok(store_get(p->store, key_weights(run, 1).text, run, &view, &p->err), &p->err);
    assert_fails(gradient_decode(&view, &gradient, &p->err), ERROR_CORRUPT, "gradient", &p->err);
    store_release_record(&view);
    assert_fails(store_get(p->store, key_weights(run, 1).text, "another-run", &view, &p->err),
                 ERROR_CORRUPT, key_weights(run, 1).text, &p->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(weights_come_back_as_they_were),
        test_with_store(optimizer_state_comes_back_with_and_without_second_moment),
        test_with_store(an_evaluation_comes_back_with_and_without_scores),
        test_with_store(a_missing_record_is_not_found_by_its_key),
        test_with_store(weights_with_one_bad_section_are_corrupt),
        test_with_store(optimizer_state_with_one_bad_section_is_corrupt),
        test_with_store(a_gradient_or_evaluation_with_one_bad_section_is_corrupt),
        test_with_store(a_record_of_another_kind_or_run_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
