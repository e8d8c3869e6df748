#include "common/base/clock.h"
#include "common/base/memory.h"
#include "store/backends/memory/memory_backend.h"
#include "store/objects/artifact_cache.h"
#include "store/objects/object_store.h"

#include "tests/support/failing_calls.h"
#include "tests/support/store_faults.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 5 };

static const char place[] = "artifact-cache";
static const struct checksum seal_a = {{1}}, seal_b = {{2}};

/* A store without paths, so that every artifact is downloaded. */
struct scene {
    struct temp_dir dir;
    struct store *store;
    struct error err;
};

static int set_up(void **state)
{
    static struct scene scene;
    scene = (struct scene){.store = store_faults_open(&memory_backend, place)};
    temp_dir_make(&scene.dir);
    must(store_cache_set(scene.store, scene.dir.path, 100, false, &scene.err) == ERROR_NONE);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    store_close(scene->store);
    memory_store_forget(place);
    temp_dir_remove(&scene->dir);
    return memory_live_blocks() == 0 ? 0 : -1;
}

static void publish(struct scene *s, const char *key, bool is_folder, const char *text)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    assert_ok(store_scratch(s->store, scratch, &s->err), &s->err);
    assert_ok(file_path(path, &s->err, "%s/one", scratch), &s->err);
    assert_ok(file_replace(path, text, strlen(text), false, &s->err), &s->err);
    assert_ok(store_publish(s->store, is_folder ? scratch : path, key, NULL, &s->err), &s->err);
}

static enum error_code acquire(struct scene *s, const char *key, const struct checksum *seal,
                               struct artifact_handle *out)
{
    const struct artifact_request request = {.store = s->store, .key = key, .seal = seal};
    return artifact_acquire(&request, out, &s->err);
}

