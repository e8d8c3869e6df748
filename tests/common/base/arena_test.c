#include "common/base/arena.h"
#include "common/base/memory.h"

#include "tests/support/test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUESTS = 200 };

static size_t size_of_request(size_t i)
{
    return i % 17 == 0 ? 300000 + i * 5000 : i * 37 % 900;
}

static void take_all(struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        char *bytes = NULL;
        assert_ok(arena_new(arena, &bytes, size_of_request(i), "bytes", err), err);
        assert_int_equal((uintptr_t)bytes % 64, 0);
        memset(bytes, (int)i, size_of_request(i));
    }
}

static void a_second_unit_allocates_nothing(void **state)
{
    struct arena arena = {0};
    struct error err = {0};
    const long live = memory_live_blocks();
    (void)state;
    take_all(&arena, &err);
    const long allocations = memory_allocation_count();
    for (int i = 0; i < 3; i++) {
        arena_reset(&arena);
        assert_int_equal(arena.used, 0);
        take_all(&arena, &err);
    }
    assert_int_equal(memory_allocation_count(), allocations);
    arena_release(&arena);
    arena_release(&arena);
    assert_int_equal(memory_live_blocks(), live);
}

static void what_is_handed_out_does_not_overlap(void **state)
{
    static unsigned char *given[REQUESTS];
    struct arena arena = {0};
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < REQUESTS; i++) {
        assert_ok(arena_new(&arena, &given[i], size_of_request(i), "bytes", &err), &err);
        memset(given[i], (int)i, size_of_request(i));
    }
    for (size_t i = 0; i < REQUESTS; i++)
        for (size_t b = 0; b < size_of_request(i); b++)
            if (given[i][b] != (unsigned char)i)
                fail_msg("byte %zu of request %zu was written by another", b, i);
    arena_release(&arena);
}

static void the_limit_is_kept_and_said(void **state)
{
    struct arena arena = {.limit = 1024};
    struct error err = {0};
    double *some = NULL;
    (void)state;
    assert_ok(arena_new(&arena, &some, 64, "activations", &err), &err);
    assert_fails(arena_new(&arena, &some, 65, "activations", &err), ERROR_NO_MEMORY,
                 "activations needs 576 bytes, 512 of the budget of 1024 are used", &err);
    assert_null(some);
    assert_ok(arena_new(&arena, &some, 64, "activations", &err), &err);
    arena_reset(&arena);
    assert_ok(arena_new(&arena, &some, 128, "activations", &err), &err);
    arena_release(&arena);
    assert_int_equal(arena.limit, 1024);
}

static void sizes_that_overflow_and_empty_memory_are_said(void **state)
{
    struct arena arena = {0};
    struct error err = {0};
    double *some = NULL;
    (void)state;
    assert_fails(arena_new(&arena, &some, SIZE_MAX / 4, "rows", &err), ERROR_NO_MEMORY, "rows",
                 &err);
    memory_fail_after(0);
    assert_fails(arena_new(&arena, &some, 4, "rows", &err), ERROR_NO_MEMORY, "no memory for rows",
                 &err);
    assert_fails(arena_new(&arena, &some, 1 << 20, "rows", &err), ERROR_NO_MEMORY, "rows", &err);
    memory_fail_after(-1);
    assert_int_equal(arena.used, 0);
    arena_release(&arena);
}

static void units_of_varying_sizes_share_the_memory_of_the_largest(void **state)
{
    struct arena arena = {0};
    struct error err = {0};
    size_t largest = 0;
    (void)state;
    for (size_t unit = 0; unit < 40; unit++) {
        arena_reset(&arena);
        for (size_t i = 0; i < 5; i++) {
            char *bytes = NULL;
            const size_t size = 4000000 + unit * 37 % 41 * 1000 + i * 100000;
            assert_ok(arena_new(&arena, &bytes, size, "bytes", &err), &err);
            bytes[0] = bytes[size - 1] = 1;
        }
        largest = arena.used > largest ? arena.used : largest;
    }
    assert_true(arena.committed < largest + largest / 4);
    arena_release(&arena);
    assert_null(arena.base);
}

/* Runs in a child whose addresses are limited (ulimit -v). Units grow to many times the first
 * range, and each requested byte keeps its value. Returns 0 on success. */
