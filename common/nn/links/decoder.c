#include "common/nn/links/decoder.h"

#include "common/base/error.h"
#include "common/math/vector.h"

#include <string.h>

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

void decoder_dots(const float *query, const float *other, const uint32_t *index, size_t dim,
                  size_t count, float *score)
{
    dots(query, other, index, dim, count, score);
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

bool decoder_is_sloped(const float *gradient, size_t count)
{
    bool is_any = false;
    for (size_t i = 0; i < count; i++)
        is_any = is_any || gradient[i] < 0 || gradient[i] > 0;
    return is_any;
}

/* The functions of the table have scratch. NOLINTBEGIN(readability-non-const-parameter) */
void decoder_query_dots(const struct decoder *decoder, enum pair_end end, const float *query,
                        const float *other, const uint32_t *index, size_t count, float *score,
                        float *scratch)
{
    const size_t dim = decoder->dim;
    (void)end;
    (void)scratch;
    if (decoder->outputs == 1) {
        dots(query, other, index, dim, count, score);
        return;
    }
    /* the queries are the rows of a matrix, one for each output */
    for (size_t i = 0; i < count; i++)
        dots(other + (index ? index[i] : i) * dim, query, NULL, dim, decoder->outputs,
             score + i * decoder->outputs);
}

void decoder_query_dots_back(const struct decoder_back *back, const uint32_t *index, size_t count,
                             float *scratch)
{
    const size_t dim = back->decoder->dim, outputs = back->decoder->outputs;
    (void)scratch;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < outputs; c++) {
            const float slope = back->gradient[i * outputs + c];
            if (slope < 0 || slope > 0)
                decoder_add_scaled(back->query_gradient + c * dim,
                                   back->other + (index ? index[i] : i) * dim, slope, dim);
        }
}
/* NOLINTEND(readability-non-const-parameter) */

void decoder_query_other_back(const struct decoder *decoder, enum pair_end end, const float *query,
                              const float *other, const float *gradient, const float *kept,
                              float *other_gradient)
{
    (void)end;
    (void)other;
    (void)kept;
    for (size_t c = 0; c < decoder->outputs; c++)
        decoder_add_scaled(other_gradient, query + c * decoder->dim, gradient[c], decoder->dim);
}

void decoder_copy_row(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                      const float *row, float *query)
{
    (void)end;
    (void)relation;
    memcpy(query, row, decoder->dim * sizeof *query);
}

void decoder_copy_row_back(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                           const float *row, const float *query_gradient, float *row_gradient,
                           float *const *parameter_gradient)
{
    (void)end;
    (void)relation;
    (void)row;
    (void)parameter_gradient;
    memcpy(row_gradient, query_gradient, decoder->dim * sizeof *row_gradient);
}

int decoder_no_parameters(uint32_t dim, uint32_t outputs, uint32_t relations,
                          struct decoder_parameter *out)
{
    (void)dim;
    (void)outputs;
    (void)relations;
    (void)out;
    return 0;
}