static bool reads(const char *path, const char *file, const char *expected)
{
    char whole[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    struct error err = {0};
    bool same = file_path(whole, &err, "%s%s%s", path, *file ? "/" : "", file) == ERROR_NONE &&
                file_read(whole, 0, &text, &size, &err) == ERROR_NONE;
    same = same && size == strlen(expected) && memcmp(text, expected, size) == 0;
    memory_free(text);
    return same;
}

static enum error_code count_name(void *context, const char *name, struct error *err)
{
    (void)err;
    (void)name;
    ++*(int *)context;
    return ERROR_NONE;
}

/* Counts copies and their locks. */
static int count_files(struct scene *s)
{
    char folder[FILE_PATH_SIZE];
    int count = 0;
    assert_ok(file_path(folder, &s->err, "%s/graphmill-cache-%ld", s->dir.path, (long)geteuid()),
              &s->err);
    assert_ok(file_list(folder, count_name, &count, &s->err), &s->err);
    return count;
}

static void a_copy_is_fetched_once_and_hashed_meanwhile(void **state)
{
    struct scene *s = *state;
    struct artifact_handle first, second;
    const struct checksum expected = checksum_of("0123456789", 10);
    publish(s, "p/file", false, "0123456789");
    publish(s, "p/folder", true, "abc");
    assert_ok(acquire(s, "p/file", &seal_a, &first), &s->err);
    assert_true(first.is_copy && first.is_fresh && reads(first.path, "", "0123456789"));
    assert_true(checksum_equal(&first.sum, &expected));
    assert_ok(acquire(s, "p/file", &seal_a, &second), &s->err);
    assert_true(second.is_copy && !second.is_fresh);
    assert_string_equal(first.path, second.path);
    artifact_release(&first);
    artifact_release(&first); /* {0} again */
    artifact_release(&second);
    assert_ok(acquire(s, "p/folder", &seal_a, &first), &s->err);
    assert_true(first.is_fresh && reads(first.path, "one", "abc"));
    artifact_release(&first);
    assert_ok(acquire(s, "p/file", &seal_a, &first), &s->err); /* it stays for the next reader */
    assert_false(first.is_fresh);
    artifact_release(&first);
    assert_ok(acquire(s, "p/file", &seal_b, &first), &s->err); /* a new seal, so other bytes */
    assert_true(first.is_fresh);
    artifact_release(&first);
    assert_int_equal(count_files(s), 6);
    assert_int_equal(acquire(s, "p/none", &seal_a, &first), ERROR_NOT_FOUND);
    assert_int_equal(count_files(s), 6);
}

static void without_a_seal_it_is_of_one_caller(void **state)
{
    struct scene *s = *state;
    struct artifact_handle first, second;
    publish(s, "p/file", false, "0123456789");
    assert_ok(acquire(s, "p/file", NULL, &first), &s->err);
    assert_ok(acquire(s, "p/file", NULL, &second), &s->err);
    assert_string_not_equal(first.path, second.path);
    assert_true(first.is_fresh && second.is_fresh);
    artifact_release(&first);
    artifact_release(&second);
    assert_int_equal(count_files(s), 0);
}

/* Tests that an artifact which was removed, or exists only in another store, counts as missing
 * although there is a copy. */
static void a_copy_does_not_stand_for_what_the_store_lacks(void **state)
{
    struct scene *s = *state;
    struct artifact_handle handle;
    publish(s, "p/a", false, "0123456789");
    assert_ok(acquire(s, "p/a", &seal_a, &handle), &s->err);
    artifact_release(&handle);
    assert_ok(store_remove(s->store, "p/a", &s->err), &s->err);
    assert_fails(acquire(s, "p/a", &seal_a, &handle), ERROR_NOT_FOUND, "p/a", &s->err);
    publish(s, "p/a", false, "0123456789");
    assert_ok(acquire(s, "p/a", &seal_a, &handle), &s->err);
    assert_false(handle.is_fresh);
    artifact_release(&handle);
}

static void past_the_cache_it_is_what_the_store_has(void **state)
{
    struct scene *s = *state;
    struct artifact_handle handle;
    publish(s, "p/a", false, "0123456789");
    assert_ok(acquire(s, "p/a", &seal_a, &handle), &s->err);
    artifact_release(&handle);
    assert_ok(store_remove(s->store, "p/a", &s->err), &s->err);
    publish(s, "p/a", false, "damaged"); /* under the same seal */
    assert_ok(acquire(s, "p/a", &seal_a, &handle), &s->err);
    assert_true(reads(handle.path, "", "0123456789"));
    artifact_release(&handle);
    store_cache_bypass(s->store);
    assert_ok(acquire(s, "p/a", &seal_a, &handle), &s->err);
    assert_true(handle.is_fresh && reads(handle.path, "", "damaged"));
    artifact_release(&handle);
    assert_int_equal(count_files(s), 2); /* the copy and its lock; the other copy is gone */
}

static void a_damaged_copy_is_fetched_anew(void **state)
{
    struct scene *s = *state;
    struct artifact_handle handle, user;
    publish(s, "p/file", false, "0123456789");
    assert_ok(acquire(s, "p/file", &seal_a, &handle), &s->err);
    assert_ok(file_replace(handle.path, "012345678x", 10, false, &s->err), &s->err);
    assert_ok(acquire(s, "p/file", &seal_a, &user), &s->err);
    artifact_discard(&handle);
    assert_int_equal(count_files(s), 0);
    assert_ok(acquire(s, "p/file", &seal_a, &handle), &s->err);
    assert_true(handle.is_fresh && reads(handle.path, "", "0123456789"));
    artifact_discard(&user); /* the name belongs to another copy now */
    assert_true(reads(handle.path, "", "0123456789"));
    artifact_release(&handle);
}

/* Tests a budget of 100 bytes. */
static void unused_ones_make_room_the_longest_unused_first(void **state)
{
    struct scene *s = *state;
    static char large[151];
    struct artifact_handle a, b, c, d;
    memset(large, 'x', sizeof large - 1);
    for (int i = 0; i < 4; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "p/%d", i);
        publish(s, key, false, "0123456789012345678901234567890123456789"); /* 40 bytes */
    }
    assert_ok(acquire(s, "p/0", &seal_a, &a), &s->err);
    assert_ok(acquire(s, "p/1", &seal_a, &b), &s->err);
    artifact_release(&a);
    artifact_release(&b);
    (void)usleep(20000); /* file times have the resolution of the kernel's clock */
    assert_ok(acquire(s, "p/0", &seal_a, &a), &s->err); /* now the last one used */
    assert_false(a.is_fresh);
    artifact_release(&a);
    assert_ok(acquire(s, "p/2", &seal_a, &c), &s->err); /* copy 1 is removed */
    assert_int_equal(count_files(s), 4);
    assert_ok(acquire(s, "p/0", &seal_a, &a), &s->err);
    assert_false(a.is_fresh);
    /* all are in use: this one exceeds the budget and is removed when it is released */
    assert_ok(acquire(s, "p/3", &seal_a, &d), &s->err);
    assert_true(reads(d.path, "", "0123456789012345678901234567890123456789"));
    assert_int_equal(count_files(s), 6);
    artifact_release(&d);
    assert_int_equal(count_files(s), 4);
    artifact_release(&a);
    artifact_release(&c);
    publish(s, "p/large", false, large);
    assert_ok(acquire(s, "p/large", &seal_a, &d), &s->err);
    assert_true(reads(d.path, "", large));
    artifact_release(&d);
    assert_int_equal(count_files(s), 0);
}

