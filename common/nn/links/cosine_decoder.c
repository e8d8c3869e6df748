/*
 * cosine - the inner product of the two rows at length 1. A row shorter than 1e-8 counts as one of that length, as in torch's
 * cosine_similarity.
 *
 *   c = s . t / (|s| |t|)      dc/ds = t / (|s| |t|) - c s / |s|^2, and likewise for t
 */
#include "common/nn/links/decoder.h"

#include <math.h>

static float length_of(const float *row, size_t dim)
{
    float square = 0;
    decoder_dots(row, row, NULL, dim, 1, &square);
    const float length = sqrtf(square);
    return length > 1e-8F ? length : 1e-8F;
}

static void prepare(const struct decoder *decoder, const float *source, float *query)
{
    const float length = length_of(source, decoder->dim);
    for (uint32_t i = 0; i < decoder->dim; i++)
        query[i] = source[i] / length;
}

/* The table's form has scratch. NOLINTBEGIN(readability-non-const-parameter) */
static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    (void)scratch;
    decoder_dots(query, target, index, decoder->dim, count, out);
    for (size_t i = 0; i < count; i++)
        out[i] /= length_of(target + (index ? index[i] : i) * decoder->dim, decoder->dim);
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     const float *gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    const size_t dim = decoder->dim;
    const float slope = gradient[0];
    const float s = length_of(source, dim), t = length_of(target, dim);
    float cosine = 0;
    (void)parameter_gradient;
    (void)scratch;
    decoder_dots(source, target, NULL, dim, 1, &cosine);
    cosine /= s * t;
    decoder_add_scaled(source_gradient, target, slope / (s * t), dim);
    decoder_add_scaled(source_gradient, source, -slope * cosine / (s * s), dim);
    decoder_add_scaled(target_gradient, source, slope / (s * t), dim);
    decoder_add_scaled(target_gradient, target, -slope * cosine / (t * t), dim);
}
/* NOLINTEND(readability-non-const-parameter) */

const struct decoder_type cosine_decoder = {.name = "cosine",
                                            .parameters = decoder_no_parameters,
                                            .prepare = prepare,
                                            .score = score,
                                            .backward = backward};
