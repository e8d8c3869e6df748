#include "common/math/bf16_product.h"

#include "common/base/error.h"

enum {
    BLOCK_ROWS = 8,
    BLOCK_PAIR = 2 * BLOCK_ROWS, /* elements of a block for one step along the depth */
    LANES = 16,
    PANEL_LANES = 3,
    PANEL_COLUMNS = PANEL_LANES * LANES,
    CHUNK_COLUMNS = 256,
};

static size_t pairs_of(size_t depth)
{
    return (depth + 1) / 2;
}

static size_t round_up(size_t count, size_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Columns of the panel at column `at`, zeros included. */
static size_t panel_width(size_t at, size_t cols)
{
    const size_t left = cols - at;
    return left >= PANEL_COLUMNS ? PANEL_COLUMNS : round_up(left, LANES);
}

/* --- forms of operands --- */

struct bf16_left bf16_left_of_rows(const bf16 *rows, size_t row_count, size_t depth, size_t stride)
{
    must(stride % 2 == 0 && stride >= depth);
    return (struct bf16_left){.value = rows, .rows = row_count, .depth = depth, .stride = stride};
}

size_t bf16_left_size(size_t row_count, size_t cols)
{
    return 2 * pairs_of(row_count) * round_up(cols, BLOCK_ROWS);
}

size_t bf16_right_size(size_t depth, size_t cols)
{
    return 2 * pairs_of(depth) * round_up(cols, LANES);
}

/* Lays the upper row's elements beside the lower row's. Whole words are written: that runs in vectors.
 * Unless `paired`, zeros. */
CPU_INLINE void pair_rounded(bf16 *restrict out, const float *lower, const float *upper,
                             bool paired, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t high = paired ? bf16_of_float(upper[i]) : 0;
        const uint32_t both = high << 16 | bf16_of_float(lower[i]);
        memcpy(out + 2 * i, &both, sizeof both);
    }
}

CPU_INLINE void pair(bf16 *restrict out, const bf16 *lower, const bf16 *upper, bool paired,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t both = (paired ? (uint32_t)upper[i] << 16 : 0) | lower[i];
        memcpy(out + 2 * i, &both, sizeof both);
    }
}

CPU_INLINE void fill_zero(bf16 *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = 0;
}

/* Two rows into their place in every block of columns. By way of `words`: a loop over all columns runs
 * in vectors, one over the 8 of a block does not with every compiler. */
CPU_INLINE void scatter_pair(const float *lower, const float *upper, bool paired, size_t cols,
                             size_t pairs, bf16 *out)
{
    const size_t block = BLOCK_PAIR * pairs;
    bf16 words[2 * CHUNK_COLUMNS];
    for (size_t at = 0; at < cols; at += CHUNK_COLUMNS) {
        const size_t count = cols - at < CHUNK_COLUMNS ? cols - at : CHUNK_COLUMNS;
        const size_t blocks = round_up(count, BLOCK_ROWS) / BLOCK_ROWS;
        pair_rounded(words, lower + at, upper + at, paired, count);
        fill_zero(words + 2 * count, 2 * (blocks * BLOCK_ROWS - count));
        for (size_t b = 0; b < blocks; b++, out += block)
            memcpy(out, words + BLOCK_PAIR * b, BLOCK_PAIR * sizeof *out);
    }
}

CPU_CLONES
static void fill_blocks(const float *rows, size_t row_count, size_t cols, bf16 *out)
{
    const size_t pairs = pairs_of(row_count);
    for (size_t p = 0; p < row_count / 2; p++)
        scatter_pair(rows + 2 * p * cols, rows + (2 * p + 1) * cols, true, cols, pairs,
                     out + BLOCK_PAIR * p);
    if (row_count % 2) {
        const float *last = rows + (row_count - 1) * cols;
        scatter_pair(last, last, false, cols, pairs, out + BLOCK_PAIR * (pairs - 1));
    }
}

struct bf16_left bf16_left_of_columns(const float *rows, size_t row_count, size_t cols, bf16 *room)
{
    fill_blocks(rows, row_count, cols, room);
    return (struct bf16_left){.value = room, .rows = cols, .depth = row_count};
}