static void processes_wait_for_one_that_fetches(void **state)
{
    struct scene *s = *state;
    struct artifact_handle handle;
    pid_t child[CHILDREN];
    publish(s, "p/folder", true, "abc");
    for (int i = 0; i < CHILDREN; i++) {
        child[i] = fork();
        must(child[i] >= 0);
        if (child[i] == 0) {
            const bool good = acquire(s, "p/folder", &seal_a, &handle) == ERROR_NONE &&
                              reads(handle.path, "one", "abc");
            (void)raise(good ? SIGKILL : SIGTERM); /* while the copy is in use */
        }
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status = 0;
        must(waitpid(child[i], &status, 0) == child[i]);
        assert_int_equal(WTERMSIG(status), SIGKILL);
    }
    assert_int_equal(count_files(s), 2);
    assert_ok(acquire(s, "p/folder", &seal_a, &handle), &s->err);
    assert_false(handle.is_fresh);
    artifact_release(&handle);
}

/* --- downloads without progress --- */

/* A backend on top of memory, in which a child calls a function before each piece. */
static void (*before_piece)(void);
static bool is_child;

static enum error_code read_slowly(void *state, const char *key, const char *file, uint64_t offset,
                                   void *buffer, size_t size, size_t *got, struct error *err)
{
    if (is_child)
        before_piece();
    return memory_backend.get_range(state, key, file, offset, buffer, is_child ? 1 : size, got,
                                    err);
}

static void stop(void)
{
    (void)raise(SIGSTOP);
}

static void dawdle(void)
{
    clock_sleep_ms(150);
}

/* Returns whether there is a lock, and part of a copy. */
static bool has_begun(struct scene *s)
{
    char folder[FILE_PATH_SIZE];
    assert_ok(file_path(folder, &s->err, "%s/graphmill-cache-%ld", s->dir.path, (long)geteuid()),
              &s->err);
    return file_exists(folder) && count_files(s) >= 2;
}

/* Starts a child that downloads the ten bytes of "p/file" one by one. */
static pid_t start_fetcher(struct scene *s, void (*before)(void))
{
    before_piece = before;
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        struct artifact_handle handle;
        is_child = true;
        const bool good = acquire(s, "p/file", &seal_a, &handle) == ERROR_NONE && handle.is_fresh &&
                          !handle.goes && reads(handle.path, "", "0123456789");
        (void)raise(good ? SIGKILL : SIGTERM);
    }
    while (!has_begun(s))
        clock_sleep_ms(1);
    return child;
}

