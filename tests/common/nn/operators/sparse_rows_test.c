#include "common/base/memory.h"
#include "common/nn/operators/sparse_rows.h"

#include "tests/support/test.h"

#include <math.h>

enum { ROWS = 150, STRIDE = 80 };

struct fixture {
    struct arena arena;
    struct input_rows input;
    float *value;
    uint32_t row_index[ROWS];
};

/* Every seventh element; row 5 is empty, and one element is not a number. */
static void make(struct fixture *f, bool indexed)
{
    *f = (struct fixture){.value = memory_alloc((size_t)ROWS * STRIDE, sizeof(float))};
    for (size_t i = 0; i < (size_t)ROWS * STRIDE; i++)
        f->value[i] = i % 7 == 2 && i / STRIDE != 5 ? (float)i : 0;
    f->value[7 * STRIDE + 1] = NAN;
    for (uint32_t i = 0; i < ROWS; i++)
        f->row_index[i] = ROWS - 1 - i;
    f->input = (struct input_rows){
        .base = f->value, .stride = STRIDE, .row_index = indexed ? f->row_index : NULL};
}

static void release(struct fixture *f)
{
    arena_release(&f->arena);
    memory_free(f->value);
}

static float element(const struct fixture *f, uint32_t row, uint32_t column)
{
    const uint32_t at = f->input.row_index ? f->input.row_index[row] : row;
    return f->value[(size_t)at * STRIDE + column];
}

static bool is_there(float value)
{
    return value > 0 || value < 0 || isnan(value);
}

static void check_row(const struct fixture *f, const struct sparse_matrix *rows, uint32_t row,
                      uint32_t dim)
{
    uint32_t at = rows->row_start[row];
    for (uint32_t column = 0; column < dim; column++) {
        const float value = element(f, row, column);
        if (!is_there(value))
            continue;
        assert_true(at < rows->row_end[row]);
        assert_int_equal(rows->entry[at].column, column);
        assert_memory_equal(&rows->entry[at].value, &value, sizeof value);
        at++;
    }
    assert_int_equal(at, rows->row_end[row]);
}

static void rows_hold_what_is_not_zero(void **state)
{
    static const uint32_t dims[] = {1, 31, 32, 33, 64, 80}, counts[] = {1, 63, 64, 65, ROWS};
    (void)state;
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct error err = {0};
            struct fixture f;
            struct sparse_rows rows;
            make(&f, c % 2);
            assert_ok(sparse_rows_build(&f.input, dims[d], counts[c], &f.arena, NULL, &rows, &err),
                      &err);
            const struct sparse_matrix view = sparse_rows_view(&rows, 0, counts[c]);
            assert_int_equal(view.rows, counts[c]);
            assert_int_equal(view.cols, dims[d]);
            for (uint32_t row = 0; row < counts[c]; row++)
                check_row(&f, &view, row, dims[d]);
            release(&f);
        }
}

static void selected_rows_are_those_of_the_index(void **state)
{
    struct error err = {0};
    struct fixture f;
    struct sparse_rows all, some;
    (void)state;
    make(&f, false);
    assert_ok(sparse_rows_build(&f.input, STRIDE, ROWS, &f.arena, NULL, &all, &err), &err);
    assert_ok(sparse_rows_select(&all, f.row_index, 100, &f.arena, &some, &err), &err);
    f.input.row_index = f.row_index;
    const struct sparse_matrix view = sparse_rows_view(&some, 30, 100);
    f.input.row_index += 30;
    for (uint32_t row = 0; row < 70; row++)
        check_row(&f, &view, row, STRIDE);
    release(&f);
}

static void check_column(const struct fixture *f, const struct sparse_matrix *columns,
                         uint32_t column)
{
    uint32_t at = columns->row_start[column];
    for (uint32_t row = 0; row < columns->cols; row++) {
        const float value = element(f, row, column);
        if (!is_there(value))
            continue;
        assert_int_equal(columns->entry[at].column, row);
        assert_memory_equal(&columns->entry[at].value, &value, sizeof value);
        at++;
    }
    assert_int_equal(at, columns->row_end[column]);
}

static void columns_hold_the_same_and_know_the_early_rows(void **state)
{
    static const uint32_t early[] = {0, 1, 70, ROWS};
    (void)state;
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        struct error err = {0};
        struct fixture f;
        struct sparse_rows rows;
        struct sparse_columns columns;
        make(&f, true);
        assert_ok(sparse_rows_build(&f.input, STRIDE, ROWS, &f.arena, NULL, &rows, &err), &err);
        assert_ok(sparse_rows_transpose(&rows, early[i], &f.arena, &columns, &err), &err);
        const struct sparse_matrix all = sparse_columns_view(&columns, 0, STRIDE, false);
        const struct sparse_matrix first = sparse_columns_view(&columns, 0, STRIDE, true);
        assert_int_equal(all.cols, ROWS);
        assert_int_equal(first.cols, early[i]);
        for (uint32_t column = 0; column < STRIDE; column++) {
            check_column(&f, &all, column);
            check_column(&f, &first, column);
        }
        release(&f);
    }
}

static void one_element_of_eight_is_the_limit(void **state)
{
    float rows[64] = {0};
    (void)state;
    for (int i = 0; i < 8; i++)
        rows[(size_t)i * 7] = -1;
    assert_int_equal(sparse_rows_nonzeros(rows, 64), 8);
    assert_true(sparse_rows_pay(8, 64));
    rows[1] = NAN;
    assert_int_equal(sparse_rows_nonzeros(rows, 64), 9);
    assert_false(sparse_rows_pay(9, 64));
}

static void memory_that_runs_out_is_an_error(void **state)
{
    struct error err = {0};
    struct fixture f;
    enum error_code rc = ERROR_NO_MEMORY;
    int refused = 0;
    (void)state;
    make(&f, true);
    for (f.arena.limit = 1; rc != ERROR_NONE; f.arena.limit += 512) {
        struct sparse_rows rows;
        struct sparse_columns columns;
        arena_reset(&f.arena);
        rc = sparse_rows_build(&f.input, STRIDE, ROWS, &f.arena, NULL, &rows, &err);
        if (rc == ERROR_NONE)
            rc = sparse_rows_transpose(&rows, 3, &f.arena, &columns, &err);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        refused += rc != ERROR_NONE;
    }
    assert_true(refused > 10);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_what_is_not_zero),
        cmocka_unit_test(selected_rows_are_those_of_the_index),
        cmocka_unit_test(columns_hold_the_same_and_know_the_early_rows),
        cmocka_unit_test(one_element_of_eight_is_the_limit),
        cmocka_unit_test(memory_that_runs_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
