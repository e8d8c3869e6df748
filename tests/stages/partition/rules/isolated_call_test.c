#include "common/base/host.h"
#include "common/base/stop_signal.h"
#include "stages/partition/rules/isolated_call.h"

#include "tests/support/child_end.h"
#include "tests/support/test.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static int seen_by_parent;

static int doubles(void *context, void *result)
{
    seen_by_parent = 1;
    *(int *)result = 2 * *(const int *)context;
    return 0;
}

static int gives_status(void *context, void *result)
{
    *(int *)result = 7;
    return *(const int *)context;
}

static int aborts(void *context, void *result)
{
    (void)context;
    (void)result;
    abort();
}

static int is_killed(void *context, void *result)
{
    (void)context;
    (void)result;
    (void)raise(SIGKILL);
    return 0;
}

static int exits(void *context, void *result)
{
    (void)result;
    child_end(*(const int *)context);
}

static int hangs(void *context, void *result)
{
    (void)context;
    (void)result;
    for (;;)
        (void)pause();
    return 0;
}

static void the_result_comes_back_and_nothing_else(void **state)
{
    (void)state;
    struct error err = {0};
    int value = 21, out = 0, status = 5;
    assert_ok(isolated_call("call", doubles, &value, &out, sizeof out, &status, &err), &err);
    assert_int_equal(out, 42);
    assert_int_equal(status, 0);
    assert_int_equal(seen_by_parent, 0);
}

static void a_status_is_handed_on_without_result(void **state)
{
    (void)state;
    struct error err = {0};
    int value = -4, out = 1, status = 0;
    assert_ok(isolated_call("call", gives_status, &value, &out, sizeof out, &status, &err), &err);
    assert_int_equal(status, -4);
    assert_int_equal(out, 1);
}

static void a_crash_is_an_error_that_names_the_signal(void **state)
{
    (void)state;
    struct error err = {0};
    int out = 1, status = 0;
    assert_fails(isolated_call("METIS", aborts, NULL, &out, sizeof out, &status, &err), ERROR_INPUT,
                 "METIS: its process was ended by signal 6", &err);
    assert_int_equal(out, 1);
}

static void a_kill_is_told_from_want_of_memory_and_blames_no_input(void **state)
{
    (void)state;
    struct error err = {0};
    uint64_t kills = 0;
    int out = 1, status = 0;
    const bool told = host_oom_kills(&kills);
    assert_fails(isolated_call("METIS", is_killed, NULL, &out, sizeof out, &status, &err),
                 told ? ERROR_UNAVAILABLE : ERROR_NO_MEMORY,
                 "METIS: its process was killed by signal 9", &err);
    assert_int_equal(out, 1);
}

static void an_exit_from_inside_is_an_error_even_with_status_0(void **state)
{
    (void)state;
    struct error err = {0};
    int value = 0, out = 1, status = 0;
    assert_fails(isolated_call("METIS", exits, &value, &out, sizeof out, &status, &err),
                 ERROR_INPUT, "exited with status 0 on its own", &err);
    value = 3;
    assert_fails(isolated_call("METIS", exits, &value, &out, sizeof out, &status, &err),
                 ERROR_INPUT, "exited with status 3 on its own", &err);
}

static void a_hanging_child_dies_when_the_program_is_asked_to_stop(void **state)
{
    (void)state;
    struct error err = {0};
    int out = 1, status = 0;
    stop_signal_set(true);
    assert_fails(isolated_call("METIS", hangs, NULL, &out, sizeof out, &status, &err),
                 ERROR_UNAVAILABLE, "METIS: asked to stop", &err);
    stop_signal_set(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_comes_back_and_nothing_else),
        cmocka_unit_test(a_status_is_handed_on_without_result),
        cmocka_unit_test(a_crash_is_an_error_that_names_the_signal),
        cmocka_unit_test(a_kill_is_told_from_want_of_memory_and_blames_no_input),
        cmocka_unit_test(an_exit_from_inside_is_an_error_even_with_status_0),
        cmocka_unit_test(a_hanging_child_dies_when_the_program_is_asked_to_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