static struct store *open_slowly(struct scene *s, int64_t wait_ms)
{
    static struct object_backend slow;
    struct store *store = NULL;
    slow = memory_backend;
    slow.get_range = read_slowly;
    assert_ok(store_open_on(&slow, place, 0, &store, &s->err), &s->err);
    assert_ok(store_cache_set(store, s->dir.path, 100, false, &s->err), &s->err);
    store_cache_wait_set(store, wait_ms);
    return store;
}

static void one_that_hangs_is_waited_for_no_longer(void **state)
{
    struct scene *s = *state, slow = *s;
    struct artifact_handle own, shared;
    int status = 0;
    publish(s, "p/file", false, "0123456789");
    slow.store = open_slowly(s, 150);
    const pid_t child = start_fetcher(&slow, stop);
    must(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    const int64_t begin = clock_ms();
    assert_ok(acquire(&slow, "p/file", &seal_a, &own), &s->err);
    assert_in_range(clock_ms() - begin, 150, 20000);
    assert_true(own.is_copy && own.is_fresh && own.goes && reads(own.path, "", "0123456789"));
    while (!WIFSIGNALED(status)) { /* it continues where it stopped */
        assert_int_equal(kill(child, SIGCONT), 0);
        must(waitpid(child, &status, WUNTRACED) == child);
    }
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_ok(acquire(&slow, "p/file", &seal_a, &shared), &s->err);
    assert_false(shared.is_fresh);
    assert_string_not_equal(shared.path, own.path);
    artifact_release(&own);
    assert_int_equal(count_files(s), 2);
    artifact_release(&shared);
    store_close(slow.store);
}

static void one_that_is_slow_is_waited_for(void **state)
{
    struct scene *s = *state, slow = *s;
    struct artifact_handle handle;
    int status = 0;
    publish(s, "p/file", false, "0123456789");
    slow.store = open_slowly(s, 1000); /* shorter than the time for all pieces */
    const pid_t child = start_fetcher(&slow, dawdle);
    assert_ok(acquire(&slow, "p/file", &seal_a, &handle), &s->err);
    assert_false(handle.is_fresh || handle.goes);
    must(waitpid(child, &status, 0) == child);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    artifact_release(&handle);
    store_close(slow.store);
}

static void one_that_dies_is_followed_by_the_next(void **state)
{
    struct scene *s = *state, slow = *s;
    struct artifact_handle handle;
    int status = 0;
    publish(s, "p/file", false, "0123456789");
    slow.store = open_slowly(s, (int64_t)3600 * 1000);
    const pid_t child = start_fetcher(&slow, stop), killer = fork();
    must(killer >= 0);
    if (killer == 0) {
        clock_sleep_ms(100);
        (void)kill(child, SIGKILL);
        (void)raise(SIGKILL);
    }
    assert_ok(acquire(&slow, "p/file", &seal_a, &handle), &s->err);
    assert_true(handle.is_fresh && !handle.goes && reads(handle.path, "", "0123456789"));
    must(waitpid(child, &status, 0) == child && waitpid(killer, &status, 0) == killer);
    artifact_release(&handle);
    assert_int_equal(count_files(s), 2);
    store_close(slow.store);
}

/* Tests a file of more than two pieces, whose last one is shorter: a thread reads each while the
 * one before is hashed. */
static void a_large_file_comes_piece_by_piece(void **state)
{
    struct scene *s = *state;
    struct artifact_handle handle;
    const size_t size = (37U << 20) + 5;
    char *text = malloc(size + 1);
    assert_non_null(text);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + (i * 2654435761U >> 24) % 26);
    text[size] = '\0';
    publish(s, "p/large", true, text);
    assert_ok(acquire(s, "p/large", &seal_a, &handle), &s->err);
    assert_true(reads(handle.path, "one", text));
    artifact_discard(&handle);
    publish(s, "p/file", false, text);
    assert_ok(acquire(s, "p/file", &seal_a, &handle), &s->err);
    const struct checksum expected = checksum_of(text, size);
    assert_true(checksum_equal(&handle.sum, &expected) && reads(handle.path, "", text));
    artifact_discard(&handle);
    for (long passed = 0, failed = 1; failed; passed++) {
        const struct store_fault_plan plan = {
            .passed = passed, .count = 1, .code = ERROR_UNAVAILABLE};
        store_faults_plan(&plan);
        const enum error_code rc = acquire(s, "p/file", &seal_b, &handle);
        failed = store_faults_end();
        assert_int_equal(rc, failed ? ERROR_UNAVAILABLE : ERROR_NONE);
        assert_int_equal(count_files(s), failed ? 0 : 2);
    }
    artifact_discard(&handle);
    failing_calls_plan(CALL_WRITE, 0, -1, ENOSPC);
    assert_int_equal(acquire(s, "p/file", &seal_a, &handle), ERROR_NO_SPACE);
    assert_true(failing_calls_end() > 0);
    assert_int_equal(count_files(s), 0);
    free(text);
}

