/*
 * Rows are added in any order and read by ranges, with much memory, with little and with none.
 */
#include "common/base/memory.h"
#include "stages/infer/outputs/output_ranges.h"

#include "tests/support/failing_calls.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { NODES = 1000, RANGE = 96, ROW_BYTES = 20, MEMORY = 1 << 16, PIECE = 100, THREADS = 3 };

struct run {
    struct output_ranges *ranges;
    struct thread_pool *pool;
    struct temp_dir dir;
    char memory[MEMORY], piece[THREADS * PIECE];
    atomic_int taken[NODES];
    struct error err[THREADS], failure;
};

/* Returns the node that is added as the `i`-th. */
static uint32_t node_of(int64_t i)
{
    return (uint32_t)(i * 617 % NODES);
}

static void row_of(uint32_t node, char row[ROW_BYTES])
{
    for (uint32_t i = 0; i < ROW_BYTES; i++)
        row[i] = (char)(node * 31 + i);
}

static void add_row(void *context, int64_t i, int thread)
{
    struct run *run = context;
    row_of(node_of(i), output_ranges_row(run->ranges, thread, node_of(i)));
    const enum error_code rc =
        output_ranges_add(run->ranges, thread, node_of(i), &run->err[thread]);
    if (rc != ERROR_NONE)
        run->failure = run->err[thread];
}

static void take_row(void *context, uint32_t node, const char *row)
{
    struct run *run = context;
    char expected[ROW_BYTES];
    row_of(node, expected);
    assert_memory_equal(row, expected, ROW_BYTES);
    atomic_fetch_add(&run->taken[node], 1);
}

static struct run *open_run(size_t memory_bytes, int threads)
{
    struct error err = {0};
    struct run *run = NULL;
    assert_ok(memory_new(&run, 1, "a run", &err), &err);
    temp_dir_make(&run->dir);
    assert_ok(thread_pool_new(threads, &run->pool, &err), &err);
    const struct output_ranges_config config = {.folder = run->dir.path,
                                                .node_count = NODES,
                                                .range_nodes = RANGE,
                                                .row_bytes = ROW_BYTES,
                                                .pool = run->pool,
                                                .memory = run->memory,
                                                .memory_bytes = memory_bytes,
                                                .piece = run->piece,
                                                .piece_bytes = PIECE};
    assert_ok(output_ranges_new(&config, &run->ranges, &err), &err);
    return run;
}

static void close_run(struct run *run)
{
    output_ranges_free(run->ranges);
    thread_pool_free(run->pool);
    temp_dir_remove(&run->dir);
    memory_free(run);
}

static void each_range_has_its_rows(void **state)
{
    /* Room for many rows per buffer, for one, for no buffer per range, and for less than a row
     * per thread. */
    static const size_t memory[] = {MEMORY, (size_t)32 * 11 * THREADS, (size_t)32 * 20, 0};
    (void)state;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        struct error err = {0};
        struct run *run = open_run(memory[i], THREADS);
        thread_pool_run(run->pool, NODES, add_row, run);
        assert_ok(run->failure.code, &run->failure);
        assert_ok(output_ranges_end(run->ranges, &err), &err);
        memset(run->memory, 0, sizeof run->memory); /* the memory belongs to the caller again */
        for (uint32_t first = 0; first < NODES; first += RANGE) {
            assert_ok(output_ranges_read(run->ranges, first / RANGE, take_row, run, &err), &err);
            for (uint32_t node = 0; node < NODES; node++)
                assert_int_equal(atomic_load(&run->taken[node]), node < first + RANGE);
        }
        close_run(run);
    }
}

static void a_full_disk_and_a_bad_one_are_said(void **state)
{
    struct error err = {0};
    struct run *run = open_run(MEMORY, 1);
    (void)state;
    failing_calls_plan(CALL_WRITE, 0, 1, ENOSPC);
    for (int64_t i = 0; i < NODES; i++)
        add_row(run, i, 0);
    assert_fails(output_ranges_end(run->ranges, &err), ERROR_NO_SPACE, "cannot be written", &err);
    (void)failing_calls_end();
    close_run(run);
    run = open_run(MEMORY, 1);
    for (int64_t i = 0; i < NODES; i++)
        add_row(run, i, 0);
    assert_ok(output_ranges_end(run->ranges, &err), &err);
    failing_calls_plan(CALL_PREAD, 3, 1, EIO);
    assert_fails(output_ranges_read(run->ranges, 0, take_row, run, &err), ERROR_IO,
                 "cannot be read", &err);
    (void)failing_calls_end();
    close_run(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_range_has_its_rows),
        cmocka_unit_test(a_full_disk_and_a_bad_one_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
