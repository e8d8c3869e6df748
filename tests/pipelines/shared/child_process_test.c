#include "common/base/clock.h"
#include "common/base/stop_signal.h"
#include "pipelines/shared/child_process.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <signal.h>
#include <sysexits.h>

static struct temp_dir dir;

static int make_folder(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static const char *log_with(const char *text)
{
    return temp_dir_write(&dir, "log", text, strlen(text));
}

static void last_words_are_a_sentence(void **state)
{
    static const struct {
        const char *log, *words;
    } cases[] = {
        {"2026-11-22T08:00:00.000Z info graphmill-infer at work\n"
         "2026-11-22T08:00:00.001Z error graphmill-infer disk full [stages/infer/infer.c:12]\n"
         "2026-11-22T08:00:00.002Z info graphmill-infer bye\n",
         "disk full"},
        {"2026-11-22T08:00:00.001Z error graphmill-infer unit [3] [a.c:1]\n", "unit [3]"},
        {"2026-11-22T08:00:00.001Z error graphmill-infer an error in [b]\n", "an error in [b]"},
        {"OpenBLAS: no thread\n\n", "OpenBLAS: no thread"},
        {"2026-11-22T08:00:00.001Z error graphmill-infer cut sho", "cut sho"},
        {"", "it said nothing"},
    };
    char words[CHILD_TEXT_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        child_last_words(log_with(cases[i].log), 0, words);
        assert_string_equal(words, cases[i].words);
    }
    child_last_words("/nowhere/log", 0, words);
    assert_string_equal(words, "it said nothing");
}

static void words_of_an_earlier_start_are_not_the_last(void **state)
{
    static const char log[] = "2026-11-22T08:00:00.001Z error graphmill-infer long ago\n";
    char words[CHILD_TEXT_SIZE];
    (void)state;
    const char *path = log_with(log);
    assert_int_equal(child_log_end(path), sizeof log - 1);
    child_last_words(path, child_log_end(path), words);
    assert_string_equal(words, "it said nothing");
}

static void a_log_of_any_size_is_read_at_its_end_alone(void **state)
{
    static char log[200000];
    char words[CHILD_TEXT_SIZE];
    (void)state;
    memset(log, 'x', sizeof log);
    for (size_t i = 99; i < sizeof log; i += 100)
        log[i] = '\n';
    static const char last[] = "2026-11-22T08:00:00.001Z error graphmill-infer at the end\n";
    log[sizeof log - sizeof last - 1] = '\n';
    memcpy(log + sizeof log - sizeof last, last, sizeof last);
    child_last_words(log_with(log), 0, words);
    assert_string_equal(words, "at the end");
}

static void progress_is_the_last_whole_line_of_it(void **state)
{
    static const char log[] =
        "2026-11-22T08:00:00.001Z progress graphmill-ingest 3 M edges read\n"
        "2026-11-22T08:00:00.001Z warn graphmill-ingest odd\n"
        "2026-11-22T08:00:00.001Z info graphmill-ingest progress is what this is not\n"
        "2026-11-22T08:00:00.001Z info graphmill-ingest 4 M ed";
    char text[64];
    (void)state;
    child_progress(log_with(log), 0, text, sizeof text);
    assert_string_equal(text, "3 M edges read");
    child_progress(log_with(log), sizeof log - 1, text, sizeof text);
    assert_string_equal(text, "");
}

static void a_crash_is_a_bug_and_a_kill_is_not(void **state)
{
    char text[CHILD_TEXT_SIZE];
    (void)state;
    assert_int_equal(child_error_code(128 + SIGSEGV), ERROR_BUG);
    assert_int_equal(child_error_code(128 + SIGKILL), ERROR_UNAVAILABLE);
    assert_int_equal(child_error_code(EX_SOFTWARE), ERROR_BUG);
    assert_int_equal(child_error_code(EX_IOERR), ERROR_IO);
    assert_int_equal(error_exit_status(ERROR_BUG), EX_SOFTWARE);
    child_status_text(128 + SIGKILL, text);
    assert_string_equal(text, "was killed by signal 9 (Killed)");
    child_status_text(EX_IOERR, text);
    assert_string_equal(text, "ended with status 74");
}

/* Starts /bin/sh, because a program of graphmill would unblock the signals. */
static void a_child_begins_with_stop_signals_held_back(void **state)
{
    struct child_command command = {0};
    struct error err = {0};
    char line[CHILD_TEXT_SIZE];
    int status = -1;
    (void)state;
    child_add(&command, "/bin/sh");
    child_add_option(&command, "-c", "kill -TERM $$; kill -INT $$; echo alive; exit 3");
    assert_ok(child_run(&command, NULL, line, &status, &err), &err);
    assert_string_equal(line, "alive");
    assert_int_equal(status, 3);
    sigset_t mask;
    assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
    assert_false(sigismember(&mask, SIGTERM));
}

static void a_child_that_does_not_heed_a_stop_is_killed(void **state)
{
    struct child_command command = {0};
    struct error err = {0};
    char line[CHILD_TEXT_SIZE];
    int status = -1;
    (void)state;
    child_add(&command, "/bin/sh");
    child_add_option(&command, "-c", "exec sleep 60");
    stop_signal_set(true);
    const int64_t before = clock_ms();
    assert_ok(child_run(&command, NULL, line, &status, &err), &err);
    stop_signal_set(false);
    assert_int_equal(status, 128 + SIGKILL);
    assert_true(clock_ms() - before >= CHILD_STOP_MS && clock_ms() - before < 30000);
}

static void a_log_that_cannot_be_written_fails_no_child(void **state)
{
    struct child_command command = {0};
    struct error err = {0};
    char line[CHILD_TEXT_SIZE];
    int status = -1;
    (void)state;
    child_add(&command, "/bin/true");
    assert_ok(child_run(&command, "/nowhere/log", line, &status, &err), &err);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_words_are_a_sentence),
        cmocka_unit_test(words_of_an_earlier_start_are_not_the_last),
        cmocka_unit_test(a_log_of_any_size_is_read_at_its_end_alone),
        cmocka_unit_test(progress_is_the_last_whole_line_of_it),
        cmocka_unit_test(a_crash_is_a_bug_and_a_kill_is_not),
        cmocka_unit_test(a_child_begins_with_stop_signals_held_back),
        cmocka_unit_test(a_child_that_does_not_heed_a_stop_is_killed),
        cmocka_unit_test(a_log_that_cannot_be_written_fails_no_child),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
