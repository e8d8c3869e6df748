#include "common/base/memory.h"
#include "common/math/bf16_product.h"

#include "tests/support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

static const size_t sizes[] = {1, 2, 7, 16, 31, 47, 64, 65, 100, 145};
enum { SIZES = sizeof sizes / sizeof *sizes };

static float element(size_t i, uint32_t salt)
{
    return sinf((float)i * 0.7F + (float)salt);
}

static float *filled(size_t count, uint32_t salt)
{
    float *value = memory_alloc(count, sizeof *value);
    for (size_t i = 0; i < count; i++)
        value[i] = element(i, salt);
    return value;
}

/* Rounds rows of `cols` with their stride, and puts a NaN where nothing may be read. */
static bf16 *rounded_rows(const float *rows, size_t row_count, size_t cols, size_t stride)
{
    bf16 *value = memory_alloc(row_count * stride, sizeof *value);
    for (size_t row = 0; row < row_count; row++)
        for (size_t col = 0; col < stride; col++) {
            const bf16 beyond = col < bf16_stride(cols) ? 0 : 0x7fc0;
            value[row * stride + col] = col < cols ? bf16_of_float(rows[row * cols + col]) : beyond;
        }
    return value;
}

static float rounded(float x)
{
    return bf16_to_float(bf16_of_float(x));
}

/* Computes one element of the product: its operands rounded, its sum in float along the depth. */
static float expected(const float *a, size_t a_row, size_t a_step, const float *b, size_t b_col,
                      size_t b_step, size_t depth)
{
    float sum = 0;
    for (size_t k = 0; k < depth; k++)
        sum += rounded(a[a_row + k * a_step]) * rounded(b[b_col + k * b_step]);
    return sum;
}

struct operands {
    size_t m, n, k;
    bool transpose_a, transpose_b; /* stored as [k, m], and as [n, k] */
    float *a, *b;
    bf16 *a_rows, *a_room, *b_rows, *b_room;
    struct bf16_left left;
    struct bf16_right right;
};

static void prepare(struct operands *o)
{
    const size_t stride_a = bf16_stride(o->k) + 4;
    const size_t b_row_count = o->transpose_b ? o->n : o->k, b_cols = o->transpose_b ? o->k : o->n;
    o->a = filled(o->m * o->k, 1);
    o->b = filled(o->k * o->n, 2);
    o->a_room = memory_alloc(bf16_left_size(o->k, o->m), sizeof *o->a_room);
    o->b_room = memory_alloc(bf16_right_size(o->k, o->n), sizeof *o->b_room);
    o->b_rows = rounded_rows(o->b, b_row_count, b_cols, bf16_stride(b_cols));
    if (o->transpose_a) {
        o->left = bf16_left_of_columns(o->a, o->k, o->m, o->a_room);
    } else {
        o->a_rows = rounded_rows(o->a, o->m, o->k, stride_a);
        o->left = bf16_left_of_rows(o->a_rows, o->m, o->k, stride_a);
    }
    if (o->transpose_b)
        o->right = bf16_right_of_columns(o->b_rows, o->n, o->k, bf16_stride(b_cols), o->b_room);
    else
        o->right = bf16_right_of_rows(o->b_rows, o->k, o->n, bf16_stride(b_cols), o->b_room);
}

static void release(struct operands *o)
{
    memory_free(o->a);
    memory_free(o->b);
    memory_free(o->a_rows);
    memory_free(o->a_room);
    memory_free(o->b_rows);
    memory_free(o->b_room);
}

static void check(size_t m, size_t n, size_t k, bool transpose_a, bool transpose_b, bool add)
{
    struct operands o = {
        .m = m, .n = n, .k = k, .transpose_a = transpose_a, .transpose_b = transpose_b};
    const size_t c_stride = n + 3;
    float *c = filled(m * c_stride, 3);
    prepare(&o);
    bf16_product(o.left, o.right, add, c, c_stride);
    for (size_t row = 0; row < m; row++)
        for (size_t col = 0; col < c_stride; col++) {
            const float before = element(row * c_stride + col, 3);
            const float sum =
                col < n ? expected(o.a, transpose_a ? row : row * k, transpose_a ? m : 1, o.b,
                                   transpose_b ? col * k : col, transpose_b ? 1 : n, k)
                        : 0;
            const float want = (add || col >= n ? before : 0) + sum;
            assert_true(fabsf(c[row * c_stride + col] - want) < 2e-6F + 4e-7F * (float)k);
        }
    release(&o);
    memory_free(c);
}

