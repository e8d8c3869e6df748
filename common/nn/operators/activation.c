#include "common/nn/operators/activation.h"

#include "common/base/error.h"
#include "common/math/vector.h"
#include "common/numbers/cpu_kernel.h"

#include <math.h>
#include <string.h>

#define ROW(constant, name) #name,
const char *const activation_names[ACTIVATION_KIND_COUNT + 1] = {ACTIVATION_LIST(ROW) NULL};
#undef ROW

static const float leaky_slope = 0.01F;

/* Draws are made for this many columns at a time: 32 Philox blocks of 8 draws. */
enum { DRAWS_OF_BLOCK = 8, WORD = 64, CHUNK_WORDS = 4, CHUNK_COLUMNS = CHUNK_WORDS * WORD };

void activation_set_dropout(struct activation *activation, float dropout,
                            struct random_stream stream)
{
    const uint32_t drop_below = (uint32_t)lrintf(dropout * 65536.0F);
    activation->drop_below = drop_below < 65536 ? drop_below : 65535;
    activation->scale = 65536.0F / (float)(65536 - activation->drop_below);
    activation->stream = stream;
}

CPU_KERNEL(add_bias,
           (float *restrict rows, const float *restrict bias, size_t dim, size_t row_count),
           (rows, bias, dim, row_count))
{
    for (size_t row = 0; row < row_count; row++)
        vector_add(rows + row * dim, bias, dim);
}

/* Bias, ReLU and dropout of `count` <= 32 columns; tells which are above 0 in the end. `y < 0 ? 0 : y` and
 * not the other way round: a NaN goes through and is noticed at the loss. */
CPU_INLINE uint32_t finish_columns(float *restrict y, const float *restrict bias, uint32_t kept,
                                   float scale, uint32_t count)
{
    uint32_t active = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float sum = y[i] + bias[i];
        const float scaled = sum * scale; /* not only if needed: lanes have no branches */
        const float value = sum < 0 ? 0 : scaled;
        const float output = kept >> i & 1 ? value : 0;
        y[i] = output;
        active |= (uint32_t)(output > 0) << i;
    }
    return active;
}

/* At most CHUNK_COLUMNS columns of a row. */
CPU_KERNEL(finish_chunk,
           (float *restrict y, const float *restrict bias, const uint64_t *kept, float scale,
            size_t columns, uint64_t *restrict active),
           (y, bias, kept, scale, columns, active))
{
    enum { HALF = 32 };
    size_t c = 0;
    for (; c + WORD <= columns; c += WORD) {
        const uint64_t keep = kept[c / WORD];
        const uint64_t low = finish_columns(y + c, bias + c, (uint32_t)keep, scale, HALF);
        active[c / WORD] = low | (uint64_t)finish_columns(y + c + HALF, bias + c + HALF,
                                                          (uint32_t)(keep >> HALF), scale, HALF)
                                     << HALF;
    }
    if (c == columns)
        return;
    active[c / WORD] = 0;
    for (size_t i = 0; c + i < columns; i += HALF) {
        const size_t left = columns - c - i;
        active[c / WORD] |=
            (uint64_t)finish_columns(y + c + i, bias + c + i, (uint32_t)(kept[c / WORD] >> i),
                                     scale, (uint32_t)(left < HALF ? left : HALF))
            << i;
    }
}

static void finish_row(const struct activation *activation, float *row, size_t dim, size_t number,
                       uint64_t *active)
{
    static const float no_bias[CHUNK_COLUMNS];
    for (size_t column = 0; column < dim; column += CHUNK_COLUMNS) {
        const size_t columns = dim - column < CHUNK_COLUMNS ? dim - column : CHUNK_COLUMNS;
        uint64_t kept[CHUNK_WORDS] = {~0ULL, ~0ULL, ~0ULL, ~0ULL}, unused[CHUNK_WORDS];
        if (activation->drop_below)
            random_at_least(&activation->stream, number, (uint32_t)(column / DRAWS_OF_BLOCK),
                            (uint32_t)((columns + DRAWS_OF_BLOCK - 1) / DRAWS_OF_BLOCK),
                            activation->drop_below, kept);
        finish_chunk(row + column, activation->bias ? activation->bias + column : no_bias, kept,
                     activation->drop_below ? activation->scale : 1, columns,
                     active ? active + column / WORD : unused);
    }
}

