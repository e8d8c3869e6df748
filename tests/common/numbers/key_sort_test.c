#include "common/numbers/key_sort.h"
#include "common/numbers/random.h"

#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 3000 };

static uint64_t key[MOST], wanted[MOST], scratch[MOST];

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void fill(size_t count, uint64_t seed, uint32_t below)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_SHUFFLE, 0, 0, 0);
    for (size_t i = 0; i < count; i++)
        key[i] = wanted[i] = (uint64_t)random_below(random_word(&stream, i, 0), below) << 32 | i;
}

static void sorts_every_length_as_qsort_does(void **state)
{
    (void)state;
    for (size_t count = 0; count < 300; count++) {
        fill(count, count, count % 3 ? UINT32_MAX : 4);
        qsort(wanted, count, sizeof *wanted, by_number);
        key_sort(key, scratch, count);
        assert_memory_equal(key, wanted, count * sizeof *key);
    }
    fill(MOST, 1, UINT32_MAX);
    qsort(wanted, MOST, sizeof *wanted, by_number);
    key_sort(key, scratch, MOST);
    assert_memory_equal(key, wanted, sizeof key);
}

static void sorts_keys_that_stand_in_order_already(void **state)
{
    (void)state;
    for (size_t count = 0; count < 70; count++) {
        for (size_t i = 0; i < count; i++)
            key[i] = wanted[i] = i / 2;
        key_sort(key, scratch, count);
        assert_memory_equal(key, wanted, count * sizeof *key);
    }
}

static int by_narrow(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sorts_narrow_keys_in_place(void **state)
{
    (void)state;
    static uint32_t narrow[MOST], expected[MOST];
    for (size_t count = 0; count <= MOST; count += count < 200 ? 1 : 700) {
        const uint32_t below = count % 3 == 0 ? UINT32_MAX : count % 3 == 1 ? 5 : 1000000;
        const struct random_stream stream = random_stream_of(count, RANDOM_SHUFFLE, 0, 0, 0);
        for (size_t i = 0; i < count; i++)
            narrow[i] = expected[i] = random_below(random_word(&stream, i, 0), below);
        qsort(expected, count, sizeof *expected, by_narrow);
        key_sort_narrow(narrow, count);
        assert_memory_equal(narrow, expected, count * sizeof *narrow);
    }
}

/* Compares only `context` low bits of the high half. */
static bool lower_rest(const void *context, uint64_t a, uint64_t b)
{
    const uint64_t rest = *(const uint64_t *)context;
    return (a >> 32) % rest < (b >> 32) % rest;
}

static void keys_that_the_order_does_not_tell_apart_stay_as_they_stand(void **state)
{
    (void)state;
    const uint64_t rest = 5;
    for (size_t count = 0; count < MOST; count += 37) {
        fill(count, count, 1000);
        key_sort_by(key, scratch, count, lower_rest, &rest);
        for (size_t i = 1; i < count; i++) {
            const uint64_t before = (key[i - 1] >> 32) % rest, here = (key[i] >> 32) % rest;
            assert_true(before < here ||
                        (before == here && (uint32_t)key[i - 1] < (uint32_t)key[i]));
            assert_int_equal(key[i], wanted[(uint32_t)key[i]]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_every_length_as_qsort_does),
        cmocka_unit_test(sorts_keys_that_stand_in_order_already),
        cmocka_unit_test(sorts_narrow_keys_in_place),
        cmocka_unit_test(keys_that_the_order_does_not_tell_apart_stay_as_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