CPU_CLONES
static void fill_panels(const bf16 *rows, size_t row_count, size_t cols, size_t stride, bf16 *out)
{
    const size_t pairs = pairs_of(row_count);
    for (size_t at = 0; at < cols; at += PANEL_COLUMNS) {
        const size_t width = panel_width(at, cols);
        const size_t count = cols - at < width ? cols - at : width;
        for (size_t p = 0; p < pairs; p++, out += 2 * width) {
            const bf16 *lower = rows + 2 * p * stride + at;
            if (2 * p + 1 < row_count)
                pair(out, lower, lower + stride, true, count);
            else
                pair(out, lower, lower, false, count);
            fill_zero(out + 2 * count, 2 * (width - count));
        }
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
    const size_t pairs = pairs_of(depth);
    bf16 *out = room;
    for (size_t at = 0; at < row_count; at += PANEL_COLUMNS) {
        const size_t width = panel_width(at, row_count);
        for (size_t p = 0; p < pairs; p++)
            for (size_t col = at; col < at + width; col++, out += 2) {
                const bool there = col < row_count;
                out[0] = there ? rows[col * stride + 2 * p] : 0;
                out[1] = there && 2 * p + 1 < depth ? rows[col * stride + 2 * p + 1] : 0;
            }
    }
    return (struct bf16_right){.value = room, .depth = depth, .cols = row_count};
}

/* --- the product --- */

#if defined(__x86_64__)

#include <immintrin.h>

/* Early enough for the sums to become registers; clang does so by itself. */
#if defined(__clang__)
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif
#define HAS_BF16 __attribute__((target("avx512f,avx512bf16")))

bool bf16_product_is_possible(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bf16");
}

/* A part of c that is summed in registers, and where its operands start. */
struct kernel_part {
    const bf16 *left, *right;
    size_t left_stride;
    size_t pairs;
    float *c;
    size_t c_stride;
    __mmask16 last; /* which of the last 16 columns there are */
    bool add;
};

__attribute__((always_inline)) HAS_BF16 static inline __m512
load_lane(const struct kernel_part *part, int row, int lane, bool is_last)
{
    const float *c = part->c + (size_t)row * part->c_stride + (size_t)lane * LANES;
    return is_last ? _mm512_maskz_loadu_ps(part->last, c) : _mm512_loadu_ps(c);
}

__attribute__((always_inline)) HAS_BF16 static inline void
store_lane(const struct kernel_part *part, int row, int lane, bool is_last, __m512 sum)
{
    float *c = part->c + (size_t)row * part->c_stride + (size_t)lane * LANES;
    if (is_last)
        _mm512_mask_storeu_ps(c, part->last, sum);
    else
        _mm512_storeu_ps(c, sum);
}

/* `rows` by 16 * `lanes` of c. Constants in every call, so that the sums stay in registers. `in_blocks`:
 * the left operand is in blocks of columns. */
__attribute__((always_inline)) HAS_BF16 static inline void multiply(const struct kernel_part *part,
                                                                    const int rows, const int lanes,
                                                                    const bool in_blocks,
                                                                    const bool add)
{
    const size_t row_step = in_blocks ? 2 : part->left_stride;
    const size_t pair_step = in_blocks ? BLOCK_PAIR : 2;
    const bf16 *left = part->left, *right = part->right;
    __m512 sum[BLOCK_ROWS][PANEL_LANES];
    UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int v = 0; v < lanes; v++) sum[r][v] =
        add ? load_lane(part, r, v, v == lanes - 1) : _mm512_setzero_ps();
    for (size_t p = 0; p < part->pairs; p++) {
        __m512i b[PANEL_LANES];
        UNROLLED for (int v = 0; v < lanes; v++) b[v] =
            _mm512_loadu_si512(right + (size_t)v * 2 * LANES);
        UNROLLED for (int r = 0; r < rows; r++)
        {
            int32_t two;
            memcpy(&two, left + (size_t)r * row_step, sizeof two);
            const __m512i a = _mm512_set1_epi32(two);
            UNROLLED for (int v = 0; v < lanes; v++) sum[r][v] =
                _mm512_dpbf16_ps(sum[r][v], (__m512bh)a, (__m512bh)b[v]);
        }
        left += pair_step;
        right += (size_t)lanes * 2 * LANES;
    }
    UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int v = 0; v < lanes; v++)
        store_lane(part, r, v, v == lanes - 1, sum[r][v]);
}

