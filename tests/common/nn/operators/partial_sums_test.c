#include "common/nn/operators/partial_sums.h"

#include "tests/support/test.h"

#include <string.h>

enum { SIZE = 5, ROWS_MOST = 70000 };

static const uint32_t row_counts[] = {1,    63,   64,   65,    100,   1024,  1025,  2048,
                                      4096, 4097, 9000, 16264, 32768, 32769, 33300, ROWS_MOST};

/* Sums of such numbers depend on their order. */
static float element(uint32_t row, size_t k)
{
    return 1.0F / (float)(row * 7 % 1009 + 3) - (float)(k + 1) / (float)(row % 13 + 5);
}

static void tile_sum(const struct partial_sums_tile *tile, float *out)
{
    for (size_t k = 0; k < SIZE; k++) {
        out[k] = 0;
        for (uint32_t row = tile->first; row < tile->end; row++)
            out[k] += element(row, k);
    }
}

static void add_tile(float *sum, const struct partial_sums_tile *tile)
{
    float own[SIZE];
    tile_sum(tile, own);
    for (size_t k = 0; k < SIZE; k++)
        sum[k] = tile->fresh ? own[k] : sum[k] + own[k];
}

static unsigned char times_seen[ROWS_MOST];

static void body(void *context, const struct partial_sums_tile *tile)
{
    (void)context;
    assert_true(tile->first < tile->end && tile->end <= ROWS_MOST);
    for (uint32_t row = tile->first; row < tile->end; row++)
        times_seen[row]++;
    add_tile(tile->sum, tile);
}

/* The order that partial_sums.h says, as plain loops. */
static void expect(uint32_t rows, float total[SIZE])
{
    uint32_t tile_rows = ((rows + 63) / 64 + 31) / 32 * 32;
    tile_rows = tile_rows < 64 ? 64 : tile_rows > 512 ? 512 : tile_rows;
    const uint32_t tiles = (rows + tile_rows - 1) / tile_rows;
    for (uint32_t group = 0; group < 16 && group < tiles; group++) {
        float of_group[SIZE] = {0};
        for (uint32_t chain = group; chain < 64 && chain < tiles; chain += 16) {
            float sum[SIZE] = {0};
            for (uint32_t t = chain; t < tiles; t += 64) {
                const uint32_t end = (t + 1) * tile_rows;
                const struct partial_sums_tile tile = {
                    .first = t * tile_rows, .end = end < rows ? end : rows, .fresh = t == chain};
                add_tile(sum, &tile);
            }
            for (size_t k = 0; k < SIZE; k++)
                of_group[k] = chain == group ? sum[k] : of_group[k] + sum[k];
        }
        for (size_t k = 0; k < SIZE; k++)
            total[k] = group == 0 ? of_group[k] : total[k] + of_group[k];
    }
}

static void any_number_of_threads_adds_in_one_order(void **state)
{
    static const int thread_counts[] = {1, 2, 4, 16, 17, 33, 64, 100};
    (void)state;
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        struct error err = {0};
        struct thread_pool *pool = NULL;
        struct arena arena = {0};
        assert_ok(thread_pool_new(thread_counts[t], &pool, &err), &err);
        for (size_t i = 0; i < sizeof row_counts / sizeof *row_counts; i++) {
            struct partial_sums sums;
            float expected[SIZE];
            arena_reset(&arena);
            assert_ok(partial_sums_init(&sums, row_counts[i], SIZE, thread_counts[t], &arena, &err),
                      &err);
            memset(times_seen, 0, sizeof times_seen);
            partial_sums_run(&sums, pool, body, NULL);
            for (uint32_t row = 0; row < ROWS_MOST; row++)
                assert_int_equal(times_seen[row], row < row_counts[i]);
            expect(row_counts[i], expected);
            assert_memory_equal(partial_sums_total(&sums, 0, 2), expected, 2 * sizeof(float));
            assert_memory_equal(partial_sums_total(&sums, 2, SIZE - 2), expected + 2,
                                (SIZE - 2) * sizeof(float));
        }
        thread_pool_free(pool);
        arena_release(&arena);
    }
}

/* There is work for 64 threads at once. */
static void many_threads_have_work(void **state)
{
    struct arena arena = {0};
    struct error err = {0};
    struct partial_sums sums;
    (void)state;
    assert_ok(partial_sums_init(&sums, 1024, SIZE, 64, &arena, &err), &err);
    assert_int_equal(sums.tiles, 16);
    assert_ok(partial_sums_init(&sums, 16264, SIZE, 64, &arena, &err), &err);
    assert_true(sums.by_chain && sums.tiles == 64);
    assert_ok(partial_sums_init(&sums, 155700, SIZE, 64, &arena, &err), &err);
    assert_int_equal(sums.tile_rows, 512);
    arena_release(&arena);
}

enum { WIDE = 5000, WIDE_ROWS = 2000 };

static void wide_body(void *context, const struct partial_sums_tile *tile)
{
    (void)context;
    for (size_t k = 0; k < WIDE; k++)
        tile->sum[k] = (tile->fresh ? 0 : tile->sum[k]) + element(tile->first, k % 97);
}

static void a_total_is_the_same_from_all_threads(void **state)
{
    static const int thread_counts[] = {1, 4, 33};
    static float out[WIDE];
    (void)state;
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        struct error err = {0};
        struct thread_pool *pool = NULL;
        struct arena arena = {0};
        struct partial_sums one, other;
        assert_ok(thread_pool_new(thread_counts[t], &pool, &err), &err);
        assert_ok(partial_sums_init(&one, WIDE_ROWS, WIDE, thread_counts[t], &arena, &err), &err);
        assert_ok(partial_sums_init(&other, WIDE_ROWS, WIDE, thread_counts[t], &arena, &err), &err);
        partial_sums_run(&one, pool, wide_body, NULL);
        partial_sums_run(&other, pool, wide_body, NULL);
        partial_sums_total_into(&one, pool, 3, WIDE - 3, out);
        assert_memory_equal(out, partial_sums_total(&other, 3, WIDE - 3),
                            (WIDE - 3) * sizeof(float));
        thread_pool_free(pool);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_adds_in_one_order),
        cmocka_unit_test(many_threads_have_work),
        cmocka_unit_test(a_total_is_the_same_from_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
