#include "common/parallel/thread_pool.h"
#include "common/parallel/tile_turns.h"

#include "tests/support/test.h"

#include <unistd.h>

enum { TILES = 200, THREADS = 4 };

struct work {
    struct tile_turns turns;
    /* changed by the thread whose turn it is: a race here is a bug of the turns */
    int count;
    int64_t put[TILES]; /* tiles in the order of their turns */
};

static void put_tile(void *context, int64_t tile, int thread)
{
    struct work *work = context;
    (void)thread;
    (void)usleep((useconds_t)(tile % 7 ? 0 : 200)); /* some take longer, so later tiles wait */
    tile_turns_wait(&work->turns, tile);
    work->put[work->count++] = tile;
    tile_turns_pass(&work->turns);
}

static void tiles_are_put_in_order_by_any_number_of_threads(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
        struct error err = {0};
        struct thread_pool *pool = NULL;
        struct work work = {.count = 0};
        assert_ok(thread_pool_new(threads, &pool, &err), &err);
        tile_turns_begin(&work.turns);
        thread_pool_run(pool, TILES, put_tile, &work);
        tile_turns_end(&work.turns);
        thread_pool_free(pool);
        assert_int_equal(work.count, TILES);
        for (int i = 0; i < TILES; i++)
            assert_int_equal(work.put[i], i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_put_in_order_by_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
