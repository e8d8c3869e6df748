#include "common/base/memory.h"
#include "common/math/sparse_tile.h"

#include "tests/support/test.h"

enum { COLS = 70, ROWS = 20, WORDS = 2 };

/* Returns whether an element is nonzero: about a third are. */
static bool is_active(size_t row, size_t column)
{
    return (row * 7 + column * 5) % 3 == 0 && row != 4;
}

static void fill(uint64_t *active, float *value)
{
    memset(active, 0, (size_t)ROWS * WORDS * sizeof *active);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < COLS; column++) {
            value[row * COLS + column] = (float)(row * COLS + column + 1);
            if (is_active(row, column))
                active[row * WORDS + column / 64] |= 1ULL << column % 64;
        }
}

static void check_row(const struct sparse_matrix *matrix, size_t row, bool transposed)
{
    uint32_t at = matrix->row_start[row];
    for (size_t k = 0; k < matrix->cols; k++) {
        const size_t tile_row = transposed ? k : row, column = transposed ? row : k;
        if (!is_active(tile_row, column))
            continue;
        assert_true(at < matrix->row_end[row]);
        assert_int_equal(matrix->entry[at].column, k);
        assert_true(matrix->entry[at].value == 2 * (float)(tile_row * COLS + column + 1));
        at++;
    }
    assert_int_equal(at, matrix->row_end[row]);
}

static void both_forms_hold_the_active_elements_in_order(void **state)
{
    struct error err = {0};
    struct arena arena = {0};
    struct sparse_tile tile;
    uint64_t active[ROWS * WORDS];
    float value[ROWS * COLS];
    (void)state;
    fill(active, value);
    assert_ok(sparse_tile_init(&tile, ROWS, COLS, true, &arena, &err), &err);
    for (int turn = 0; turn < 2; turn++) { /* the second time after a reset */
        sparse_tile_reset(&tile);
        sparse_tile_add(&tile, active, value, 2, 3);
        sparse_tile_add(&tile, active + (size_t)3 * WORDS, value + (size_t)3 * COLS, 2, ROWS - 3);
        const struct sparse_matrix rows = sparse_tile_rows(&tile);
        const struct sparse_matrix columns = sparse_tile_transposed(&tile);
        assert_int_equal(rows.rows, ROWS);
        assert_int_equal(rows.cols, COLS);
        assert_int_equal(columns.rows, COLS);
        assert_int_equal(columns.cols, ROWS);
        for (size_t row = 0; row < ROWS; row++)
            check_row(&rows, row, false);
        for (size_t column = 0; column < COLS; column++)
            check_row(&columns, column, true);
    }
    arena_release(&arena);
}

static void columns_are_summed(void **state)
{
    struct error err = {0};
    struct arena arena = {0};
    struct sparse_tile tile;
    uint64_t active[ROWS * WORDS];
    float value[ROWS * COLS];
    (void)state;
    fill(active, value);
    assert_ok(sparse_tile_init(&tile, ROWS, COLS, false, &arena, &err), &err);
    sparse_tile_reset(&tile);
    sparse_tile_add(&tile, active, value, 0.5F, ROWS);
    for (size_t column = 0; column < COLS; column++) {
        float sum = 0;
        for (size_t row = 0; row < ROWS; row++)
            sum += is_active(row, column) ? value[row * COLS + column] * 0.5F : 0;
        assert_true(tile.column_sum[column] == sum);
    }
    arena_release(&arena);
}

static void compressing_pays_up_to_one_half(void **state)
{
    const uint64_t half[] = {0xffffffffU, 0}, more[] = {0x1ffffffffU, 0};
    const uint64_t sixth[] = {0x3ffU, 0}, more_than_that[] = {0x7ffU, 0};
    (void)state;
    assert_true(sparse_tile_pays(half, 2, 64, PRECISION_FP32));
    assert_false(sparse_tile_pays(more, 2, 64, PRECISION_FP32));
    assert_true(sparse_tile_pays(sixth, 2, 64, PRECISION_BF16));
    assert_false(sparse_tile_pays(more_than_that, 2, 64, PRECISION_BF16));
}

static void memory_that_runs_out_is_an_error(void **state)
{
    struct error err = {0};
    struct sparse_tile tile;
    enum error_code rc = ERROR_NO_MEMORY;
    (void)state;
    for (size_t limit = 1; rc != ERROR_NONE; limit += 1024) {
        struct arena arena = {.limit = limit};
        rc = sparse_tile_init(&tile, 16, 64, true, &arena, &err);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_hold_the_active_elements_in_order),
        cmocka_unit_test(columns_are_summed),
        cmocka_unit_test(compressing_pays_up_to_one_half),
        cmocka_unit_test(memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
