#include "common/math/bf16_form.h"

#include "common/base/error.h"
#include "common/numbers/cpu_level.h"

#if CPU_LEVEL_X86
#include <immintrin.h>
#endif

enum { LANES = 16, PANEL_COLUMNS = 64, UNIT_PAIRS = BF16_DEPTH_UNIT / 2 };

static size_t round_up(size_t count, size_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t bf16_padded_depth(size_t depth)
{
    return round_up(depth, BF16_DEPTH_UNIT);
}

size_t bf16_panel_width(size_t at, size_t cols)
{
    const size_t left = cols - at;
    if (left > PANEL_COLUMNS && left <= PANEL_COLUMNS + LANES)
        return PANEL_COLUMNS - LANES;
    return least(PANEL_COLUMNS, round_up(left, LANES));
}

size_t bf16_left_size(size_t row_count, size_t cols)
{
    return bf16_padded_depth(row_count) * cols;
}

size_t bf16_right_size(size_t depth, size_t cols)
{
    return bf16_padded_depth(depth) * round_up(cols, LANES);
}

/* --- one pair of rows, or one unit of the depth, at any level --- */

/* Interleaves `count` columns of the rows `lower` and `upper` (NULL: there is none) for a panel,
 * with zeros up to `width`. */
static void pair_rows(const bf16 *lower, const bf16 *upper, size_t count, size_t width, bf16 *out)
{
    for (size_t i = 0; i < width; i++) {
        out[2 * i] = lower && i < count ? lower[i] : 0;
        out[2 * i + 1] = upper && i < count ? upper[i] : 0;
    }
}

/* Transposes `count` columns of at most BF16_DEPTH_UNIT rows into columns of `depth`; missing rows
 * are zeros. */
static void transpose_unit(const float *rows, size_t stride, size_t row_count, size_t count,
                           bf16 *out, size_t depth)
{
    for (size_t c = 0; c < count; c++)
        for (size_t r = 0; r < BF16_DEPTH_UNIT; r++)
            out[c * depth + r] = r < row_count ? bf16_of_float(rows[r * stride + c]) : 0;
}

#if CPU_LEVEL_X86

#define AVX512_INLINE CPU_AVX512_CODE CPU_INLINE

AVX512_INLINE __mmask16 first_lanes(size_t count)
{
    return (__mmask16)(count < LANES ? (1U << count) - 1 : 0xffffU);
}

CPU_AVX512_CODE
static void pair_rows_avx512(const bf16 *lower, const bf16 *upper, size_t count, size_t width,
                             bf16 *out)
{
    for (size_t i = 0; i < width; i += LANES) {
        const __mmask16 there = first_lanes(count > i ? count - i : 0);
        const __m256i low = _mm256_maskz_loadu_epi16(lower ? there : 0, lower + i);
        const __m256i high = _mm256_maskz_loadu_epi16(upper ? there : 0, upper + i);
        const __m512i upper_half = _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16);
        _mm512_storeu_si512(out + 2 * i, _mm512_or_si512(upper_half, _mm512_cvtepu16_epi32(low)));
    }
}

/* Rounds like bf16_of_float(). The bf16 is in the upper half of each lane; the lower half is
 * undefined. */
AVX512_INLINE __m512i rounded_up_there(__m512 x)
{
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x400000));
}

AVX512_INLINE __m512i pair_rounded(__m512 lower, __m512 upper)
{
    const __m512i low = _mm512_srli_epi32(rounded_up_there(lower), 16);
    return _mm512_mask_blend_epi16(0xaaaaaaaaU, low, rounded_up_there(upper));
}

/* Transposes the 16 x 16 words in x: first within each quarter of a vector, then the quarters. */
AVX512_INLINE void transpose_words(__m512i x[LANES])
{
    __m512i y[LANES];
    for (int i = 0; i < LANES; i += 2) {
        y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    for (int i = 0; i < LANES; i += 4) {
        x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        y[i] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88);
        y[i + 4] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd);
        y[i + 8] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88);
        y[i + 12] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
    }
    for (int i = 0; i < 4; i++) {
        x[i] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0x88);
        x[i + 8] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0xdd);
        x[i + 4] = _mm512_shuffle_i32x4(y[i + 4], y[i + 12], 0x88);
        x[i + 12] = _mm512_shuffle_i32x4(y[i + 4], y[i + 12], 0xdd);
    }
}

