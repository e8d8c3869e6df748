#include "common/base/clock.h"

#include "tests/support/test.h"

#include <math.h>

static void time_goes_on_while_asleep(void **state)
{
    (void)state;
    const double seconds = clock_seconds();
    const int64_t ms = clock_ms();
    clock_sleep_ms(30);
    const double passed = clock_seconds() - seconds;
    const int64_t passed_ms = clock_ms() - ms;
    assert_true(passed >= 0.029 && passed < 60);
    assert_true(passed_ms >= 29 && passed_ms < 60000);
    clock_sleep_ms(0);
    clock_sleep_ms(-5); /* does not wait */
}

static void both_clocks_of_intervals_agree(void **state)
{
    (void)state;
    assert_true(fabs(clock_seconds() * 1000 - (double)clock_ms()) < 1000);
}

static void the_wall_clock_counts_from_1970(void **state)
{
    (void)state;
    assert_true(clock_wall_seconds() > 1.6e9); /* later than 2020 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_on_while_asleep),
        cmocka_unit_test(both_clocks_of_intervals_agree),
        cmocka_unit_test(the_wall_clock_counts_from_1970),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
