#include "common/nn/operators/linear.h"

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
    const size_t for_weight = bf16_left_size(rows, out) + bf16_right_size(rows, in);
    const size_t for_input = rows * bf16_stride(out);
    return for_weight > for_input ? for_weight : for_input;
}

void linear_backward_weight(struct matrix_view dy, struct rows_view x, bool add, float *dw,
                            bf16 *room)
{
    if (x.precision == PRECISION_FP32) {
        blas_product(BLAS_TN, dy, floats_of(x), add, dw, x.cols);
        return;
    }
    must(dy.stride == dy.cols);
    const struct bf16_left left = bf16_left_of_columns(dy.value, dy.rows, dy.cols, room);
    const struct bf16_right right = bf16_right_of_rows(x.value, x.rows, x.cols, x.stride,
                                                       room + bf16_left_size(dy.rows, dy.cols));
    bf16_product(left, right, add, dw, x.cols);
}

void linear_backward_input(const struct linear_weight *weight, struct matrix_view dy, float *dx,
                           bf16 *room)
{
    const size_t in = weight->rows.cols;
    if (weight->rows.precision == PRECISION_BF16)
        bf16_product(left_of(round_rows(dy, room)), weight->backward, false, dx, in);
    else
        blas_product(BLAS_NN, dy, floats_of(weight->rows), false, dx, in);
}
