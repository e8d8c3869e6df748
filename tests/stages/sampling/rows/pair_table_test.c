#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "stages/sampling/rows/pair_table.h"

#include "tests/support/test.h"

enum { SIDE = 300 };

static void numbers_are_found_by_their_pair(void **state)
{
    (void)state;
    struct pair_table table = {0};
    struct array_budget budget = {0};
    struct error err = {0};
    const struct random_stream stream = random_stream_of(3, RANDOM_GENERATOR, 0, 0, 0);
    static uint32_t expected[SIDE][SIDE];
    for (int turn = 0; turn < 2; turn++) { /* the second turn reuses the memory of the first */
        for (uint32_t i = 0; i < SIDE * SIDE; i++)
            expected[i / SIDE][i % SIDE] = PAIR_TABLE_NONE;
        assert_int_equal(pair_table_find(&table, 1, 2), PAIR_TABLE_NONE);
        for (uint32_t i = 0; i < 20000; i++) {
            const uint32_t at = random_below(random_word(&stream, i, (uint32_t)turn), SIDE * SIDE);
            if (expected[at / SIDE][at % SIDE] != PAIR_TABLE_NONE)
                continue;
            assert_ok(pair_table_add(&table, &budget, at / SIDE, at % SIDE, i, &err), &err);
            expected[at / SIDE][at % SIDE] = i;
        }
        for (uint32_t a = 0; a < SIDE; a++)
            for (uint32_t b = 0; b < SIDE; b++)
                assert_int_equal(pair_table_find(&table, a, b), expected[a][b]);
        pair_table_clear(&table);
    }
    pair_table_release(&table, &budget);
    assert_int_equal(budget.used, 0);
}

static void it_says_so_without_room(void **state)
{
    (void)state;
    struct pair_table table = {0};
    struct array_budget budget = {.limit = 100};
    struct error err = {0};
    assert_fails(pair_table_add(&table, &budget, 1, 2, 3, &err), ERROR_NO_MEMORY,
                 "the table of what was drawn", &err);
    pair_table_release(&table, &budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_found_by_their_pair),
        cmocka_unit_test(it_says_so_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
