/*
 * Keeps sums in registers. Plain loops load and store the sum for every few rows that they add; if
 * the rows come from a cache, this takes longer than reading the rows. Here the sums of a block of
 * columns stay in registers over all edges of a row and are stored once. Wide rows take several
 * blocks, one after the other. Each block prefetches its own columns, because no cache holds the
 * rows of a hub until the next block.
 *
 * If the columns do not fill the last vector, the vector begins earlier and overlaps the one
 * before; both hold the same sums. With a mask, loads would touch a cache line beyond the row,
 * which was not prefetched. Compilers keep sums in registers only if each sum is a variable of its
 * own, hence the macros. They have registers left for addresses only if each number of vectors has
 * its own function.
 */
#include "common/nn/operators/aggregation_avx512.h"

#include "common/math/vector.h"
#include "common/nn/operators/aggregation_walk.h"
#include "common/numbers/cpu_level.h"

#if CPU_LEVEL_X86
#include <immintrin.h>

enum {
    LANES = AGGREGATION_AVX512_DIM_MIN,
    BLOCK_VECTORS = 16,
    SMALL_BLOCK_VECTORS = 8,
    EDGES_AHEAD = 12 /* how far ahead gradients are prefetched */
};

#define AVX512_INLINE CPU_AVX512_CODE CPU_INLINE

/* Columns that are summed together: BLOCK_VECTORS vectors, or at most SMALL_BLOCK_VECTORS. */
struct columns {
    size_t first, count;
};

/* Returns the block of columns that begins at `first`. */
CPU_INLINE struct columns next_columns(size_t dim, size_t first)
{
    const size_t left = dim - first;
    const size_t most =
        left > (size_t)(BLOCK_VECTORS - 1) * LANES ? BLOCK_VECTORS : SMALL_BLOCK_VECTORS;
    if (left < LANES)
        return (struct columns){dim - LANES, LANES};
    return (struct columns){first, left < most * LANES ? left : most * LANES};
}

AVX512_INLINE __m512 load_bf16(const bf16 *from)
{
    const __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}

AVX512_INLINE __m512 load(enum precision precision, const void *row, size_t column)
{
    return precision == PRECISION_BF16 ? load_bf16((const bf16 *)row + column)
                                       : _mm512_loadu_ps((const float *)row + column);
}

/* Each DO(i) tests whether vector i exists, i < `vectors`; the compiler removes the test because
 * `vectors` is a constant. */
#define EACH_VECTOR(DO)                                                                            \
    DO(0)                                                                                          \
    DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define DECLARE(i) __m512 sum##i = _mm512_setzero_ps();
#define COLUMN(i)  ((i) < vectors - 1 ? (size_t)(i)*LANES : last)
#define ADD(i)                                                                                     \
    if ((i) < vectors)                                                                             \
        sum##i = _mm512_fmadd_ps(factor, load(precision, row, COLUMN(i)), sum##i);
