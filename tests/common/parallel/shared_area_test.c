#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/parallel/shared_area.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECES = 7, THREADS = 4, CHILDREN = 6 };

/* 5 MB and a bit in pieces, one of them empty, two of which meet inside a page of 2 MB. */
static const uint64_t piece_start[PIECES + 1] = {0,       100,     100,     3000000,
                                                 3000001, 4194304, 5000000, 5242912};

/* Counters that the children share. */
struct counts {
    atomic_int fills;   /* fills of the first piece */
    atomic_int go;      /* tells waiting children to go on */
    atomic_int kill_at; /* number of the piece + 1 at whose fill the process is killed */
    atomic_int fail_at; /* number of the piece + 1 whose fill fails */
};

static struct counts *counts;
static struct temp_dir dir;

static char byte_at(uint64_t at)
{
    return (char)(at * 2654435761U >> 13);
}

static enum error_code fill(void *context, int64_t piece, char *to, struct error *err)
{
    (void)context;
    if (piece == 0)
        atomic_fetch_add(&counts->fills, 1);
    if (piece + 1 == atomic_load(&counts->kill_at))
        (void)raise(SIGKILL);
    if (piece + 1 == atomic_load(&counts->fail_at))
        return error_set(err, ERROR_CORRUPT, "piece %d is damaged", (int)piece);
    for (uint64_t at = piece_start[piece]; at < piece_start[piece + 1]; at++)
        to[at - piece_start[piece]] = byte_at(at);
    return ERROR_NONE;
}

static struct shared_area_content content_of(const char *name)
{
    return (struct shared_area_content){.what = "an array",
                                        .name = checksum_of(name, strlen(name)),
                                        .size = piece_start[PIECES],
                                        .piece_count = PIECES,
                                        .piece_start = piece_start,
                                        .fill = fill};
}

static void assert_bytes(const struct shared_area *area)
{
    assert_int_equal(area->size, piece_start[PIECES]);
    assert_int_equal((uintptr_t)area->bytes % 4096, 0);
    for (uint64_t at = 0; at < area->size; at++)
        if (area->bytes[at] != byte_at(at))
            fail_msg("byte %d: expected %d, found %d", (int)at, byte_at(at), area->bytes[at]);
}

static enum error_code count_name(void *context, const char *name, struct error *err)
{
    (void)err;
    if (strncmp(name, "graphmill-", 10) == 0)
        ++*(int *)context;
    return ERROR_NONE;
}

static int file_count(void)
{
    struct error err = {0};
    int count = 0;
    assert_ok(file_list(dir.path, count_name, &count, &err), &err);
    return count;
}

/* Makes the name of an area's file. */
static void file_of(const char *name, char path[FILE_PATH_SIZE])
{
    const struct checksum sum = checksum_of(name, strlen(name));
    struct error err = {0};
    char digits[CHECKSUM_TEXT_SIZE];
    checksum_text(&sum, digits);
    assert_ok(file_path(path, &err, "%s/graphmill-%ld-%s", dir.path, (long)geteuid(), digits),
              &err);
}

static int setup(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    shared_area_folder_set(dir.path);
    shared_area_patience_set(SHARED_AREA_PATIENCE_MS);
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(counts != MAP_FAILED);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)munmap(counts, sizeof *counts);
    temp_dir_remove(&dir);
    return memory_live_blocks() != 0;
}

static void is_filled_once_and_gone_with_the_last(void **state)
{
    const struct shared_area_content content = content_of("a"), other = content_of("b");
    struct shared_area first = {0}, second = {0}, third = {0};
    struct error err = {0};
    (void)state;
    assert_ok(shared_area_open(&content, &first, &err), &err);
    assert_ok(shared_area_open(&content, &second, &err), &err);
    assert_int_equal(atomic_load(&counts->fills), 1);
    assert_true(first.is_shared && second.is_shared && first.bytes != second.bytes);
    assert_bytes(&first);
    assert_bytes(&second);
    assert_ok(shared_area_open(&other, &third, &err), &err);
    assert_int_equal(atomic_load(&counts->fills), 2);
    assert_int_equal(file_count(), 2);
    shared_area_close(&first);
    assert_int_equal(file_count(), 2);
    assert_bytes(&second);
    shared_area_close(&second);
    assert_int_equal(file_count(), 1);
    shared_area_close(&third);
    assert_int_equal(file_count(), 0);
    shared_area_close(&third); /* {0} again */
}