static int grow_in_few_addresses(void)
{
    enum { PIECES = 40, PIECE_BYTES = 1 << 20 };
    static unsigned char *piece[PIECES];
    struct rlimit limit = {.rlim_cur = (rlim_t)256 << 20, .rlim_max = (rlim_t)256 << 20};
    struct arena arena = {0}, counting = {.counts = true};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 1;
    for (int unit = 0; unit < 3; unit++) {
        arena_reset(&arena);
        for (int i = 0; i < PIECES; i++) {
            if (arena_new(&arena, &piece[i], PIECE_BYTES, "a piece", NULL) != ERROR_NONE)
                return 2;
            memset(piece[i], i + 1, PIECE_BYTES);
        }
        for (int i = 0; i < PIECES; i++)
            for (size_t b = 0; b < PIECE_BYTES; b += 4096)
                if (piece[i][b] != i + 1)
                    return 3;
        if (arena.has_older !=
            (unit ==
             0)) /* the second unit has one range of the total size of the first unit's ranges */
            return 4;
    }
    char *small = NULL;
    if (arena_new(&counting, &small, 100, "small", NULL) != ERROR_NONE)
        return 5;
    memset(small, 1, 100);
    if (arena_new(&arena, &small, (size_t)1 << 30, "large", NULL) != ERROR_NO_MEMORY)
        return 6;
    arena_release(&counting);
    arena_release(&arena);
    return arena.base ? 7 : 0;
}

static void an_arena_needs_no_more_addresses_than_there_are(void **state)
{
    int status = -1;
    (void)state;
    if (ARENA_IS_GUARDED) /* a sanitizer needs terabytes of addresses for itself */
        return;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(grow_in_few_addresses());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_budget_says_how_many_addresses_are_reserved(void **state)
{
    struct error err = {0};
    struct arena arena = {0}, limited = {.limit = 10 << 20};
    char *some = NULL;
    (void)state;
    arena_budget_set(64 << 20);
    assert_ok(arena_new(&arena, &some, 100, "bytes", &err), &err);
    assert_true(arena.reserved <= ((size_t)64 << 20) * (1 + ARENA_IS_GUARDED));
    assert_ok(arena_new(&limited, &some, 100, "bytes", &err), &err);
    assert_true(limited.reserved <= ((size_t)12 << 20) * (1 + ARENA_IS_GUARDED));
    assert_ok(arena_new(&arena, &some, 100 << 20, "more than the budget", &err), &err);
    some[0] = some[(100 << 20) - 1] = 1;
    arena_release(&arena);
    arena_release(&limited);
    arena_budget_set(0);
}

enum touch { TOUCH_INSIDE, TOUCH_BEHIND, TOUCH_BEFORE_THE_NEXT, TOUCH_AFTER_RESET, TOUCH_FREE };

/* Writes one byte somewhere, in a child. */
static _Noreturn void touch(enum touch where)
{
    struct arena arena = {0};
    char *first = NULL, *next = NULL;
    (void)dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* the sanitizer's report is expected */
    if (arena_new(&arena, &first, 100, "bytes", NULL) != ERROR_NONE ||
        arena_new(&arena, &next, 100, "bytes", NULL) != ERROR_NONE)
        _exit(0);
    if (where == TOUCH_AFTER_RESET)
        arena_reset(&arena);
    volatile char *const at[] = {first + 99, first + 100, next - 1, first, next + 4096};
    *at[where] = 1;
    _exit(0);
}

static void a_sanitizer_sees_what_was_not_handed_out(void **state)
{
    (void)state;
    for (int where = TOUCH_INSIDE; where <= TOUCH_FREE; where++) {
        const pid_t child = fork();
        int status = -1;
        assert_true(child >= 0);
        if (child == 0)
            touch((enum touch)where);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status != 0, ARENA_IS_GUARDED && where != TOUCH_INSIDE);
    }
}

static void an_arena_that_counts_asks_for_what_any_machine_lacks(void **state)
{
    struct error err = {0};
    struct arena counts = {.counts = true, .limit = 64}, real = {0};
    uint64_t *small = NULL, *large = NULL;
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        assert_ok(arena_new(&counts, &small, 100, "names", &err), &err);
        for (int i = 0; i < 100; i++)
            small[i] = 7; /* real memory */
        assert_ok(arena_new(&counts, &large, 1ULL << 50, "rows", &err), &err);
        assert_non_null(large);
        assert_true(counts.used == (1ULL << 53) + 832);
        arena_reset(&counts);
        assert_int_equal(counts.used, 0);
    }
    for (int i = 0; i < 3000; i++) { /* more than are real at once, and of all sizes */
        assert_ok(arena_new(&counts, &small, (size_t)i, "bytes", &err), &err);
        assert_ok(arena_new(&real, &large, (size_t)i, "bytes", &err), &err);
    }
    assert_int_equal(counts.used, real.used);
    arena_release(&counts);
    arena_release(&real);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_unit_allocates_nothing),
        cmocka_unit_test(what_is_handed_out_does_not_overlap),
        cmocka_unit_test(units_of_varying_sizes_share_the_memory_of_the_largest),
        cmocka_unit_test(the_limit_is_kept_and_said),
        cmocka_unit_test(an_arena_needs_no_more_addresses_than_there_are),
        cmocka_unit_test(a_budget_says_how_many_addresses_are_reserved),
        cmocka_unit_test(sizes_that_overflow_and_empty_memory_are_said),
        cmocka_unit_test(a_sanitizer_sees_what_was_not_handed_out),
        cmocka_unit_test(an_arena_that_counts_asks_for_what_any_machine_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
