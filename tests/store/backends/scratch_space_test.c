#include "common/base/clock.h"
#include "store/backends/scratch_space.h"

#include "tests/support/child_end.h"
#include "tests/support/failing_calls.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
    struct temp_dir dir;
    struct scratch_space space;
    struct error err;
};

static int set_up(void **state)
{
    static struct place place;
    place = (struct place){0};
    temp_dir_make(&place.dir);
    *state = &place;
    return scratch_space_init(&place.space, place.dir.path, &place.err) == ERROR_NONE ? 0 : -1;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    scratch_space_close(&place->space);
    temp_dir_remove(&place->dir);
    return 0;
}

static void make_file(struct scratch_space *space, char path[FILE_PATH_SIZE])
{
    struct error err = {0};
    int fd = -1;
    assert_ok(scratch_space_file(space, path, &fd, &err), &err);
    assert_int_equal(close(fd), 0);
}

static void every_name_is_new_and_a_close_removes_all(void **state)
{
    struct place *p = *state;
    struct scratch_space other;
    char a[FILE_PATH_SIZE], b[FILE_PATH_SIZE], folder[FILE_PATH_SIZE], free_name[FILE_PATH_SIZE];
    char own[FILE_PATH_SIZE];
    assert_ok(scratch_space_init(&other, p->dir.path, &p->err), &p->err);
    make_file(&p->space, a);
    make_file(&other, b);
    assert_string_not_equal(p->space.path, other.path);
    assert_ok(scratch_space_folder(&other, folder, &p->err), &p->err);
    assert_ok(scratch_space_free_name(&other, free_name, &p->err), &p->err);
    assert_false(file_exists(free_name));
    assert_true(file_exists(a) && file_exists(b) && file_exists(folder));
    memcpy(own, other.path, sizeof own);
    scratch_space_close(&other);
    assert_true(file_exists(a));
    assert_false(file_exists(own));
}

/* Starts a process that makes a space and stops; the parent kills it. */
static pid_t start_owner(const struct place *p)
{
    int ready[2];
    char path[FILE_PATH_SIZE], byte = 0;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct scratch_space space;
        int fd = -1;
        (void)!(scratch_space_init(&space, p->dir.path, NULL) == ERROR_NONE &&
                scratch_space_file(&space, path, &fd, NULL) == ERROR_NONE);
        (void)!write(ready[1], &byte, 1);
        for (;;)
            (void)pause();
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return child;
}

static void end_owner(pid_t child)
{
    int status = 0;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static enum error_code count_name(void *context, const char *name, struct error *err)
{
    (void)err;
    *(int *)context += name[0] != '.';
    return ERROR_NONE;
}

static int spaces_in(const struct place *p)
{
    struct error err = {0};
    int count = 0;
    assert_ok(file_list(p->dir.path, count_name, &count, &err), &err);
    return count;
}

/* With idle_ms 0, only its lock shows that a process lives which does not touch its lease. */
static void a_stopped_process_keeps_its_space_and_a_killed_one_loses_it(void **state)
{
    struct place *p = *state;
    const pid_t child = start_owner(p);
    p->space.idle_ms = 0;
    assert_int_equal(kill(child, SIGSTOP), 0);
    for (int i = 0; i < 3; i++)
        assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), 1);
    end_owner(child);
    p->space.idle_ms = SCRATCH_IDLE_MS;
    assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), 0);
}

/* Makes a space that looks like another host's: a lease of another kernel, whose lock is not
 * visible here. */
static void make_foreign(const struct place *p, const char *name)
{
    char path[FILE_PATH_SIZE], text[FILE_PATH_SIZE];
    assert_ok(file_path(path, NULL, "%s/%s", p->dir.path, name), &p->err);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_ok(file_path(text, NULL, "%s/lease", name), &p->err);
    (void)temp_dir_write(&p->dir, text, "elsewhere 1234\nprocess 1\n", 25);
    assert_ok(file_path(text, NULL, "%s/0", name), &p->err);
    (void)temp_dir_write(&p->dir, text, "x", 1);
}

static void touch(const struct place *p, const char *name, time_t seconds)
{
    char path[FILE_PATH_SIZE];
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_ok(file_path(path, NULL, "%s/%s/lease", p->dir.path, name), &p->err);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Tests that clocks do not matter: a lease that changes while this process watches is alive, even
 * if its time goes backwards. */
static void a_space_of_another_host_goes_when_its_lease_stands_still(void **state)
{
    struct place *p = *state;
    p->space.idle_ms = 60;
    make_foreign(p, "0123456789abcdef");
    for (int i = 0; i < 10; i++) {
        touch(p, "0123456789abcdef", i % 2 ? 1000 : 4000000000 + i);
        assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
        clock_sleep_ms(20);
    }
    assert_int_equal(spaces_in(p), 1);
    for (int i = 0; i < 10; i++) {
        clock_sleep_ms(20);
        assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    }
    assert_int_equal(spaces_in(p), 0);
}

static void what_has_no_lease_goes_by_its_age_too(void **state)
{
    struct place *p = *state;
    p->space.idle_ms = 30;
    (void)temp_dir_write(&p->dir, "host-12-3", "x", 1);
    assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), 1);
    clock_sleep_ms(50);
    assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), 0);
}

