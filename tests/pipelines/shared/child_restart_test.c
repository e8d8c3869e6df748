#include "pipelines/shared/child_restart.h"

#include "tests/support/test.h"

#include <signal.h>
#include <sysexits.h>

static int times_allowed(int status)
{
    struct child_restart restart = {0};
    int64_t pause_ms = 0;
    int times = 0;
    while (times < 1000 && child_restart_allowed(&restart, status, 0, &pause_ms))
        times++;
    return times;
}

static void what_may_go_another_way_is_tried_again_and_nothing_else(void **state)
{
    static const int final[] = {EX_USAGE, EX_DATAERR, EX_SOFTWARE, EX_CONFIG, 1, 66};
    (void)state;
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        assert_int_equal(times_allowed(final[i]), 0);
    assert_int_equal(times_allowed(EX_IOERR), 10);
    assert_int_equal(times_allowed(EX_OSERR), 4);
    assert_int_equal(times_allowed(EX_TEMPFAIL), 40);
    assert_int_equal(times_allowed(128 + SIGKILL), 40);
    assert_int_equal(times_allowed(128 + SIGTERM), 40);
    assert_int_equal(times_allowed(128 + SIGSEGV), 4);
    assert_int_equal(times_allowed(128 + SIGABRT), 4);
}

static void pauses_grow_up_to_a_bound(void **state)
{
    static const int64_t expected[] = {500,   1000,  2000,  4000,  8000,
                                       16000, 30000, 30000, 30000, 30000};
    struct child_restart restart = {0};
    int64_t pause_ms = -1;
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(child_restart_allowed(&restart, EX_IOERR, 7, &pause_ms));
        assert_int_equal(pause_ms, expected[i]);
    }
    assert_false(child_restart_allowed(&restart, EX_IOERR, 7, &pause_ms));
}

static void a_killed_worker_is_back_at_once(void **state)
{
    struct child_restart restart = {0};
    int64_t pause_ms = -1, before = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        assert_true(child_restart_allowed(&restart, 128 + SIGKILL, 0, &pause_ms));
        assert_true(i < 3 ? pause_ms == 0 : pause_ms >= 10 && pause_ms <= 1000);
        assert_true(pause_ms >= before);
        before = pause_ms;
    }
}

static void done_units_start_the_count_anew(void **state)
{
    struct child_restart restart = {0};
    int64_t pause_ms = -1;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_true(child_restart_allowed(&restart, EX_IOERR, i, &pause_ms));
        assert_int_equal(pause_ms, 500);
    }
}

static void another_cause_starts_the_count_anew(void **state)
{
    struct child_restart restart = {0};
    int64_t pause_ms = -1;
    (void)state;
    for (int i = 0; i < 10; i++)
        assert_true(child_restart_allowed(&restart, EX_IOERR, 0, &pause_ms));
    assert_true(child_restart_allowed(&restart, 128 + SIGKILL, 0, &pause_ms));
    assert_int_equal(pause_ms, 0);
    assert_true(child_restart_allowed(&restart, EX_IOERR, 0, &pause_ms));
    assert_false(child_restart_allowed(&restart, EX_DATAERR, 0, &pause_ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_go_another_way_is_tried_again_and_nothing_else),
        cmocka_unit_test(pauses_grow_up_to_a_bound),
        cmocka_unit_test(a_killed_worker_is_back_at_once),
        cmocka_unit_test(done_units_start_the_count_anew),
        cmocka_unit_test(another_cause_starts_the_count_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