CPU_AVX512_CODE
static void transpose_unit_avx512(const float *rows, size_t stride, size_t row_count, size_t count,
                                  bf16 *out, size_t depth)
{
    for (size_t c = 0; c < count; c += LANES) {
        const size_t columns = least(count - c, LANES);
        const __mmask16 there = first_lanes(columns);
        __m512i x[LANES];
        _Static_assert(UNIT_PAIRS == LANES, "a block is square");
        for (size_t p = 0; p < UNIT_PAIRS; p++) {
            const float *lower = rows + 2 * p * stride + c;
            x[p] = pair_rounded(
                _mm512_maskz_loadu_ps(2 * p < row_count ? there : 0, lower),
                _mm512_maskz_loadu_ps(2 * p + 1 < row_count ? there : 0, lower + stride));
        }
        transpose_words(x);
        for (size_t i = 0; i < columns; i++)
            _mm512_storeu_si512(out + (c + i) * depth, x[i]);
    }
}

#endif

/* --- operands --- */

struct bf16_left bf16_left_of_rows(const bf16 *rows, size_t row_count, size_t depth, size_t stride)
{
    must(stride % 2 == 0 && stride >= depth);
    return (struct bf16_left){.value = rows, .rows = row_count, .depth = depth, .stride = stride};
}

void bf16_left_add(const float *rows, size_t first, size_t count, size_t row_count, size_t cols,
                   bf16 *room)
{
    const size_t depth = bf16_padded_depth(row_count);
    must(first % BF16_DEPTH_UNIT == 0 && first + count <= row_count);
    void (*transpose)(const float *, size_t, size_t, size_t, bf16 *, size_t) = transpose_unit;
#if CPU_LEVEL_X86
    if (cpu_level() >= CPU_AVX512)
        transpose = transpose_unit_avx512;
#endif
    for (size_t row = 0; row < count; row += BF16_DEPTH_UNIT)
        transpose(rows + row * cols, cols, count - row, cols, room + first + row, depth);
}

struct bf16_left bf16_left_of_columns(const float *rows, size_t row_count, size_t cols, bf16 *room)
{
    bf16_left_add(rows, 0, row_count, row_count, cols, room);
    return (struct bf16_left){.value = room, .rows = cols, .depth = row_count};
}

/* Reads the rows in order, and writes each into all panels. */
struct bf16_right bf16_right_of_rows(const bf16 *rows, size_t row_count, size_t cols, size_t stride,
                                     bf16 *room)
{
    const size_t depth = bf16_padded_depth(row_count);
    void (*pair)(const bf16 *, const bf16 *, size_t, size_t, bf16 *) = pair_rows;
#if CPU_LEVEL_X86
    if (cpu_level() >= CPU_AVX512)
        pair = pair_rows_avx512;
#endif
    for (size_t row = 0; row < depth; row += 2)
        for (size_t at = 0, width; at < cols; at += width) {
            const bf16 *lower = rows + row * stride + at;
            width = bf16_panel_width(at, cols);
            pair(row < row_count ? lower : NULL, row + 1 < row_count ? lower + stride : NULL,
                 least(cols - at, width), width, room + at * depth + row * width);
        }
    return (struct bf16_right){.value = room, .depth = row_count, .cols = cols};
}

struct bf16_right bf16_right_of_columns(const bf16 *rows, size_t row_count, size_t depth,
                                        size_t stride, bf16 *room)
{
    bf16 *out = room;
    for (size_t at = 0, width; at < row_count; at += width) {
        width = bf16_panel_width(at, row_count);
        for (size_t k = 0; k < bf16_padded_depth(depth); k += 2)
            for (size_t col = at; col < at + width; col++, out += 2) {
                out[0] = col < row_count && k < depth ? rows[col * stride + k] : 0;
                out[1] = col < row_count && k + 1 < depth ? rows[col * stride + k + 1] : 0;
            }
    }
    return (struct bf16_right){.value = room, .depth = depth, .cols = row_count};
}