static void the_keeper_touches_the_lease_and_sweeps(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE], lease[FILE_PATH_SIZE];
    struct stat status;
    p->space.touch_ms = 10;
    p->space.idle_ms = 50;
    make_foreign(p, "0123456789abcdef");
    make_file(&p->space, path);
    assert_ok(file_path(lease, NULL, "%s/lease", p->space.path), &p->err);
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, lease, old, 0), 0);
    const int64_t until = clock_ms() + 10000;
    do {
        clock_sleep_ms(10);
        assert_int_equal(stat(lease, &status), 0);
    } while ((status.st_mtim.tv_sec == 1 || spaces_in(p) > 1) && clock_ms() < until);
    assert_true(status.st_mtim.tv_sec > 1);
    assert_int_equal(spaces_in(p), 1); /* our own */
}

static void an_owner_whose_space_was_taken_makes_another(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE], folder[FILE_PATH_SIZE], first[FILE_PATH_SIZE];
    make_file(&p->space, path);
    memcpy(first, p->space.path, sizeof first);
    assert_ok(file_remove_all(first, &p->err), &p->err);
    make_file(&p->space, path);
    assert_string_not_equal(first, p->space.path);
    assert_ok(file_remove_all(p->space.path, &p->err), &p->err);
    assert_ok(scratch_space_folder(&p->space, folder, &p->err), &p->err);
    assert_ok(file_remove_all(p->space.path, &p->err), &p->err);
    assert_ok(scratch_space_free_name(&p->space, path, &p->err), &p->err);
    assert_true(file_exists(p->space.path));
}

static void a_fork_makes_a_space_of_its_own(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE];
    make_file(&p->space, path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char own[FILE_PATH_SIZE];
        int fd = -1;
        const bool made = scratch_space_file(&p->space, own, &fd, NULL) == ERROR_NONE;
        const bool apart = strncmp(own, path, strlen(p->dir.path) + 17) != 0;
        scratch_space_close(&p->space);
        child_end(made && apart && !file_exists(own) ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(file_exists(path));
}

/* Tests that without a boot id no lease counts as ours, and that without a lock or a first look
 * nothing counts as dead. */
static void what_cannot_be_found_out_leaves_all_in_place(void **state)
{
    struct place *p = *state;
    static const enum failing_call calls[] = {CALL_OPEN, CALL_READ, CALL_PREAD, CALL_FLOCK};
    const pid_t child = start_owner(p);
    end_owner(child);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        failing_calls_plan(calls[i], 0, -1, EIO);
        const enum error_code rc = scratch_space_sweep(&p->space, &p->err);
        assert_true(failing_calls_end() > 0);
        assert_int_equal(rc, ERROR_NONE);
        assert_int_equal(spaces_in(p), 1);
    }
    p->space.idle_ms = 0;
    (void)temp_dir_write(&p->dir, "host-12-3", "x", 1);
    for (size_t i = 0; i < 2; i++) {
        failing_calls_plan(i ? CALL_RENAME : CALL_STAT, 0, -1, EIO);
        assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
        assert_true(failing_calls_end() > 0);
        assert_true(spaces_in(p) > 0);
    }
    assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), 0);
}

/* Tests that an incomplete lease, which names no owner, is removed only by its age. */
static void an_empty_lease_goes_by_its_age(void **state)
{
    struct place *p = *state;
    make_foreign(p, "0123456789abcdef");
    (void)temp_dir_write(&p->dir, "0123456789abcdef/lease", "", 0);
    assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), 1);
    p->space.idle_ms = 0;
    failing_calls_plan(CALL_FSTAT, 0, 1, EIO);
    assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(failing_calls_end(), 1);
    assert_int_equal(spaces_in(p), 1);
    assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), 0);
}

/* Only a limited number is watched at a time; the others are watched when those are gone. */
static void more_than_can_be_watched_go_in_the_end(void **state)
{
    struct place *p = *state;
    char name[32];
    for (int i = 0; i < SCRATCH_SEEN_COUNT + 6; i++) {
        (void)snprintf(name, sizeof name, "host-12-%d", i);
        (void)temp_dir_write(&p->dir, name, "x", 1);
    }
    assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), SCRATCH_SEEN_COUNT + 6);
    p->space.idle_ms = 0;
    for (int i = 0; i < 2; i++)
        assert_ok(scratch_space_sweep(&p->space, &p->err), &p->err);
    assert_int_equal(spaces_in(p), 0);
}

/* Tests that a tmp/ that is not a folder is reported when it is swept, and so is a name in it that
 * is too long for a path. */
