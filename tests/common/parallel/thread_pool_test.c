#include "common/base/memory.h"
#include "common/parallel/thread_pool.h"

#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { TILES_MAX = 500, THREADS = 4 };

struct work {
    int done[TILES_MAX]; /* written by the tile's thread: a race here is a bug of the pool */
    int thread[TILES_MAX];
    atomic_int running, most_running;
};

static void count_tile(void *context, int64_t tile, int thread)
{
    struct work *work = context;
    const int running = atomic_fetch_add(&work->running, 1) + 1;
    int most = atomic_load(&work->most_running);
    while (running > most && !atomic_compare_exchange_weak(&work->most_running, &most, running))
        ;
    work->done[tile]++;
    work->thread[tile] = thread;
    atomic_fetch_sub(&work->running, 1);
}

static void check_loop(struct thread_pool *pool, int64_t tiles)
{
    static struct work work;
    work = (struct work){.running = 0};
    thread_pool_run(pool, tiles, count_tile, &work);
    assert_int_equal(atomic_load(&work.running), 0);
    assert_true(atomic_load(&work.most_running) <= thread_pool_size(pool));
    for (int64_t i = 0; i < TILES_MAX; i++) {
        assert_int_equal(work.done[i], i < tiles);
        assert_true(work.thread[i] >= 0 && work.thread[i] < thread_pool_size(pool));
    }
}

static void each_tile_is_done_once(void **state)
{
    static const int64_t tiles[] = {0, 1, 2, 3, 4, 5, 100, TILES_MAX};
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
        struct error err = {0};
        struct thread_pool *pool = NULL;
        assert_ok(thread_pool_new(threads, &pool, &err), &err);
        assert_int_equal(thread_pool_size(pool), threads);
        for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
            check_loop(pool, tiles[i]);
        thread_pool_free(pool);
    }
    check_loop(NULL, 7);
    assert_int_equal(thread_pool_size(NULL), 1);
    thread_pool_free(NULL);
}

/* A thread that was late for one loop must not join the next one in its place. */
static void many_short_loops_do_not_mix(void **state)
{
    struct error err = {0};
    struct thread_pool *pool = NULL;
    (void)state;
    assert_ok(thread_pool_new(THREADS, &pool, &err), &err);
    const long allocations = memory_allocation_count();
    for (int i = 0; i < 2000; i++)
        check_loop(pool, i % 9);
    assert_int_equal(memory_allocation_count(), allocations);
    thread_pool_free(pool);
}

struct meeting {
    pthread_barrier_t all;
    int thread[THREADS];
};

static void meet(void *context, int64_t tile, int thread)
{
    struct meeting *meeting = context;
    meeting->thread[tile] = thread;
    (void)pthread_barrier_wait(&meeting->all);
}

/* Each tile waits for all others: a single thread would wait for ever. */
static void as_many_tiles_run_at_once_as_there_are_threads(void **state)
{
    struct error err = {0};
    struct thread_pool *pool = NULL;
    struct meeting meeting;
    (void)state;
    assert_ok(thread_pool_new(THREADS, &pool, &err), &err);
    assert_int_equal(pthread_barrier_init(&meeting.all, NULL, THREADS), 0);
    (void)alarm(120); /* ends the program if they do not */
    for (int i = 0; i < 100; i++) {
        unsigned seen = 0;
        thread_pool_run(pool, THREADS, meet, &meeting);
        for (int tile = 0; tile < THREADS; tile++)
            seen |= 1U << meeting.thread[tile];
        assert_int_equal(seen, (1U << THREADS) - 1);
    }
    (void)alarm(0);
    assert_int_equal(pthread_barrier_destroy(&meeting.all), 0);
    thread_pool_free(pool);
}

static void without_memory_there_is_no_pool(void **state)
{
    const long live = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    (void)state;
    for (long n = 0; rc != ERROR_NONE; n++) {
        struct error err = {0};
        struct thread_pool *pool = NULL;
        memory_fail_after(n);
        rc = thread_pool_new(3, &pool, &err);
        memory_fail_after(-1);
        assert_true((rc == ERROR_NONE) == (pool != NULL) && n < 10);
        assert_true(rc == ERROR_NONE ? n > 0 : rc == ERROR_NO_MEMORY);
        thread_pool_free(pool);
        assert_int_equal(memory_live_blocks(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tile_is_done_once),
        cmocka_unit_test(many_short_loops_do_not_mix),
        cmocka_unit_test(as_many_tiles_run_at_once_as_there_are_threads),
        cmocka_unit_test(without_memory_there_is_no_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