typedef void kernel(const struct kernel_part *part);

#define KERNEL(name, rows, lanes, in_blocks)                                                       \
    HAS_BF16 static void name(const struct kernel_part *part)                                      \
    {                                                                                              \
        if (part->add)                                                                             \
            multiply(part, rows, lanes, in_blocks, true);                                          \
        else                                                                                       \
            multiply(part, rows, lanes, in_blocks, false);                                         \
    }
KERNEL(rows_8x1, 8, 1, false)
KERNEL(rows_8x2, 8, 2, false)
KERNEL(rows_8x3, 8, 3, false)
KERNEL(rows_1x1, 1, 1, false)
KERNEL(rows_1x2, 1, 2, false)
KERNEL(rows_1x3, 1, 3, false)
KERNEL(blocks_8x1, 8, 1, true)
KERNEL(blocks_8x2, 8, 2, true)
KERNEL(blocks_8x3, 8, 3, true)
KERNEL(blocks_1x1, 1, 1, true)
KERNEL(blocks_1x2, 1, 2, true)
KERNEL(blocks_1x3, 1, 3, true)

/* [in blocks][all 8 rows][lanes - 1] */
static kernel *const kernels[2][2][PANEL_LANES] = {
    {{rows_1x1, rows_1x2, rows_1x3}, {rows_8x1, rows_8x2, rows_8x3}},
    {{blocks_1x1, blocks_1x2, blocks_1x3}, {blocks_8x1, blocks_8x2, blocks_8x3}}};

/* All rows of c for one panel of columns. */
static void multiply_panel(struct bf16_left a, struct kernel_part part, size_t lanes)
{
    const bool in_blocks = a.stride == 0;
    const size_t row_step = in_blocks ? 2 : a.stride;
    const size_t block_step = BLOCK_ROWS * (in_blocks ? 2 * part.pairs : a.stride);
    float *const c = part.c;
    for (size_t block = 0; block < a.rows / BLOCK_ROWS; block++) {
        part.left = a.value + block * block_step;
        part.c = c + block * BLOCK_ROWS * part.c_stride;
        kernels[in_blocks][1][lanes - 1](&part);
    }
    for (size_t row = a.rows / BLOCK_ROWS * BLOCK_ROWS; row < a.rows; row++) {
        part.left = a.value + row / BLOCK_ROWS * block_step + row % BLOCK_ROWS * row_step;
        part.c = c + row * part.c_stride;
        kernels[in_blocks][0][lanes - 1](&part);
    }
}

void bf16_product(struct bf16_left a, struct bf16_right b, bool add, float *c, size_t c_stride)
{
    must(a.depth == b.depth && a.depth > 0);
    const size_t pairs = pairs_of(a.depth);
    for (size_t at = 0; at < b.cols; at += PANEL_COLUMNS) {
        const size_t lanes = panel_width(at, b.cols) / LANES;
        const size_t in_last =
            b.cols - at < PANEL_COLUMNS ? b.cols - at - (lanes - 1) * LANES : LANES;
        multiply_panel(a,
                       (struct kernel_part){.right = b.value + 2 * at * pairs,
                                            .left_stride = a.stride,
                                            .pairs = pairs,
                                            .c = c + at,
                                            .c_stride = c_stride,
                                            .last = (__mmask16)((1U << in_last) - 1),
                                            .add = add},
                       lanes);
    }
}

#else

bool bf16_product_is_possible(void)
{
    return false;
}

void bf16_product(struct bf16_left a, struct bf16_right b, bool add, float *c, size_t c_stride)
{
    (void)a, (void)b, (void)add, (void)c, (void)c_stride;
    must(!"bf16 products were asked for where there are none");
}

#endif