static void whichever_store_call_fails_nothing_is_left(void **state)
{
    struct scene *s = *state;
    struct artifact_handle handle;
    publish(s, "p/folder", true, "abc");
    for (long passed = 0, failed = 1; failed; passed++) {
        const struct store_fault_plan plan = {
            .passed = passed, .count = 1, .code = ERROR_UNAVAILABLE};
        store_faults_plan(&plan);
        const enum error_code rc = acquire(s, "p/folder", &seal_a, &handle);
        failed = store_faults_end();
        assert_int_equal(rc, failed ? ERROR_UNAVAILABLE : ERROR_NONE);
        assert_int_equal(count_files(s), failed ? 0 : 2);
    }
    artifact_discard(&handle);
    for (long n = 0; n < 2; n++) {
        memory_fail_after(n);
        const enum error_code rc = acquire(s, "p/folder", &seal_a, &handle);
        memory_fail_after(-1);
        assert_int_equal(rc, ERROR_NO_MEMORY);
        assert_int_equal(count_files(s), 0);
    }
    failing_calls_plan(CALL_WRITE, 0, -1, ENOSPC);
    const enum error_code rc = acquire(s, "p/folder", &seal_a, &handle);
    assert_true(failing_calls_end() > 0);
    assert_int_equal(rc, ERROR_NO_SPACE);
    assert_int_equal(count_files(s), 0);
}

static void a_folder_of_others_is_refused(void **state)
{
    struct scene *s = *state;
    struct artifact_handle handle;
    char folder[FILE_PATH_SIZE];
    publish(s, "p/file", false, "a");
    assert_ok(file_path(folder, &s->err, "%s/graphmill-cache-%ld", s->dir.path, (long)geteuid()),
              &s->err);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(acquire(s, "p/file", &seal_a, &handle), ERROR_DENIED);
    assert_non_null(strstr(s->err.message, "belongs to this user alone"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_copy_is_fetched_once_and_hashed_meanwhile),
        TEST(without_a_seal_it_is_of_one_caller),
        TEST(a_copy_does_not_stand_for_what_the_store_lacks),
        TEST(past_the_cache_it_is_what_the_store_has),
        TEST(a_damaged_copy_is_fetched_anew),
        TEST(unused_ones_make_room_the_longest_unused_first),
        TEST(processes_wait_for_one_that_fetches),
        TEST(one_that_hangs_is_waited_for_no_longer),
        TEST(one_that_is_slow_is_waited_for),
        TEST(one_that_dies_is_followed_by_the_next),
        TEST(a_large_file_comes_piece_by_piece),
        TEST(whichever_store_call_fails_nothing_is_left),
        TEST(a_folder_of_others_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
