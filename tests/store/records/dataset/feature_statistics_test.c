#include "store/objects/keys.h"
#include "store/records/dataset/feature_statistics.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>

static const char key[] = "dataset/d-1/feature_statistics";
static const double mean[] = {0.5, -2}, deviation[] = {1, 0};
static const struct feature_statistics both = {
    .has_least = true, .least = -3, .dim = 2, .mean = mean, .deviation = deviation};

static void statistics_read_back_as_written(void **state)
{
    struct temp_store *t = *state;
    struct feature_statistics read;
    const struct feature_statistics least = {.has_least = true, .least = 7};
    assert_ok(feature_statistics_put(t->store, "d-1", 0, &both, &t->err), &t->err);
    assert_ok(feature_statistics_get(t->store, "d-1", 0, &read, &t->err), &t->err);
    assert_true(read.has_least && read.least == -3 && read.dim == 2);
    assert_memory_equal(read.mean, mean, sizeof mean);
    assert_memory_equal(read.deviation, deviation, sizeof deviation);
    store_release_record(&read.view);
    assert_ok(feature_statistics_put(t->store, "d-2", 0, &least, &t->err), &t->err);
    assert_ok(feature_statistics_get(t->store, "d-2", 0, &read, &t->err), &t->err);
    assert_true(read.has_least && read.least == 7 && read.dim == 0 && !read.mean);
    store_release_record(&read.view);
    assert_ok(feature_statistics_put(t->store, "d-2", 3, &both, &t->err), &t->err);
    assert_ok(feature_statistics_get(t->store, "d-2", 3, &read, &t->err), &t->err);
    assert_true(read.least == -3 && read.dim == 2);
    store_release_record(&read.view);
    assert_fails(feature_statistics_get(t->store, "d-2", 1, &read, &t->err), ERROR_NOT_FOUND,
                 "dataset/d-2/feature_statistics/00001", &t->err);
    assert_fails(feature_statistics_get(t->store, "d-3", 0, &read, &t->err), ERROR_NOT_FOUND, "d-3",
                 &t->err);
}

static void wrong_numbers_are_refused(void **state)
{
    static const double below[] = {1, -1}, endless[] = {0, (double)INFINITY};
    static const struct {
        struct tamper change;
        const char *message;
    } cases[] = {{{"deviation", ELEMENT_F64, below, 2}, "\"deviation\" entry 1: expected a finite"},
                 {{"deviation", ELEMENT_F64, below, 1}, "deviation: expected 2 elements, found 1"},
                 {{"mean", ELEMENT_F64, endless, 2}, "\"mean\" entry 1: expected a finite number"},
                 {{"mean", ELEMENT_F64, mean, 0}, "\"mean\" length: expected 1 to"},
                 {{"least", ELEMENT_F64, mean, 2}, "least: expected 1 elements, found 2"}};
    struct temp_store *t = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct feature_statistics read;
        assert_ok(feature_statistics_put(t->store, "d-1", 0, &both, &t->err), &t->err);
        record_tamper(t->store, key, "d-1", &cases[i].change);
        assert_fails(feature_statistics_get(t->store, "d-1", 0, &read, &t->err), ERROR_CORRUPT,
                     cases[i].message, &t->err);
        assert_ok(store_remove(t->store, key, &t->err), &t->err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(statistics_read_back_as_written),
        test_with_store(wrong_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
