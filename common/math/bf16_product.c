#include "common/math/bf16_product.h"

#include "common/base/error.h"

enum {
    LANES = 16,
    PANEL_COLUMNS = 64,
    DEPTH_UNIT = 32,
    UNIT_PAIRS = DEPTH_UNIT / 2,
    CHUNK_COLUMNS = 256,
    MOST_ROWS = 128, /* of one kernel */
};

/* What a kernel is made for. */
struct kernel_shape {
    size_t rows, cols, depth;
    size_t left_stride, right_width, c_stride;
    bool add;
};

/* --- the library --- */

#if defined(HAS_LIBXSMM)

#include <libxsmm.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

static libxsmm_blasint blas_int(size_t value)
{
    must(value <= INT_MAX);
    return (libxsmm_blasint)value;
}

/* The library's matrices lie by columns. So its c is our c^T, its a is the right operand, in pairs, and
 * its b is the left one. It keeps the kernels that it has made and finds one again in 20 ns. */
static libxsmm_bsmmfunction kernel_of(const struct kernel_shape *shape)
{
    const libxsmm_blasint right_width = blas_int(shape->right_width);
    const libxsmm_blasint left_stride = blas_int(shape->left_stride);
    const libxsmm_blasint c_stride = blas_int(shape->c_stride);
    const float alpha = 1, beta = shape->add ? 1 : 0;
    const int flags = LIBXSMM_GEMM_FLAG_VNNI_A, prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
    return libxsmm_bsmmdispatch(blas_int(shape->cols), blas_int(shape->rows),
                                blas_int(shape->depth), &right_width, &left_stride, &c_stride,
                                &alpha, &beta, &flags, &prefetch);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *hindrance = "it was not asked";

/* Where that is forbidden the library does not notice, and its kernels would end the process. */
static bool can_write_code(void)
{
    void *page =
        mmap(NULL, 1, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    (void)munmap(page, 1);
    return true;
}

/* Without the instruction the library would make kernels of others, with other bits: so would a lower
 * LIBXSMM_TARGET in the environment, which the call that names the target overrules. */
static void start(void)
{
    const struct kernel_shape probe = {.rows = 1,
                                       .cols = LANES,
                                       .depth = DEPTH_UNIT,
                                       .left_stride = DEPTH_UNIT,
                                       .right_width = LANES,
                                       .c_stride = LANES};
    hindrance = "the processor has no avx512_bf16";
    if (cpu_level_of_host() < CPU_BF16)
        return;
    hindrance = CPU_LEVEL_VARIABLE " names a level below bf16";
    if (cpu_level() < CPU_BF16)
        return;
    hindrance = "the system forbids memory that is written and executed";
    if (!can_write_code())
        return;
    libxsmm_init();
    libxsmm_set_target_archid(LIBXSMM_X86_AVX512_CPX);
    hindrance = kernel_of(&probe) ? NULL : "libxsmm makes no kernel of it";
}

const char *bf16_product_hindrance(void)
{
    (void)pthread_once(&once, start);
    return hindrance;
}

const char *bf16_product_version(void)
{
#define TEXT_OF(number) #number
#define DOTTED(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
    return "libxsmm " DOTTED(LIBXSMM_VERSION_MAJOR, LIBXSMM_VERSION_MINOR, LIBXSMM_VERSION_UPDATE);
}

static void multiply(const struct kernel_shape *shape, const bf16 *left, const bf16 *right,
                     float *c)
{
    const libxsmm_bsmmfunction kernel = kernel_of(shape);
    must(kernel);
    kernel(right, left, c);
}

/* Pairs of rows become pairs along rows, `stride` bf16 from row to row. */
static void transpose_pairs(const uint32_t (*pairs)[CHUNK_COLUMNS], size_t cols, bf16 *out,
                            size_t stride)
{
    libxsmm_otrans(out, pairs, sizeof **pairs, blas_int(cols), UNIT_PAIRS, CHUNK_COLUMNS,
                   blas_int(stride / 2));
}

#else

const char *bf16_product_hindrance(void)
{
    return "this build has no library for it";
}

const char *bf16_product_version(void)
{
    return "no library";
}

static void multiply(const struct kernel_shape *shape, const bf16 *left, const bf16 *right,
                     float *c)
{
    (void)shape, (void)left, (void)right, (void)c;
}

static void transpose_pairs(const uint32_t (*pairs)[CHUNK_COLUMNS], size_t cols, bf16 *out,
                            size_t stride)
{
    (void)pairs, (void)cols, (void)out, (void)stride;
}

#endif

bool bf16_product_is_possible(void)
{
    return !bf16_product_hindrance();
}

/* --- forms of operands --- */

static size_t round_up(size_t count, size_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static size_t padded_depth(size_t depth)
{
    return round_up(depth, DEPTH_UNIT);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Columns of the panel at column `at`, zeros included. None is of 16 columns beside another one: for those
 * the library's kernels sum in several chains, as many as suit the number of rows. */
static size_t panel_width(size_t at, size_t cols)
{
    const size_t left = cols - at;
    if (left > PANEL_COLUMNS && left <= PANEL_COLUMNS + LANES)
        return PANEL_COLUMNS - LANES;
    return least(PANEL_COLUMNS, round_up(left, LANES));
}

struct bf16_left bf16_left_of_rows(const bf16 *rows, size_t row_count, size_t depth, size_t stride)
{
    must(stride % 2 == 0 && stride >= depth);
    return (struct bf16_left){.value = rows, .rows = row_count, .depth = depth, .stride = stride};
}

size_t bf16_left_size(size_t row_count, size_t cols)
{
    return padded_depth(row_count) * cols;
}

size_t bf16_right_size(size_t depth, size_t cols)
{
    return padded_depth(depth) * round_up(cols, LANES);
}

/* Lays the upper row's elements beside the lower row's. Whole words are written: that runs in vectors. */
CPU_INLINE void pair_rounded(uint32_t *restrict out, const float *lower, const float *upper,
                             size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint32_t)bf16_of_float(upper[i]) << 16 | bf16_of_float(lower[i]);
}

CPU_INLINE void round_alone(uint32_t *restrict out, const float *lower, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = bf16_of_float(lower[i]);
}

/* One unit of the depth: rows there are not are zeros. */
CPU_KERNEL(pair_unit,
           (const float *rows, size_t stride, size_t row_count, size_t count,
            uint32_t (*pairs)[CHUNK_COLUMNS]),
           (rows, stride, row_count, count, pairs))
{
    for (size_t p = 0; p < UNIT_PAIRS; p++) {
        const float *lower = rows + 2 * p * stride;
        if (2 * p + 1 < row_count)
            pair_rounded(pairs[p], lower, lower + stride, count);
        else if (2 * p < row_count)
            round_alone(pairs[p], lower, count);
        else
            memset(pairs[p], 0, count * sizeof *pairs[p]);
    }
}

struct bf16_left bf16_left_of_columns(const float *rows, size_t row_count, size_t cols, bf16 *room)
{
    const size_t depth = padded_depth(row_count);
    uint32_t pairs[UNIT_PAIRS][CHUNK_COLUMNS];
    must(bf16_product_is_possible());
    for (size_t row = 0; row < row_count; row += DEPTH_UNIT)
        for (size_t at = 0; at < cols; at += CHUNK_COLUMNS) {
            const size_t count = least(cols - at, CHUNK_COLUMNS);
            pair_unit(rows + row * cols + at, cols, row_count - row, count, pairs);
            transpose_pairs((const uint32_t(*)[CHUNK_COLUMNS])pairs, count, room + at * depth + row,
                            depth);
        }
    return (struct bf16_left){.value = room, .rows = cols, .depth = row_count};
}

CPU_INLINE void pair(bf16 *restrict out, const bf16 *lower, const bf16 *upper, bool paired,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t both = (paired ? (uint32_t)upper[i] << 16 : 0) | lower[i];
        memcpy(out + 2 * i, &both, sizeof both);
    }
}

/* Rows are read as they lie, and each goes into all panels. */
CPU_KERNEL(fill_panels,
           (const bf16 *rows, size_t row_count, size_t cols, size_t stride, bf16 *room),
           (rows, row_count, cols, stride, room))
{
    const size_t depth = padded_depth(row_count);
    for (size_t row = 0; row < depth; row += 2)
        for (size_t at = 0, width; at < cols; at += width) {
            width = panel_width(at, cols);
            bf16 *out = room + at * depth + row * width;
            const size_t count = row < row_count ? least(cols - at, width) : 0;
            const bf16 *lower = rows + (count ? row * stride + at : 0);
            if (row + 1 < row_count)
                pair(out, lower, lower + stride, true, count);
            else
                pair(out, lower, lower, false, count);
            memset(out + 2 * count, 0, 2 * (width - count) * sizeof *out);
        }
}

struct bf16_right bf16_right_of_rows(const bf16 *rows, size_t row_count, size_t cols, size_t stride,
                                     bf16 *room)
{
    fill_panels(rows, row_count, cols, stride, room);
    return (struct bf16_right){.value = room, .depth = row_count, .cols = cols};
}

struct bf16_right bf16_right_of_columns(const bf16 *rows, size_t row_count, size_t depth,
                                        size_t stride, bf16 *room)
{
    bf16 *out = room;
    for (size_t at = 0, width; at < row_count; at += width) {
        width = panel_width(at, row_count);
        for (size_t k = 0; k < padded_depth(depth); k += 2)
            for (size_t col = at; col < at + width; col++, out += 2) {
                out[0] = col < row_count && k < depth ? rows[col * stride + k] : 0;
                out[1] = col < row_count && k + 1 < depth ? rows[col * stride + k + 1] : 0;
            }
    }
    return (struct bf16_right){.value = room, .depth = depth, .cols = row_count};
}

/* --- the product --- */

/* All rows of c for one panel of columns. */
static void multiply_panel(struct kernel_shape shape, size_t row_count, const bf16 *left,
                           const bf16 *right, float *c)
{
    shape.rows = MOST_ROWS;
    for (size_t row = 0; row < row_count; row += shape.rows) {
        while (shape.rows > row_count - row)
            shape.rows /= 2;
        multiply(&shape, left + row * shape.left_stride, right, c + row * shape.c_stride);
    }
}

void bf16_product(struct bf16_left a, struct bf16_right b, bool add, float *c, size_t c_stride)
{
    must(a.depth == b.depth && a.depth > 0);
    must(bf16_product_is_possible());
    const size_t panel_depth = padded_depth(b.depth);
    struct kernel_shape shape = {.left_stride = a.stride ? a.stride : panel_depth,
                                 .depth = a.stride ? round_up(a.depth, 2) : panel_depth,
                                 .c_stride = c_stride,
                                 .add = add};
    for (size_t at = 0; at < b.cols; at += shape.right_width) {
        shape.right_width = panel_width(at, b.cols);
        shape.cols = least(b.cols - at, shape.right_width);
        multiply_panel(shape, a.rows, a.value, b.value + at * panel_depth, c + at);
    }
}
