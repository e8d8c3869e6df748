/* A gradient in ranges is the gradient; a range that cannot be one of its is refused. */
#include "store/records/round/gradient_range.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { TRAINED = 100, VALUES = 107 };

static void bounds_cover_all_values_once(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 15, 16, 17, 1000, 12345};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int ranges = 1; ranges <= GRADIENT_RANGES_MAX; ranges++) {
            uint64_t next = 0, most = 0;
            for (int range = 0; range < ranges; range++) {
                uint64_t first = 0, end = 0;
                gradient_range_bounds(sizes[i], sizes[i] + 7, ranges, range, &first, &end);
                assert_int_equal(first, next);
                assert_true(end >= first);
                assert_int_equal(first % 16, 0);
                most = end - first > most ? end - first : most;
                next = end;
            }
            assert_int_equal(next, sizes[i] + 7);
            assert_true(most <= sizes[i] / (uint64_t)ranges + 16 + 16 + 7);
        }
}

static struct gradient gradient_of(float value[VALUES])
{
    for (int i = 0; i < VALUES; i++)
        value[i] = (float)i / 8 - 3;
    return (struct gradient){.weights_version = 4,
                             .value_count = VALUES,
                             .value = value,
                             .seed_count = 9,
                             .correct_count = 5,
                             .loss_sum = 2.5};
}

static void ranges_are_gathered_to_the_same_gradient(void **state)
{
    static const struct gradient_form floats = {.encoded_count = TRAINED};
    struct temp_store *t = *state;
    float value[VALUES], gathered[VALUES];
    const struct gradient put = gradient_of(value);
    for (int ranges = 1; ranges <= 9; ranges += 4) {
        struct gradient read = {0};
        memset(gathered, 0, sizeof gathered);
        assert_ok(gradient_put_ranges(t->store, "r", 4, ranges, &put, &floats, ranges, &t->err),
                  &t->err);
        assert_ok(gradient_get(t->store, "r", 4, ranges, &read, &t->err), &t->err);
        assert_null(read.value);
        assert_int_equal(read.value_count, VALUES);
        assert_int_equal(read.seed_count, 9);
        assert_ok(
            gradient_gather_ranges(t->store, "r", 4, ranges, &read, ranges, gathered, &t->err),
            &t->err);
        assert_memory_equal(gathered, value, sizeof value);
        assert_fails(
            gradient_gather_ranges(t->store, "r", 4, ranges, &read, ranges + 1, gathered, &t->err),
            ERROR_NOT_FOUND, "gradient_range", &t->err);
        if (ranges > 1)
            assert_fails(gradient_gather_ranges(t->store, "r", 4, ranges, &read, ranges - 1,
                                                gathered, &t->err),
                         ERROR_CORRUPT, "its ranges have", &t->err);
        gradient_release(&read);
    }
}

enum { MANY_TRAINED = 5000, MANY = MANY_TRAINED + 7 };

/* With a long stretch of zeros, and running statistics behind. */
static void fill_many(float value[MANY], bool few)
{
    for (int i = 0; i < MANY; i++)
        value[i] = few && i < MANY_TRAINED && (i < 2100 || i % 50 != 3) ? 0.0F : sinf((float)i);
}

static void assert_gathered(struct temp_store *t, const struct gradient *put,
                            const struct gradient_form *form, const struct gradient *expected,
                            int ranges)
{
    float gathered[MANY];
    struct gradient read = {0};
    assert_ok(gradient_put_ranges(t->store, "r", 4, 1, put, form, ranges, &t->err), &t->err);
    assert_ok(gradient_get(t->store, "r", 4, 1, &read, &t->err), &t->err);
    assert_ok(gradient_gather_ranges(t->store, "r", 4, 1, &read, ranges, gathered, &t->err),
              &t->err);
    assert_memory_equal(gathered, expected->value, sizeof gathered);
    gradient_release(&read);
}

static enum error_code touch(void *context, size_t index, struct gradient_range *range,
                             struct error *err)
{
    (void)index, (void)err;
    *(double *)context += (range->sum ? range->sum[0] : (double)range->value[0]) +
                          (range->statistics ? range->statistics[0] : 0);
    return ERROR_NONE;
}

