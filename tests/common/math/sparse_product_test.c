#include "common/base/memory.h"
#include "common/math/sparse_product.h"
#include "common/numbers/cpu_level.h"

#include "tests/support/test.h"

#include <math.h>

/* A sparse matrix with a given share of entries, gaps between rows, and empty first rows. */
struct fixture {
    struct sparse_matrix a;
    uint32_t *row_start, *row_end;
    struct sparse_entry *entry;
    float *b, *c, *expected;
    size_t n, b_stride, c_stride;
};

static float element(size_t i, uint32_t salt)
{
    return sinf((float)i * 0.7F + (float)salt);
}

static uint32_t draw(size_t i)
{
    const uint32_t x = (uint32_t)i * 2654435761U;
    return (x ^ x >> 15) * 2246822519U >> 8;
}

static void make(struct fixture *f, size_t m, size_t n, size_t k, uint32_t percent)
{
    const size_t room = k + 3;
    *f = (struct fixture){.n = n, .b_stride = n + 5, .c_stride = n + 2};
    f->row_start = memory_alloc(m, sizeof *f->row_start);
    f->row_end = memory_alloc(m, sizeof *f->row_end);
    f->entry = memory_alloc(m * room, sizeof *f->entry);
    f->b = memory_alloc(k * f->b_stride, sizeof *f->b);
    f->c = memory_alloc(m * f->c_stride, sizeof *f->c);
    f->expected = memory_alloc(m * f->c_stride, sizeof *f->expected);
    for (size_t row = 0; row < m; row++) {
        uint32_t at = (uint32_t)(row * room);
        f->row_start[row] = at;
        for (uint32_t column = 0; row > 0 && column < k; column++)
            if (draw(row * k + column) % 100 < percent)
                f->entry[at++] = (struct sparse_entry){column, element(row * k + column, 1)};
        f->row_end[row] = at;
    }
    for (size_t i = 0; i < k * f->b_stride; i++)
        f->b[i] = element(i, 2);
    for (size_t i = 0; i < m * f->c_stride; i++)
        f->c[i] = f->expected[i] = element(i, 3);
    f->a = (struct sparse_matrix){m, k, f->row_start, f->row_end, f->entry};
}

static void release(struct fixture *f)
{
    memory_free(f->row_start);
    memory_free(f->row_end);
    memory_free(f->entry);
    memory_free(f->b);
    memory_free(f->c);
    memory_free(f->expected);
}

/* Computes with two plain loops, which define the order of sums. */
static void expect(struct fixture *f, bool add)
{
    for (size_t row = 0; row < f->a.rows; row++) {
        float *c = f->expected + row * f->c_stride;
        for (size_t column = 0; column < f->n && !add; column++)
            c[column] = 0;
        for (uint32_t e = f->row_start[row]; e < f->row_end[row]; e++)
            for (size_t column = 0; column < f->n; column++)
                c[column] = fmaf(f->entry[e].value, f->b[f->entry[e].column * f->b_stride + column],
                                 c[column]);
    }
}

static uint32_t bits_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void check_level(size_t m, size_t n, size_t k, uint32_t percent, bool add)
{
    struct fixture f;
    make(&f, m, n, k, percent);
    expect(&f, add);
    const struct matrix_view b = {f.b, k, n, f.b_stride};
    sparse_product(&f.a, rows_view_of(b), add, f.c, f.c_stride);
    for (size_t i = 0; i < m * f.c_stride; i++) /* including the bytes between the rows */
        if (bits_of(f.c[i]) != bits_of(f.expected[i]))
            fail_msg("%zu x %zu x %zu, %u%%: element %zu is %a, expected %a", m, n, k,
                     (unsigned)percent, i, (double)f.c[i], (double)f.expected[i]);
    release(&f);
}

static void check(size_t m, size_t n, size_t k, uint32_t percent, bool add)
{
    for (int level = CPU_PLAIN; level <= CPU_AVX512; level++) {
        cpu_level_limit((enum cpu_level)level);
        check_level(m, n, k, percent, add);
    }
}

static void bits_are_those_of_the_plain_loops(void **state)
{
    static const size_t rows[] = {1, 2, 33},
                        columns[] = {1, 15, 16, 17, 31, 64, 129, 200, 256, 300};
    static const size_t depths[] = {1, 2, 63, 64, 65, 512};
    (void)state;
    for (size_t m = 0; m < sizeof rows / sizeof *rows; m++)
        for (size_t n = 0; n < sizeof columns / sizeof *columns; n++)
            for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
                for (int add = 0; add <= 1; add++) {
                    check(rows[m], columns[n], depths[k], 25, add);
                    check(rows[m], columns[n], depths[k], 2, add);
                }
}

static void more_rows_than_are_done_at_once(void **state)
{
    (void)state;
    for (size_t m = 511; m <= 1026; m += 1 + m % 512 * 256)
        check(m, 20, 70, 25, m % 2);
}

static void full_and_empty_rows_are_rows_too(void **state)
{
    (void)state;
    check(20, 130, 300, 100, true);
    check(20, 130, 300, 0, true);
    check(20, 130, 300, 0, false);
    check(20, 7, 300, 0, false);
}

static void no_rows_are_no_work(void **state)
{
    const float b[] = {1, 2, 3};
    float c[] = {7};
    const struct sparse_matrix none = {.rows = 0, .cols = 3};
    (void)state;
    sparse_product(&none, rows_view_of(matrix_view_of(b, 3, 1)), false, c, 1);
    assert_true(c[0] == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_the_plain_loops),
        cmocka_unit_test(more_rows_than_are_done_at_once),
        cmocka_unit_test(full_and_empty_rows_are_rows_too),
        cmocka_unit_test(no_rows_are_no_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