static void is_the_same_for_any_number_of_threads(void **state)
{
    struct shared_area_content content = content_of("a");
    struct shared_area area = {0};
    struct error err = {0};
    (void)state;
    assert_ok(thread_pool_new(THREADS, &content.pool, &err), &err);
    for (int shared = 0; shared < 2; shared++) {
        shared_area_folder_set(shared ? dir.path : "");
        assert_ok(shared_area_open(&content, &area, &err), &err);
        assert_int_equal(area.is_shared, shared);
        assert_bytes(&area);
        shared_area_close(&area);
    }
    thread_pool_free(content.pool);
}

static void end_of(pid_t child, int *status)
{
    must(waitpid(child, status, 0) == child);
}

/* Each child opens the area when all children are there, and checks every byte. */
static void one_of_many_processes_fills_it(void **state)
{
    const struct shared_area_content content = content_of("a");
    pid_t child[CHILDREN];
    (void)state;
    for (int round = 0; round < 10; round++) {
        atomic_store(&counts->fills, 0);
        atomic_store(&counts->go, 0);
        for (int i = 0; i < CHILDREN; i++) {
            child[i] = fork();
            must(child[i] >= 0);
            if (child[i])
                continue;
            struct shared_area area = {0};
            struct error err = {0};
            atomic_fetch_add(&counts->go, 1);
            while (atomic_load(&counts->go) < CHILDREN)
                clock_sleep_ms(1);
            bool good = shared_area_open(&content, &area, &err) == ERROR_NONE && area.is_shared;
            for (uint64_t at = 0; good && at < area.size; at++)
                good = area.bytes[at] == byte_at(at);
            atomic_fetch_add(&counts->go, 1);
            while (atomic_load(&counts->go) < 2 * CHILDREN) /* all have it open at once */
                clock_sleep_ms(1);
            shared_area_close(&area);
            _exit(good ? 0 : 1);
        }
        for (int i = 0; i < CHILDREN; i++) {
            int status = -1;
            end_of(child[i], &status);
            assert_int_equal(status, 0);
        }
        assert_int_equal(atomic_load(&counts->fills), 1);
        assert_int_equal(file_count(), 0);
    }
}

static void a_killed_filler_leaves_nothing_in_the_way(void **state)
{
    const struct shared_area_content content = content_of("a");
    struct shared_area area = {0};
    struct error err = {0};
    int status = 0;
    (void)state;
    atomic_store(&counts->kill_at, 5);
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        _exit(shared_area_open(&content, &area, &err) == ERROR_NONE);
    end_of(child, &status);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(file_count(), 1);
    atomic_store(&counts->kill_at, 0);
    assert_ok(shared_area_open(&content, &area, &err), &err);
    assert_true(area.is_shared);
    assert_bytes(&area);
    assert_int_equal(atomic_load(&counts->fills), 2);
    shared_area_close(&area);
    assert_int_equal(file_count(), 0);
}

/* A reader that is killed while it has the area open. */
static void leave_behind(const struct shared_area_content *content)
{
    int status = 0;
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        struct shared_area area = {0};
        struct error err = {0};
        (void)raise(shared_area_open(content, &area, &err) == ERROR_NONE ? SIGKILL : SIGTERM);
    }
    end_of(child, &status);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(file_count(), 1);
}

static void what_a_killed_reader_left_is_used_or_swept(void **state)
{
    const struct shared_area_content content = content_of("a"), other = content_of("b");
    struct shared_area area = {0};
    struct error err = {0};
    (void)state;
    leave_behind(&content);
    assert_ok(shared_area_open(&content, &area, &err), &err);
    assert_int_equal(atomic_load(&counts->fills), 1);
    assert_bytes(&area);
    shared_area_sweep(); /* an area that is being read stays */
    assert_int_equal(file_count(), 1);
    shared_area_close(&area);
    leave_behind(&content);
    assert_ok(shared_area_open(&other, &area, &err), &err);
    assert_int_equal(file_count(), 1); /* the other's */
    shared_area_close(&area);
    leave_behind(&content);
    shared_area_sweep();
    assert_int_equal(file_count(), 0);
}