static enum error_code compare_error(void *context, size_t index, struct gradient_range *range,
                                     struct error *err)
{
    const struct gradient *whole = context;
    (void)index, (void)err;
    assert_true(range->squared_error == whole->squared_error &&
                range->squared_norm == whole->squared_norm);
    return ERROR_NONE;
}

static struct key key_of_range(const void *context, size_t index)
{
    (void)context;
    return key_gradient_range("r", 4, 1, (int)index);
}

/* Blocks of int8 are cut by ranges, and ranges without a number that is kept are nothing but zeros. */
static void encoded_ranges_are_the_encoded_gradient(void **state)
{
    static const int counts[] = {1, 2, 5, 64};
    struct temp_store *t = *state;
    static float value[MANY];
    for (int e = GRADIENT_F32 + 1; e < GRADIENT_ENCODING_COUNT; e++) {
        const struct gradient_form form = {
            .encoding = (enum gradient_encoding)e, .encoded_count = MANY_TRAINED, .seed = 11};
        struct gradient put = {.value_count = MANY,
                               .value = value,
                               .seed_count = 9,
                               .squared_error = 2,
                               .squared_norm = 3};
        struct gradient whole = {0};
        fill_many(value, e == GRADIENT_SPARSE);
        if (e != GRADIENT_SPARSE)
            put.squared_error = put.squared_norm = 0;
        assert_ok(gradient_put(t->store, "r", 4, 1, &put, &form, &t->err), &t->err);
        assert_ok(gradient_get(t->store, "r", 4, 1, &whole, &t->err), &t->err);
        assert_true(whole.squared_error > 0 && whole.decoded);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            const struct gradient_range_series series = {.count = (size_t)counts[i],
                                                         .key = key_of_range,
                                                         .visit = compare_error,
                                                         .context = &whole};
            assert_ok(store_remove(t->store, key_gradient("r", 4, 1).text, &t->err), &t->err);
            assert_gathered(t, &put, &form, &whole, counts[i]);
            assert_ok(gradient_range_get_each(t->store, "r", &series, &t->err), &t->err);
            for (int range = 0; range < counts[i]; range++)
                assert_ok(store_remove(t->store, key_of_range(NULL, (size_t)range).text, &t->err),
                          &t->err);
        }
        assert_ok(store_remove(t->store, key_gradient("r", 4, 1).text, &t->err), &t->err);
        gradient_release(&whole);
    }
}

static struct key second_key(const void *context, size_t index)
{
    (void)context, (void)index;
    return key_gradient_range("r", 4, 1, 1);
}

/* The second of two ranges, which begins in the midst of a block. */
static void encoded_ranges_that_do_not_fit_are_refused(void **state)
{
    static const uint64_t count[] = {MANY_TRAINED}, zero[] = {0};
    static const double error[] = {-1, 1};
    static const float scale[] = {1, 1, 1};
    static const uint32_t places[] = {3, 2600}, beyond[] = {2600, MANY_TRAINED};
    static const float kept[] = {1, 2};
    static const struct {
        enum gradient_encoding encoding;
        struct tamper change;
        const char *message;
    } cases[] = {
        {GRADIENT_BF16, {"value_count", ELEMENT_U64, count, 1}, "a number for each parameter"},
        {GRADIENT_BF16, {"value_count", ELEMENT_U64, zero, 1}, "value_count says 0 numbers"},
        {GRADIENT_BF16, {"value_count", ELEMENT_UNKNOWN, NULL, 0}, "value_count"},
        {GRADIENT_BF16, {"encoding_error", ELEMENT_F64, error, 2}, "expected sums of squares"},
        {GRADIENT_INT8, {"value_scale", ELEMENT_F32, scale, 2}, "a scale for each block"},
        {GRADIENT_SPARSE, {"value_index", ELEMENT_U32, places, 2}, "as many places as numbers"},
        {GRADIENT_SPARSE, {"value_index", ELEMENT_U32, beyond, 2}, "as many places as numbers"},
        {GRADIENT_SPARSE, {"value_kept", ELEMENT_F32, kept, 1}, "as many places as numbers"},
    };
    struct temp_store *t = *state;
    static float value[MANY];
    double seen = 0;
    const struct gradient_range_series series = {
        .count = 1, .key = second_key, .visit = touch, .context = &seen};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gradient_form form = {
            .encoding = cases[i].encoding, .encoded_count = MANY_TRAINED, .seed = 11};
        const struct gradient put = {.value_count = MANY, .value = value, .seed_count = 9};
        const struct key key = second_key(NULL, 0);
        fill_many(value, cases[i].encoding == GRADIENT_SPARSE);
        assert_ok(gradient_put_ranges(t->store, "r", 4, 1, &put, &form, 2, &t->err), &t->err);
        assert_ok(gradient_range_get_each(t->store, "r", &series, &t->err), &t->err);
        record_tamper(t->store, key.text, "r", &cases[i].change);
        assert_fails(gradient_range_get_each(t->store, "r", &series, &t->err), ERROR_CORRUPT,
                     cases[i].message, &t->err);
        t->err = (struct error){0};
        assert_ok(store_remove(t->store, key.text, &t->err), &t->err);
        assert_ok(store_remove(t->store, key_gradient_range("r", 4, 1, 0).text, &t->err), &t->err);
        assert_ok(store_remove(t->store, key_gradient("r", 4, 1).text, &t->err), &t->err);
    }
}