#define SCALE(i) sum##i = _mm512_mul_ps(sum##i, factor);
#define STORE(i)                                                                                   \
    if ((i) < vectors)                                                                             \
        _mm512_storeu_ps(out + COLUMN(i), sum##i);

/* Returns the same walk restricted to some columns. */
CPU_INLINE struct walk walk_over(const struct walk *walk, enum precision precision,
                                 struct columns columns)
{
    struct walk part = *walk;
    part.precision = precision;
    part.input.base = precision_at(precision, walk->input.base, columns.first);
    part.row_bytes = columns.count * precision_bytes(precision);
    return part;
}

/* Sums some columns of the row of a destination. Multiplying by 1 does not change a bit, so rows
 * without factors need no code of their own. `valued`, a constant: there are edge values. */
AVX512_INLINE void sum_columns(const struct walk *whole, enum precision precision,
                               struct columns columns, uint32_t destination, float *out,
                               const size_t vectors, const bool valued)
{
    const struct walk walk = walk_over(whole, precision, columns);
    const struct aggregation *aggregation = walk.aggregation;
    const uint32_t *neighbor = walk.block->neighbor;
    const float *source_scale = aggregation->source_scale;
    const uint32_t end = walk.block->row_start[destination + 1];
    const uint32_t skipped = aggregation->skip_self_loops ? destination : UINT32_MAX;
    const size_t last = columns.count - LANES;
    out += columns.first;
    EACH_VECTOR(DECLARE)
    for (uint32_t e = walk.block->row_start[destination]; e < end; e++) {
        const uint32_t j = neighbor[e];
        ask_ahead(&walk, e);
        if (j == skipped)
            continue;
        const void *row = any_row(&walk.input, precision, j);
        const __m512 factor = _mm512_set1_ps(valued ? aggregation_edge_scale(aggregation, e, j)
                                             : source_scale ? source_scale[j]
                                                            : 1);
        EACH_VECTOR(ADD)
    }
    __m512 factor = _mm512_set1_ps(aggregation->destination_scale[destination]);
    EACH_VECTOR(SCALE)
    if (!aggregation->self_beside && aggregation->self_scale) {
        const void *row = any_row(&walk.input, precision, destination);
        factor = _mm512_set1_ps(aggregation->self_scale[destination]);
        EACH_VECTOR(ADD)
    }
    EACH_VECTOR(STORE)
}

/* The arguments of aggregation_backward() that all rows share. */
struct transposing {
    const struct aggregation *aggregation;
    const struct transposed_edges *edges;
    const float *gradient;
    size_t dim, width;
    uint32_t edge_end; /* the end of the edges of all sources that are summed */
};

/* Sums some columns of the row of a source. */
AVX512_INLINE void sum_source_columns(const struct transposing *transposing, struct columns columns,
                                      uint32_t source, float *out, const size_t vectors,
                                      const bool valued)
{
    const struct aggregation *aggregation = transposing->aggregation;
    const uint32_t *destination = transposing->edges->destination;
    const uint32_t end = transposing->edges->start[source + 1];
    const float *gradient = transposing->gradient + columns.first;
    const float *destination_scale = aggregation->destination_scale;
    const enum precision precision = PRECISION_FP32;
    const size_t last = columns.count - LANES, width = transposing->width;
    out += columns.first;
    EACH_VECTOR(DECLARE)
    for (uint32_t e = transposing->edges->start[source]; e < end; e++) {
        if (transposing->edge_end - e > EDGES_AHEAD)
            vector_prefetch(gradient + destination[e + EDGES_AHEAD] * width,
                            columns.count * sizeof *gradient);
        const float *row = gradient + destination[e] * width;
        const float scale = destination_scale[destination[e]];
        const __m512 factor = _mm512_set1_ps(
            valued ? scale * aggregation->edge_value[transposing->edges->edge[e]] : scale);
        EACH_VECTOR(ADD)
    }
    if (aggregation->source_scale) {
        const __m512 factor = _mm512_set1_ps(aggregation->source_scale[source]);
        EACH_VECTOR(SCALE)
    }
    if (source < aggregation->destination_count &&
        (aggregation->self_beside || aggregation->self_scale)) {
        const float *row =
            gradient + source * width + (aggregation->self_beside ? transposing->dim : 0);
        const __m512 factor =
            _mm512_set1_ps(aggregation->self_beside ? 1 : aggregation->self_scale[source]);
        EACH_VECTOR(ADD)
    }
    EACH_VECTOR(STORE)
}

/* These macros make a function for each case that is known at compile time, apart from the
 * number of vectors. */
#define DESTINATION_KERNEL(name, precision, vectors, valued)                                       \
    CPU_AVX512_CODE static void name##_##vectors(const struct walk *walk, struct columns columns,  \
                                                 uint32_t destination, float *out)                 \
    {                                                                                              \
        sum_columns(walk, precision, columns, destination, out, vectors, valued);                  \
    }
#define SOURCE_KERNEL(name, vectors, valued)                                                       \
    CPU_AVX512_CODE static void name##_##vectors(const struct transposing *transposing,            \
                                                 struct columns columns, uint32_t source,          \
                                                 float *out)                                       \
    {                                                                                              \
        sum_source_columns(transposing, columns, source, out, vectors, valued);                    \
    }
#define KERNELS(vectors)                                                                           \
    DESTINATION_KERNEL(sum_floats, PRECISION_FP32, vectors, false)                                 \
    DESTINATION_KERNEL(sum_valued_floats, PRECISION_FP32, vectors, true)                           \
    DESTINATION_KERNEL(sum_bf16, PRECISION_BF16, vectors, false)                                   \
    DESTINATION_KERNEL(sum_valued_bf16, PRECISION_BF16, vectors, true)                             \
    SOURCE_KERNEL(sum_sources, vectors, false)                                                     \
    SOURCE_KERNEL(sum_valued_sources, vectors, true)
