#include "common/base/clock.h"
#include "common/base/memory.h"
#include "stages/checkpoint/snapshot_commit.h"

#include "tests/support/test.h"

#include <string.h>

static struct snapshot with_lines(int64_t version, int64_t previous, const char *log)
{
    return (struct snapshot){
        .version = version, .previous_version = previous, .log = log, .log_size = strlen(log)};
}

static void a_commit_is_due_at_first_at_the_end_and_now_and_then(void **state)
{
    (void)state;
    const struct snapshot middle = {.version = 4}, last = {.version = 6, .stop = true};
    struct snapshot_commit commit = {0};
    assert_true(snapshot_commit_is_due(&commit, &middle));
    commit.last_ms = clock_ms() + 3600000;
    assert_false(snapshot_commit_is_due(&commit, &middle));
    assert_true(snapshot_commit_is_due(&commit, &last));
    commit.last_ms = clock_ms() - SNAPSHOT_COMMIT_MS;
    assert_true(snapshot_commit_is_due(&commit, &middle));
}

static void lines_of_snapshots_in_a_row_are_kept_others_forgotten(void **state)
{
    struct snapshot_commit commit = {0};
    struct error err = {0};
    (void)state;
    const struct snapshot two = with_lines(2, -1, "a\n"), four = with_lines(4, 2, "bb\n"),
                          nine = with_lines(9, 8, "c\n");
    assert_ok(snapshot_commit_note(&commit, &two, &err), &err);
    assert_ok(snapshot_commit_note(&commit, &four, &err), &err);
    assert_int_equal(commit.lines.after, -1);
    assert_int_equal(commit.lines.version, 4);
    assert_memory_equal(commit.lines.text, "a\nbb\n", commit.lines.size);
    assert_ok(snapshot_commit_note(&commit, &nine, &err), &err);
    assert_int_equal(commit.lines.after, 8);
    assert_int_equal(commit.lines.size, 2);
    assert_memory_equal(commit.lines.text, "c\n", 2);
    snapshot_commit_release(&commit);
    memory_fail_after(0);
    assert_int_equal(snapshot_commit_note(&commit, &two, &err), ERROR_NO_MEMORY);
    memory_fail_after(-1);
    snapshot_commit_release(&commit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_is_due_at_first_at_the_end_and_now_and_then),
        cmocka_unit_test(lines_of_snapshots_in_a_row_are_kept_others_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