static void a_folder_that_cannot_be_looked_through_is_told(void **state)
{
    struct place *p = *state;
    struct scratch_space other;
    char path[FILE_PATH_SIZE];
    assert_ok(file_path(path, &p->err, "%s/none", p->dir.path), &p->err);
    assert_ok(scratch_space_init(&other, path, &p->err), &p->err);
    assert_ok(scratch_space_sweep(&other, &p->err), &p->err); /* it was not made yet */
    (void)temp_dir_write(&p->dir, "none", "x", 1);
    assert_fails(scratch_space_sweep(&other, &p->err), ERROR_IO, "/none cannot be read", &p->err);
    assert_fails(scratch_space_folder(&other, path, &p->err), ERROR_IO, "/none", &p->err);
    scratch_space_close(&other);
}

/* Removes the space so that no other can be made: each function reports it, and works again
 * later. */
static void an_owner_that_can_make_no_other_space_says_so(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE];
    int fd = -1;
    for (int way = 0; way < 3; way++)
        for (int round = 0; round < 2; round++) {
            make_file(&p->space, path);
            assert_ok(file_remove_all(p->space.path, &p->err), &p->err);
            failing_calls_plan(way == 1 ? CALL_RENAME : CALL_MKDIR, way == 2, round ? -1 : 1, EIO);
            const enum error_code rc = way == 0 ? scratch_space_free_name(&p->space, path, &p->err)
                                       : way == 1
                                           ? scratch_space_file(&p->space, path, &fd, &p->err)
                                           : scratch_space_folder(&p->space, path, &p->err);
            assert_true(failing_calls_end() > 0);
            assert_failed(rc, ERROR_IO, "cannot be", &p->err);
            make_file(&p->space, path);
        }
}

/* Another process removes each space as soon as it is made. */
static void a_space_that_vanishes_each_time_is_told(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE];
    int fd = -1;
    make_file(&p->space, path);
    failing_calls_plan(CALL_MKDIR, 0, 1, ENOENT);
    assert_ok(scratch_space_folder(&p->space, path, &p->err), &p->err);
    failing_calls_plan(CALL_OPEN, 0, 1, ENOENT);
    assert_ok(scratch_space_file(&p->space, path, &fd, &p->err), &p->err);
    assert_int_equal(failing_calls_end(), 1);
    assert_int_equal(close(fd), 0);
    failing_calls_plan(CALL_MKDIR, 0, 1, EACCES);
    assert_fails(scratch_space_folder(&p->space, path, &p->err), ERROR_DENIED, "cannot be made",
                 &p->err);
    failing_calls_plan(CALL_OPEN, 0, 1, EACCES);
    assert_fails(scratch_space_file(&p->space, path, &fd, &p->err), ERROR_DENIED, "cannot be made",
                 &p->err);
    (void)failing_calls_end();
}

/* Another user of the machine may have made the folder, or a link of that name, before. */
static void a_link_in_the_place_of_the_folder_of_this_user_is_refused(void **state)
{
    struct place *p = *state;
    struct scratch_space space;
    char elsewhere[FILE_PATH_SIZE], path[FILE_PATH_SIZE], before[FILE_PATH_SIZE] = "";
    const char *temporary = getenv("TMPDIR");
    if (temporary)
        (void)snprintf(before, sizeof before, "%s", temporary);
    assert_int_equal(setenv("TMPDIR", p->dir.path, 1), 0);
    assert_ok(scratch_space_init_on_host(&space, &p->err), &p->err);
    assert_ok(file_path(elsewhere, &p->err, "%s/elsewhere", p->dir.path), &p->err);
    assert_ok(file_make_folders(elsewhere, &p->err), &p->err);
    assert_int_equal(symlink(elsewhere, space.tmp), 0);
    assert_fails(scratch_space_folder(&space, path, &p->err), ERROR_DENIED, "a symbolic link",
                 &p->err);
    assert_fails(scratch_space_sweep(&space, &p->err), ERROR_DENIED, "a symbolic link", &p->err);
    assert_int_equal(rmdir(elsewhere), 0); /* proves that it is empty */
    assert_int_equal(unlink(space.tmp), 0);
    assert_int_equal(mkdir(space.tmp, 0775), 0); /* as older versions made it */
    assert_ok(scratch_space_folder(&space, path, &p->err), &p->err);
    scratch_space_close(&space);
    if (temporary)
        assert_int_equal(setenv("TMPDIR", before, 1), 0);
    else
        assert_int_equal(unsetenv("TMPDIR"), 0);
}

#define with_place(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_place(every_name_is_new_and_a_close_removes_all),
        with_place(a_stopped_process_keeps_its_space_and_a_killed_one_loses_it),
        with_place(a_space_of_another_host_goes_when_its_lease_stands_still),
        with_place(what_has_no_lease_goes_by_its_age_too),
        with_place(the_keeper_touches_the_lease_and_sweeps),
        with_place(an_owner_whose_space_was_taken_makes_another),
        with_place(a_fork_makes_a_space_of_its_own),
        with_place(what_cannot_be_found_out_leaves_all_in_place),
        with_place(an_empty_lease_goes_by_its_age),
        with_place(more_than_can_be_watched_go_in_the_end),
        with_place(a_folder_that_cannot_be_looked_through_is_told),
        with_place(an_owner_that_can_make_no_other_space_says_so),
        with_place(a_space_that_vanishes_each_time_is_told),
        with_place(a_link_in_the_place_of_the_folder_of_this_user_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
