#include "common/base/stop_signal.h"

#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static void both_signals_set_the_flag(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT};
    (void)state;
    stop_signal_install();
    for (int i = 0; i < 2; i++) {
        stop_signal_set(false);
        assert_false(stop_signal_seen());
        assert_int_equal(raise(signals[i]), 0);
        assert_true(stop_signal_seen());
    }
    stop_signal_set(false);
}

static void a_closed_pipe_is_an_error_code(void **state)
{
    int ends[2];
    (void)state;
    stop_signal_install();
    assert_int_equal(pipe(ends), 0);
    (void)close(ends[0]);
    assert_int_equal(write(ends[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    (void)close(ends[1]);
    assert_false(stop_signal_seen());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_signals_set_the_flag),
        cmocka_unit_test(a_closed_pipe_is_an_error_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