#define KERNEL_NAMES(vectors)                                                                      \
    [vectors] = {{sum_floats_##vectors, sum_valued_floats_##vectors},                              \
                 {sum_bf16_##vectors, sum_valued_bf16_##vectors},                                  \
                 {sum_sources_##vectors, sum_valued_sources_##vectors}},

/* clang-format off */
#define EACH_KERNEL(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(16)
/* clang-format on */

EACH_KERNEL(KERNELS)

typedef void sum_kernel(const struct walk *walk, struct columns columns, uint32_t destination,
                        float *out);
typedef void source_kernel(const struct transposing *transposing, struct columns columns,
                           uint32_t source, float *out);

/* Indexed by the number of vectors; each pair is without and with edge values. */
static const struct kernels {
    sum_kernel *sum_floats[2], *sum_bf16[2];
    source_kernel *sum_sources[2];
} kernels[BLOCK_VECTORS + 1] = {EACH_KERNEL(KERNEL_NAMES)};

CPU_INLINE const struct kernels *kernels_for(struct columns columns)
{
    return &kernels[(columns.count + LANES - 1) / LANES];
}

/* Computes the row of destination i, without a second half. */
CPU_INLINE void sum_row(const struct walk *walk, uint32_t i, float *out)
{
    const bool valued = walk->aggregation->edge_value != NULL;
    struct columns columns = {0};
    ask_for_own_rows(walk, i);
    for (size_t first = 0; first < walk->dim; first = columns.first + columns.count) {
        columns = next_columns(walk->dim, first);
        const struct kernels *of = kernels_for(columns);
        (walk->precision == PRECISION_BF16 ? of->sum_bf16 : of->sum_floats)[valued](walk, columns,
                                                                                    i, out);
    }
}

CPU_AVX512_CODE
static void gather_floats(const struct aggregation *aggregation, const struct message_block *block,
                          const struct input_rows *input, uint32_t dim, uint32_t first,
                          uint32_t end, float *out)
{
    const struct walk walk = start_walk(aggregation, block, input, PRECISION_FP32, dim, first, end);
    const size_t width = aggregation_width(aggregation, dim);
    for (uint32_t i = first; i < end; i++, out += width) {
        sum_row(&walk, i, out);
        if (aggregation->self_beside)
            vector_copy(out + dim, float_row(input, i), dim);
    }
}

CPU_AVX512_CODE
static void gather_bf16(const struct aggregation *aggregation, const struct message_block *block,
                        const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                        float *sum, bf16 *out)
{
    const struct walk walk = start_walk(aggregation, block, input, PRECISION_BF16, dim, first, end);
    const size_t stride = bf16_stride(aggregation_width(aggregation, dim));
    for (uint32_t i = first; i < end; i++, out += stride) {
        sum_row(&walk, i, sum);
        finish_bf16(&walk, i, sum, out);
    }
}

void aggregation_forward_avx512(const struct aggregation *aggregation,
                                const struct message_block *block, const struct input_rows *input,
                                uint32_t dim, uint32_t first, uint32_t end, float *scratch,
                                void *out)
{
    if (input->precision == PRECISION_BF16)
        gather_bf16(aggregation, block, input, dim, first, end, scratch, out);
    else
        gather_floats(aggregation, block, input, dim, first, end, out);
}

void aggregation_backward_avx512(const struct aggregation *aggregation,
                                 const struct transposed_edges *edges, const float *gradient,
                                 uint32_t dim, uint32_t first, uint32_t end, float *out)
{
    const struct transposing transposing = {.aggregation = aggregation,
                                            .edges = edges,
                                            .gradient = gradient,
                                            .dim = dim,
                                            .width = aggregation_width(aggregation, dim),
                                            .edge_end = edges->start[end]};
    const bool valued = aggregation->edge_value != NULL;
    for (uint32_t j = first; j < end; j++, out += dim) {
        struct columns columns = {0};
        for (size_t at = 0; at < dim; at = columns.first + columns.count) {
            columns = next_columns(dim, at);
            kernels_for(columns)->sum_sources[valued](&transposing, columns, j, out);
        }
    }
}

#endif
