#include "common/nn/activation.h"

#include "common/base/cpu_clones.h"
#include "common/math/vector.h"

#include <math.h>
#include <string.h>

/* Draws are made for this many columns at a time: 32 Philox blocks of 8 draws. */
enum { DRAWS_OF_BLOCK = 8, CHUNK_BLOCKS = 32, CHUNK_COLUMNS = CHUNK_BLOCKS * DRAWS_OF_BLOCK };

void activation_set_dropout(struct activation *activation, float dropout,
                            struct random_stream stream)
{
    const uint32_t drop_below = (uint32_t)lrintf(dropout * 65536.0F);
    activation->drop_below = drop_below < 65536 ? drop_below : 65535;
    activation->scale = 65536.0F / (float)(65536 - activation->drop_below);
    activation->stream = stream;
}

/* `y < 0 ? 0 : y` and not the other way round: a NaN goes through and is noticed at the loss. */
CPU_CLONES
static void relu(float *restrict y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = y[i] < 0 ? 0 : y[i];
}

CPU_CLONES
static void relu_and_drop(float *restrict y, const uint16_t *restrict draw, uint32_t drop_below,
                          float scale, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float active = y[i] < 0 ? 0 : y[i] * scale;
        y[i] = draw[i] < drop_below ? 0 : active;
    }
}

CPU_CLONES
static void add_bias(float *restrict rows, const float *restrict bias, size_t dim, size_t row_count)
{
    for (size_t row = 0; row < row_count; row++)
        vector_add(rows + row * dim, bias, dim);
}

static void drop_row(const struct activation *activation, float *row, size_t dim, size_t number)
{
    uint32_t word[CHUNK_BLOCKS * 4];
    uint16_t draw[CHUNK_COLUMNS];
    for (size_t column = 0; column < dim; column += CHUNK_COLUMNS) {
        const size_t columns = dim - column < CHUNK_COLUMNS ? dim - column : CHUNK_COLUMNS;
        const size_t blocks = (columns + DRAWS_OF_BLOCK - 1) / DRAWS_OF_BLOCK;
        random_blocks(&activation->stream, number, (uint32_t)(column / DRAWS_OF_BLOCK),
                      (uint32_t)blocks, word);
        memcpy(draw, word, blocks * 4 * sizeof *word);
        relu_and_drop(row + column, draw, activation->drop_below, activation->scale, columns);
    }
}

void activation_forward(const struct activation *activation, float *rows, size_t dim,
                        size_t first_row, size_t row_count)
{
    if (activation->bias)
        add_bias(rows, activation->bias, dim, row_count);
    if (activation->relu && !activation->drop_below)
        relu(rows, dim * row_count);
    if (activation->relu && activation->drop_below)
        for (size_t row = 0; row < row_count; row++)
            drop_row(activation, rows + row * dim, dim, first_row + row);
}

CPU_CLONES
static void pass_active(const float *restrict output, float *restrict gradient, float scale,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        gradient[i] = output[i] > 0 ? gradient[i] * scale : 0;
}

void activation_backward(const struct activation *activation, const float *output, float *gradient,
                         size_t count)
{
    if (activation->relu)
        pass_active(output, gradient, activation->scale, count);
}
