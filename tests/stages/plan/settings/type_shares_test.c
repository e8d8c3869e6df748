/* Budgets of node types: a type that fits is held whole, and one that does not fit gets less than
 * all of its rows. */
#include "stages/plan/settings/type_shares.h"

#include "tests/support/test.h"

#include <string.h>

static void expect(const uint64_t *portion, uint64_t budget, const uint64_t *expected)
{
    uint64_t share[3];
    memset(share, 0xff, sizeof share);
    type_shares(portion, 3, budget, share);
    assert_memory_equal(share, expected, sizeof share);
}

static void all_that_fit_are_whole(void **state)
{
    (void)state;
    expect((uint64_t[]){50, 0, 30}, 80, (uint64_t[]){50, 0, 30});
    expect((uint64_t[]){0, 0, 0}, 80, (uint64_t[]){0, 0, 0});
}

static void of_more_the_smallest_that_fit_half(void **state)
{
    (void)state;
    expect((uint64_t[]){50, 10, 30}, 80, (uint64_t[]){40, 10, 30});
    expect((uint64_t[]){50, 10, 31}, 80, (uint64_t[]){49, 10, 30}); /* less than all rows */
    expect((uint64_t[]){90, 90, 90}, 80, (uint64_t[]){80, 80, 80});
    expect((uint64_t[]){40, 40, 1}, 80, (uint64_t[]){39, 39, 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_fit_are_whole),
        cmocka_unit_test(of_more_the_smallest_that_fit_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
