/* Checks the layout of operands at each level; bf16_product_test.c checks the products. */
#include "common/base/memory.h"
#include "common/math/bf16_form.h"
#include "common/numbers/cpu_level.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

static const size_t sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 79, 80, 81, 100, 150};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Returns an element; among them are ties, numbers that round up to the next exponent, infinities
 * and a NaN. */
static float element(size_t i)
{
    static const float special[] = {1.00390625F, 1.01171875F, 0x1.ffffp3F, -0.0F, INFINITY, NAN};
    return i % 11 < 6 ? special[i % 11] : sinf((float)i * 0.7F) * 1e3F;
}

static float *filled(size_t count)
{
    float *value = memory_alloc(count, sizeof *value);
    for (size_t i = 0; i < count; i++)
        value[i] = element(i);
    return value;
}

static void columns_are_rounded_and_transposed(void **state)
{
    (void)state;
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++)
        for (size_t r = 0; r < SIZES; r++)
            for (size_t c = 0; c < SIZES; c++) {
                const size_t rows = sizes[r], cols = sizes[c], depth = bf16_padded_depth(rows);
                float *from = filled(rows * cols);
                bf16 *room = memory_alloc(bf16_left_size(rows, cols), sizeof *room);
                cpu_level_limit((enum cpu_level)level);
                const struct bf16_left left = bf16_left_of_columns(from, rows, cols, room);
                assert_int_equal(left.rows, cols);
                assert_int_equal(left.depth, rows);
                for (size_t at = 0; at < cols * depth; at++) {
                    const size_t row = at % depth, col = at / depth;
                    assert_int_equal(room[at],
                                     row < rows ? bf16_of_float(from[row * cols + col]) : 0);
                }
                memory_free(from);
                memory_free(room);
            }
}

static void some_rows_at_a_time_are_the_same(void **state)
{
    enum { ROWS = 150, COLS = 37 };
    float *from = filled((size_t)ROWS * COLS);
    const size_t size = bf16_left_size(ROWS, COLS);
    bf16 *whole = memory_alloc(size, sizeof *whole), *parts = memory_alloc(size, sizeof *parts);
    (void)state;
    cpu_level_limit(CPU_BF16);
    (void)bf16_left_of_columns(from, ROWS, COLS, whole);
    for (size_t first = 0, count; first < ROWS; first += count) {
        const size_t step = first == 0 ? BF16_DEPTH_UNIT : 2 * BF16_DEPTH_UNIT;
        count = ROWS - first < step ? ROWS - first : step;
        bf16_left_add(from + first * COLS, first, count, ROWS, COLS, parts);
    }
    assert_memory_equal(whole, parts, size * sizeof *whole);
    memory_free(from);
    memory_free(whole);
    memory_free(parts);
}

/* Returns the position of element (k, col) of a right operand. */
static size_t place_of(size_t k, size_t col, size_t depth, size_t cols)
{
    size_t at = 0, width = bf16_panel_width(0, cols);
    for (; col - at >= width; width = bf16_panel_width(at, cols))
        at += width;
    return at * bf16_padded_depth(depth) + k / 2 * 2 * width + 2 * (col - at) + k % 2;
}

static void rows_become_panels_of_pairs(void **state)
{
    (void)state;
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++)
        for (size_t r = 0; r < SIZES; r++)
            for (size_t c = 0; c < SIZES; c++) {
                const size_t rows = sizes[r], cols = sizes[c], stride = bf16_stride(cols) + 2;
                const size_t size = bf16_right_size(rows, cols);
                bf16 *from = memory_alloc(rows * stride, sizeof *from);
                bf16 *room = memory_alloc(size, sizeof *room);
                for (size_t i = 0; i < rows * stride; i++)
                    from[i] = (bf16)(i % 65535 + 1);
                memset(room, 0xff, size * sizeof *room);
                cpu_level_limit((enum cpu_level)level);
                const struct bf16_right right = bf16_right_of_rows(from, rows, cols, stride, room);
                assert_int_equal(right.depth, rows);
                assert_int_equal(right.cols, cols);
                size_t zeros = size;
                for (size_t k = 0; k < rows; k++)
                    for (size_t col = 0; col < cols; col++, zeros--)
                        assert_int_equal(room[place_of(k, col, rows, cols)],
                                         from[k * stride + col]);
                for (size_t i = 0; i < size; i++)
                    zeros -= room[i] == 0;
                assert_int_equal(zeros, 0);
                memory_free(from);
                memory_free(room);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_rounded_and_transposed),
        cmocka_unit_test(some_rows_at_a_time_are_the_same),
        cmocka_unit_test(rows_become_panels_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