static struct key only_key(const void *context, size_t index)
{
    (void)context, (void)index;
    return key_gradient_sum("r", 4, 3);
}

static enum error_code read_one(struct temp_store *t, double *seen)
{
    double sum = 0;
    const struct gradient_range_series series = {
        .count = 1, .key = only_key, .visit = touch, .context = &sum};
    t->err = (struct error){0};
    const enum error_code rc = gradient_range_get_each(t->store, "r", &series, &t->err);
    *seen = sum;
    return rc;
}

static void sums_read_back_and_what_cannot_be_is_refused(void **state)
{
    static const double sum[] = {7, 8, 9}, statistics[] = {100};
    static const uint64_t outside[] = {5, 7}, none[] = {0, 0}, wrong[] = {1, 2};
    static const struct gradient_range put = {.weights_version = 4,
                                              .first = 4,
                                              .count = 3,
                                              .value_count = 7,
                                              .sum = sum,
                                              .statistics_count = 1,
                                              .statistics = statistics,
                                              .seed_count = 9,
                                              .correct_count = 5,
                                              .loss_sum = 2.5};
    static const struct {
        struct tamper change;
        const char *message;
    } cases[] = {
        {{"range", ELEMENT_U64, outside, 2}, "3 values from value 5 on, expected at most the 7"},
        {{"range", ELEMENT_U64, none, 2}, "expected at most the 0"},
        {{"range", ELEMENT_U64, none, 1}, "range"},
        {{"version", ELEMENT_UNKNOWN, NULL, 0}, "version"},
        {{"sum", ELEMENT_F32, sum, 3}, "sum"},
        {{"sum", ELEMENT_UNKNOWN, NULL, 0}, "value"},
        {{"statistics", ELEMENT_F32, statistics, 1}, "statistics"},
        {{"counts", ELEMENT_U64, wrong, 2}, "2 correct ones"},
        {{"loss", ELEMENT_UNKNOWN, NULL, 0}, "loss"}};
    struct temp_store *t = *state;
    const struct key key = key_gradient_sum("r", 4, 3);
    double seen = 0;
    assert_ok(gradient_range_put(t->store, "r", &key, &put, &t->err), &t->err);
    assert_ok(read_one(t, &seen), &t->err);
    assert_true(seen == 107);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record_tamper(t->store, key.text, "r", &cases[i].change);
        assert_fails(read_one(t, &seen), ERROR_CORRUPT, cases[i].message, &t->err);
        assert_ok(store_remove(t->store, key.text, &t->err), &t->err);
        assert_ok(gradient_range_put(t->store, "r", &key, &put, &t->err), &t->err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_cover_all_values_once),
        test_with_store(ranges_are_gathered_to_the_same_gradient),
        test_with_store(encoded_ranges_are_the_encoded_gradient),
        test_with_store(encoded_ranges_that_do_not_fit_are_refused),
        test_with_store(sums_read_back_and_what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