static void skip_where_there_is_none(void)
{
    if (bf16_product_is_possible())
        return;
    print_message("this processor has no bf16 products (avx512_bf16)\n");
    skip();
}

static void every_form_agrees_with_three_loops(void **state)
{
    (void)state;
    skip_where_there_is_none();
    for (size_t m = 0; m < SIZES; m++)
        for (size_t n = 0; n < SIZES; n++)
            for (size_t k = 0; k < SIZES; k++)
                for (unsigned form = 0; form < 8; form++)
                    check(sizes[m], sizes[n], sizes[k], form & 1, form & 2, form & 4);
}

/* Small integers are exact in bf16, and so are their sums in float, so there is no tolerance. */
static void whole_numbers_are_multiplied_exactly(void **state)
{
    enum { M = 19, N = 61, K = 300 };
    static float a[M * K], b[K * N], c[M * N];
    (void)state;
    skip_where_there_is_none();
    for (size_t i = 0; i < (size_t)M * K; i++)
        a[i] = (float)(i * 7 % 31) - 15;
    for (size_t i = 0; i < (size_t)K * N; i++)
        b[i] = (float)(i * 5 % 29) - 14;
    bf16 *a_rows = rounded_rows(a, M, K, K), *b_rows = rounded_rows(b, K, N, bf16_stride(N));
    bf16 *room = memory_alloc(bf16_right_size(K, N), sizeof *room);
    bf16_product(bf16_left_of_rows(a_rows, M, K, K),
                 bf16_right_of_rows(b_rows, K, N, bf16_stride(N), room), false, c, N);
    for (size_t row = 0; row < M; row++)
        for (size_t col = 0; col < N; col++) {
            const float want = expected(a, row * K, 1, b, col, N, K);
            assert_memory_equal(&c[row * N + col], &want, sizeof want);
        }
    memory_free(a_rows);
    memory_free(b_rows);
    memory_free(room);
}

static void a_long_depth_is_one_chain(void **state)
{
    (void)state;
    skip_where_there_is_none();
    check(3, 70, 2049, false, false, false);
    check(300, 5, 2049, true, false, true);
}

/* Tiles of rows may be cut anywhere only if this holds. */
static void a_row_is_the_same_whatever_rows_are_beside_it(void **state)
{
    enum { M = 260, N = 66, K = 90 };
    static float whole[M * N], part[M * N];
    struct operands o = {.m = M, .n = N, .k = K};
    (void)state;
    skip_where_there_is_none();
    prepare(&o);
    bf16_product(o.left, o.right, false, whole, N);
    for (size_t rows = 1; rows < M; rows++) {
        const bf16 *from = o.left.value + (M - rows) * o.left.stride;
        bf16_product(bf16_left_of_rows(from, rows, K, o.left.stride), o.right, false, part, N);
        assert_memory_equal(part, whole + (M - rows) * N, rows * N * sizeof *part);
    }
    release(&o);
}

/* A layer may be cut there too only if this holds. With 16 columns and fewer, the library splits
 * the chains. */
static void a_column_is_the_same_whatever_columns_are_beside_it(void **state)
{
    enum { M = 9, N = 150, K = 90 };
    static float whole[M * N], part[M * N];
    struct operands o = {.m = M, .n = N, .k = K};
    (void)state;
    skip_where_there_is_none();
    prepare(&o);
    bf16_product(o.left, o.right, false, whole, N);
    for (size_t cols = 17; cols < N; cols++) {
        const bf16 *from = o.b_rows + N - cols;
        bf16_product(o.left, bf16_right_of_rows(from, K, cols, bf16_stride(N), o.b_room), false,
                     part, N);
        for (size_t row = 0; row < M; row++)
            assert_memory_equal(part + row * N, whole + row * N + N - cols, cols * sizeof *part);
    }
    release(&o);
}