static void nobody_writes_there(void **state)
{
    const struct shared_area_content content = content_of("a");
    int status = 0;
    (void)state;
    for (int reader = 0; reader < 2; reader++) {
        const pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            struct shared_area area[2] = {{0}};
            struct error err = {0};
            for (int i = 0; i <= reader; i++)
                must(shared_area_open(&content, &area[i], &err) == ERROR_NONE);
            (void)signal(SIGSEGV, SIG_DFL);
            *(volatile char *)area[reader].bytes = 1;
            _exit(0);
        }
        end_of(child, &status);
        assert_true(status != 0);
    }
    shared_area_sweep();
}

/* Asserts that the area is private, has the right bytes, and left no new file in the folder. */
static void assert_private(int files)
{
    struct shared_area_content content = content_of("a");
    struct shared_area area = {0};
    struct error err = {0};
    assert_ok(shared_area_open(&content, &area, &err), &err);
    assert_false(area.is_shared);
    assert_bytes(&area);
    shared_area_close(&area);
    content.only_shared = true;
    assert_fails(shared_area_open(&content, &area, &err), ERROR_NO_MEMORY,
                 "an array (5.0 MiB) cannot be shared", &err);
    assert_int_equal(file_count(), files);
}

static void is_private_where_it_cannot_be_shared(void **state)
{
    char path[FILE_PATH_SIZE];
    (void)state;
    shared_area_folder_set("");
    assert_private(0);
    shared_area_folder_set("/nowhere");
    assert_private(0);
    shared_area_folder_set(dir.path);
    file_of("a", path);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    must(fd >= 0 && flock(fd, LOCK_EX) == 0); /* this process holds the lock and fills nothing */
    shared_area_patience_set(30);
    assert_private(1);
    must(flock(fd, LOCK_UN) == 0 && fchmod(fd, 0666) == 0); /* a file of another kind */
    assert_private(1);
    (void)close(fd);
    must(unlink(path) == 0 && symlink("/etc/passwd", path) == 0);
    assert_private(1);
    must(unlink(path) == 0 && mkdir(path, 0700) == 0);
    assert_private(1);
}

static void small_ones_are_private(void **state)
{
    static const uint64_t small[2] = {0, 100};
    struct shared_area_content content = content_of("a");
    struct shared_area area = {0};
    struct error err = {0};
    (void)state;
    content.size = 100;
    content.piece_count = 1;
    content.piece_start = small;
    assert_ok(shared_area_open(&content, &area, &err), &err);
    assert_false(area.is_shared);
    assert_int_equal(area.bytes[99], byte_at(99));
    shared_area_close(&area);
}

static void a_failure_leaves_nothing(void **state)
{
    struct shared_area_content content = content_of("a");
    struct shared_area area = {0};
    struct error err = {0};
    (void)state;
    assert_ok(thread_pool_new(THREADS, &content.pool, &err), &err);
    atomic_store(&counts->fail_at, 4);
    for (int shared = 0; shared < 2; shared++) {
        shared_area_folder_set(shared ? dir.path : "");
        assert_fails(shared_area_open(&content, &area, &err), ERROR_CORRUPT, "piece 3 is damaged",
                     &err);
        assert_null(area.bytes);
        assert_int_equal(file_count(), 0);
    }
    atomic_store(&counts->fail_at, 0);
    /* there are no addresses for the shared area and no memory for the private one */
    memory_fail_after(0);
    const enum error_code rc = shared_area_open(&content, &area, &err);
    memory_fail_after(-1);
    assert_failed(rc, ERROR_NO_MEMORY, "no memory for an array", &err);
    assert_int_equal(file_count(), 0);
    thread_pool_free(content.pool);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(is_filled_once_and_gone_with_the_last),
        TEST(is_the_same_for_any_number_of_threads),
        TEST(one_of_many_processes_fills_it),
        TEST(a_killed_filler_leaves_nothing_in_the_way),
        TEST(what_a_killed_reader_left_is_used_or_swept),
        TEST(nobody_writes_there),
        TEST(is_private_where_it_cannot_be_shared),
        TEST(small_ones_are_private),
        TEST(a_failure_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
