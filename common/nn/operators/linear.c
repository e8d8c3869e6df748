#include "common/nn/operators/linear.h"

#include "common/math/bf16_rows.h"
#include "common/math/blas.h"

CPU_KERNEL(round_row, (bf16 * out, const float *value, size_t count), (out, value, count))
{
    bf16_of_floats(out, value, count);
    if (count % 2)
        out[count] = 0;
}

static struct rows_view round_rows(struct matrix_view matrix, bf16 *room)
{
    const size_t stride = bf16_stride(matrix.cols);
    for (size_t row = 0; row < matrix.rows; row++)
        round_row(room + row * stride, matrix.value + row * matrix.stride, matrix.cols);
    return (struct rows_view){.value = room,
                              .precision = PRECISION_BF16,
                              .rows = matrix.rows,
                              .cols = matrix.cols,
                              .stride = stride};
}

static struct matrix_view floats_of(struct rows_view rows)
{
    must(rows.precision == PRECISION_FP32);
    return (struct matrix_view){rows.value, rows.rows, rows.cols, rows.stride};
}

static struct bf16_left left_of(struct rows_view rows)
{
    must(rows.precision == PRECISION_BF16);
    return bf16_left_of_rows(rows.value, rows.rows, rows.cols, rows.stride);
}

enum error_code linear_weight_init(struct linear_weight *out, struct matrix_view value,
                                   enum precision precision, struct arena *arena, struct error *err)
{
    static const char what[] = "rounded weights";
    bf16 *rounded = NULL, *forward = NULL, *backward = NULL;
    *out = (struct linear_weight){.rows = rows_view_of(value)};
    if (precision == PRECISION_FP32)
        return ERROR_NONE;
    enum error_code rc =
        arena_new(arena, &rounded, value.rows * bf16_stride(value.cols), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &forward, bf16_right_size(value.cols, value.rows), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &backward, bf16_right_size(value.rows, value.cols), what, err);
    if (rc != ERROR_NONE)
        return rc;
    if (arena->counts) {
        out->rows.precision = precision;
        return ERROR_NONE;
    }
    out->rows = round_rows(value, rounded);
    out->forward =
        bf16_right_of_columns(rounded, value.rows, value.cols, out->rows.stride, forward);
    out->backward = bf16_right_of_rows(rounded, value.rows, value.cols, out->rows.stride, backward);
    return ERROR_NONE;
}

void linear_forward(const struct linear_weight *weight, struct rows_view x, float *y)
{
    if (x.precision == PRECISION_BF16)
        bf16_product(left_of(x), weight->forward, false, y, weight->rows.rows);
    else
        blas_product(BLAS_NT, floats_of(x), floats_of(weight->rows), false, y, weight->rows.rows);
}

size_t linear_room(const struct linear_weight *weight, size_t rows)
{
    const size_t out = weight->rows.rows, in = weight->rows.cols;
    if (weight->rows.precision == PRECISION_FP32)
        return 0;
    return bf16_left_size(rows, out) + bf16_right_size(rows, in) + rows * bf16_stride(out);
}

struct linear_gradient linear_gradient_in(const struct linear_weight *weight, size_t rows,
                                          bool wants_input, bf16 *room)
{
    const size_t out = weight->rows.rows, in = weight->rows.cols;
    struct linear_gradient gradient = {
        .precision = weight->rows.precision, .rows = rows, .cols = out, .rows_at_once = rows};
    if (gradient.precision == PRECISION_FP32)
        return gradient;
    gradient.rows_at_once = BF16_DEPTH_UNIT;
    gradient.transposed = room;
    gradient.input_room = room + bf16_left_size(rows, out);
    if (wants_input)
        gradient.rounded = gradient.input_room + bf16_right_size(rows, in);
    return gradient;
}

void linear_gradient_add(struct linear_gradient *gradient, const float *dy, size_t count)
{
    const size_t cols = gradient->cols, first = gradient->added;
    must(first + count == gradient->rows || count == gradient->rows_at_once);
    gradient->added += count;
    if (gradient->precision == PRECISION_FP32) {
        gradient->value = dy;
        return;
    }
    bf16_left_add(dy, first, count, gradient->rows, cols, gradient->transposed);
    if (gradient->rounded)
        bf16_rows_round(gradient->rounded + first * bf16_stride(cols), dy, cols, count);
}

void linear_backward_weight(const struct linear_gradient *dy, struct rows_view x, bool add,
                            float *dw)
{
    must(dy->added == dy->rows);
    if (dy->precision == PRECISION_FP32) {
        blas_product(BLAS_TN, matrix_view_of(dy->value, dy->rows, dy->cols), floats_of(x), add, dw,
                     x.cols);
        return;
    }
    const struct bf16_left left = {.value = dy->transposed, .rows = dy->cols, .depth = dy->rows};
    bf16_product(left, bf16_right_of_rows(x.value, x.rows, x.cols, x.stride, dy->input_room), add,
                 dw, x.cols);
}

void linear_backward_input(const struct linear_weight *weight, const struct linear_gradient *dy,
                           float *dx)
{
    const size_t in = weight->rows.cols;
    if (dy->precision == PRECISION_FP32) {
        blas_product(BLAS_NN, matrix_view_of(dy->value, dy->rows, dy->cols),
                     floats_of(weight->rows), false, dx, in);
        return;
    }
    must(dy->rounded);
    bf16_product(bf16_left_of_rows(dy->rounded, dy->rows, dy->cols, bf16_stride(dy->cols)),
                 weight->backward, false, dx, in);
}