void activation_forward(const struct activation *activation, float *rows, size_t dim,
                        size_t first_row, size_t row_count, uint64_t *active)
{
    if (!activation->relu) {
        must(!active);
        if (activation->bias)
            add_bias(rows, activation->bias, dim, row_count);
        return;
    }
    for (size_t row = 0; row < row_count; row++)
        finish_row(activation, rows + row * dim, dim, first_row + row,
                   active ? active + row * activation_words(dim) : NULL);
}

CPU_KERNEL(pass_active, (const uint64_t *active, float *restrict gradient, float scale, size_t dim),
           (active, gradient, scale, dim))
{
    for (size_t c = 0; c < dim; c += WORD) {
        const uint64_t word = active[c / WORD];
        const size_t columns = dim - c < WORD ? dim - c : WORD;
        for (size_t i = 0; i < columns; i++)
            gradient[c + i] = word >> i & 1 ? gradient[c + i] * scale : 0;
    }
}

void activation_backward(const struct activation *activation, const uint64_t *active,
                         float *gradient, size_t dim, size_t row_count)
{
    if (!activation->relu)
        return;
    for (size_t row = 0; row < row_count; row++)
        pass_active(active + row * activation_words(dim), gradient + row * dim, activation->scale,
                    dim);
}

/* --- apart from a layer --- */

CPU_KERNEL(apply_relu, (const float *x, float *y, size_t count), (x, y, count))
{
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] < 0 ? 0 : x[i];
}

CPU_KERNEL(apply_leaky, (const float *x, float *y, size_t count), (x, y, count))
{
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] < 0 ? x[i] * leaky_slope : x[i];
}

void activation_apply(enum activation_kind kind, const float *x, float *y, size_t count)
{
    if (kind == ACTIVATION_RELU)
        apply_relu(x, y, count);
    else if (kind == ACTIVATION_LEAKY_RELU)
        apply_leaky(x, y, count);
    else if (kind == ACTIVATION_ELU)
        for (size_t i = 0; i < count; i++)
            y[i] = x[i] < 0 ? expm1f(x[i]) : x[i];
    else if (x != y)
        memcpy(y, x, count * sizeof *y);
}

CPU_KERNEL(pass_sloped, (const float *x, float *restrict gradient, float slope, size_t count),
           (x, gradient, slope, count))
{
    for (size_t i = 0; i < count; i++)
        gradient[i] *= x[i] > 0 ? 1 : slope;
}

void activation_apply_backward(enum activation_kind kind, const float *x, float *gradient,
                               size_t count)
{
    if (kind == ACTIVATION_RELU || kind == ACTIVATION_LEAKY_RELU)
        pass_sloped(x, gradient, kind == ACTIVATION_RELU ? 0 : leaky_slope, count);
    else if (kind == ACTIVATION_ELU)
        for (size_t i = 0; i < count; i++)
            gradient[i] *= x[i] > 0 ? 1 : expf(x[i]);
}

CPU_KERNEL(keep_columns, (float *restrict row, const uint64_t *kept, float scale, size_t columns),
           (row, kept, scale, columns))
{
    for (size_t c = 0; c < columns; c++)
        row[c] = kept[c / WORD] >> c % WORD & 1 ? row[c] * scale : 0;
}

void activation_drop(const struct activation *activation, float *rows, size_t dim, size_t first_row,
                     size_t row_count)
{
    uint64_t kept[CHUNK_WORDS];
    for (size_t row = 0; activation->drop_below && row < row_count; row++)
        for (size_t column = 0; column < dim; column += CHUNK_COLUMNS) {
            const size_t columns = dim - column < CHUNK_COLUMNS ? dim - column : CHUNK_COLUMNS;
            random_at_least(&activation->stream, first_row + row,
                            (uint32_t)(column / DRAWS_OF_BLOCK),
                            (uint32_t)((columns + DRAWS_OF_BLOCK - 1) / DRAWS_OF_BLOCK),
                            activation->drop_below, kept);
            keep_columns(rows + row * dim + column, kept, activation->scale, columns);
        }
}
