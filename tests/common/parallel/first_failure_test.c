#include "common/parallel/first_failure.h"
#include "common/parallel/thread_pool.h"

#include "tests/support/test.h"

static void fail_some(void *context, int64_t tile, int thread)
{
    struct error err = {0};
    enum error_code rc = ERROR_NONE;
    (void)thread;
    if (tile % 10 == 7)
        rc = error_set(&err, tile == 7 ? ERROR_CORRUPT : ERROR_IO, "tile %d", (int)tile);
    first_failure_keep(context, rc, tile, &err);
}

static void the_lowest_tile_is_told_by_any_number_of_threads(void **state)
{
    struct error err = {0};
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        struct thread_pool *pool = NULL;
        struct first_failure failure;
        assert_ok(thread_pool_new(threads, &pool, &err), &err);
        first_failure_init(&failure);
        thread_pool_run(pool, 500, fail_some, &failure);
        assert_fails(first_failure_end(&failure, &err), ERROR_CORRUPT, "tile 7", &err);
        first_failure_init(&failure);
        thread_pool_run(pool, 7, fail_some, &failure);
        assert_ok(first_failure_end(&failure, &err), &err);
        thread_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_tile_is_told_by_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