/* A sum continues from the value in c, so gradients of tiles may be added up there. */
static void a_depth_cut_in_two_is_the_same_sum(void **state)
{
    enum { M = 47, N = 70, K = 512, FIRST = 384 };
    static float whole[M * N], parts[M * N];
    struct operands o = {.m = M, .n = N, .k = K, .transpose_a = true};
    (void)state;
    skip_where_there_is_none();
    prepare(&o);
    bf16_product(o.left, o.right, false, whole, N);
    for (size_t at = 0; at < K; at += at ? K - FIRST : FIRST) {
        const size_t depth = at ? K - FIRST : FIRST;
        bf16_product(
            bf16_left_of_columns(o.a + at * M, depth, M, o.a_room),
            bf16_right_of_rows(o.b_rows + at * bf16_stride(N), depth, N, bf16_stride(N), o.b_room),
            at > 0, parts, N);
    }
    assert_memory_equal(whole, parts, sizeof whole);
    release(&o);
}

enum { SHAPES = 24, RACE_K = 30, RACE_N = 5 };

struct racer {
    struct operands o[SHAPES];
    float *c[SHAPES];
};

static void *multiply_all_shapes(void *context)
{
    struct racer *racer = context;
    for (size_t i = 0; i < SHAPES; i++)
        bf16_product(racer->o[i].left, racer->o[i].right, false, racer->c[i], racer->o[i].n);
    return NULL;
}

/* Uses shapes that no other test has, so that both threads request kernels that do not exist
 * yet. */
static void threads_may_ask_for_the_same_kernels_at_once(void **state)
{
    static struct racer racer[2];
    pthread_t other;
    (void)state;
    skip_where_there_is_none();
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < SHAPES; i++) {
            struct operands *o = &racer[t].o[i];
            *o = (struct operands){.m = 3 + i, .n = RACE_N, .k = RACE_K + 2 * i};
            o->transpose_a = i % 2;
            prepare(o);
            racer[t].c[i] = filled(o->m * o->n, 4);
        }
    assert_int_equal(pthread_create(&other, NULL, multiply_all_shapes, &racer[1]), 0);
    (void)multiply_all_shapes(&racer[0]);
    assert_int_equal(pthread_join(other, NULL), 0);
    for (size_t i = 0; i < SHAPES; i++) {
        const struct operands *o = &racer[0].o[i];
        assert_memory_equal(racer[0].c[i], racer[1].c[i], o->m * o->n * sizeof(float));
        for (size_t t = 0; t < 2; t++) {
            release(&racer[t].o[i]);
            memory_free(racer[t].c[i]);
        }
    }
}

static void a_nan_and_an_infinity_come_through(void **state)
{
    const float a[2] = {NAN, 1}, b[2] = {1, INFINITY};
    bf16 a_rows[2], b_rows[4] = {0};
    float c = 0;
    (void)state;
    skip_where_there_is_none();
    bf16 *room = memory_alloc(bf16_right_size(2, 1), sizeof *room);
    bf16_of_floats(a_rows, a, 2);
    b_rows[0] = bf16_of_float(b[0]);
    b_rows[2] = bf16_of_float(b[0]);
    bf16_product(bf16_left_of_rows(a_rows, 1, 2, 2), bf16_right_of_rows(b_rows, 2, 1, 2, room),
                 false, &c, 1);
    assert_true(isnan(c));
    a_rows[0] = a_rows[1];
    b_rows[2] = bf16_of_float(b[1]);
    bf16_product(bf16_left_of_rows(a_rows, 1, 2, 2), bf16_right_of_rows(b_rows, 2, 1, 2, room),
                 false, &c, 1);
    assert_true(isinf(c));
    memory_free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_agrees_with_three_loops),
        cmocka_unit_test(whole_numbers_are_multiplied_exactly),
        cmocka_unit_test(a_long_depth_is_one_chain),
        cmocka_unit_test(a_row_is_the_same_whatever_rows_are_beside_it),
        cmocka_unit_test(a_column_is_the_same_whatever_columns_are_beside_it),
        cmocka_unit_test(a_depth_cut_in_two_is_the_same_sum),
        cmocka_unit_test(threads_may_ask_for_the_same_kernels_at_once),
        cmocka_unit_test(a_nan_and_an_infinity_come_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
