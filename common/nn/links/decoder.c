#include "common/nn/links/decoder.h"

#include "common/base/error.h"
#include "common/math/vector.h"

#define DECODER_ROW(number, name, help) [number] = &name##_decoder,
static const struct decoder_type *const table[DECODER_COUNT] = {DECODER_LIST(DECODER_ROW)};

const struct decoder_type *decoder_type_of(enum decoder_kind kind)
{
    must(kind > DECODER_NONE && kind < DECODER_COUNT);
    return table[kind];
}

CPU_KERNEL(dots,
           (const float *query, const float *target, const uint32_t *index, size_t dim,
            size_t count, float *score),
           (query, target, index, dim, count, score))
{
    for (size_t i = 0; i < count; i++)
        score[i] = vector_dot(query, target + (index ? index[i] : i) * dim, dim);
}

void decoder_dots(const float *query, const float *target, const uint32_t *index, size_t dim,
                  size_t count, float *score)
{
    dots(query, target, index, dim, count, score);
}

void decoder_query_dots(const struct decoder *decoder, const float *query, const float *target,
                        const uint32_t *index, size_t count, float *score)
{
    const size_t dim = decoder->dim;
    if (decoder->outputs == 1) {
        dots(query, target, index, dim, count, score);
        return;
    }
    for (size_t i = 0; i < count; i++) /* the queries stand in a matrix of their own */
        dots(target + (index ? index[i] : i) * dim, query, NULL, dim, decoder->outputs,
             score + i * decoder->outputs);
}

CPU_KERNEL(add_scaled, (float *y, const float *x, float scale, size_t count), (y, x, scale, count))
{
    for (size_t i = 0; i < count; i++)
        y[i] = vector_multiply_add(scale, x[i], y[i]);
}

void decoder_add_scaled(float *y, const float *x, float scale, size_t count)
{
    add_scaled(y, x, scale, count);
}

CPU_KERNEL(add_product, (float *y, const float *a, const float *b, float scale, size_t count),
           (y, a, b, scale, count))
{
    for (size_t i = 0; i < count; i++)
        y[i] = vector_multiply_add(scale * a[i], b[i], y[i]);
}

void decoder_add_product(float *y, const float *a, const float *b, float scale, size_t count)
{
    add_product(y, a, b, scale, count);
}

int decoder_no_parameters(uint32_t dim, uint32_t outputs, struct decoder_parameter *out)
{
    (void)dim;
    (void)outputs;
    (void)out;
    return 0;
}
