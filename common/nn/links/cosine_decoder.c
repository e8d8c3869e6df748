/*
 * cosine - the inner product of the two rows scaled to length 1. A row shorter than 1e-8 is divided
 * by 1e-8, as in torch's cosine_similarity.
 *
 *   c = s . t / (|s| |t|)      dc/ds = t / (|s| |t|) - c s / |s|^2, and likewise for t
 */
#include "common/nn/links/decoder.h"

#include <math.h>
#include <string.h>

static float length_of(const float *row, size_t dim)
{
    float square = 0;
    decoder_dots(row, row, NULL, dim, 1, &square);
    const float length = sqrtf(square);
    return length > 1e-8F ? length : 1e-8F;
}

static void prepare(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                    const float *row, float *query)
{
    const float length = length_of(row, decoder->dim);
    (void)end;
    (void)relation;
    for (uint32_t i = 0; i < decoder->dim; i++)
        query[i] = row[i] / length;
}

static void score(const struct decoder *decoder, enum pair_end end, const float *query,
                  const float *other, const uint32_t *index, size_t count, float *out,
                  float *scratch)
{
    decoder_query_dots(decoder, end, query, other, index, count, out, scratch);
    for (size_t i = 0; i < count; i++)
        out[i] /= length_of(other + (index ? index[i] : i) * decoder->dim, decoder->dim);
}

/* The functions of the table take more arguments. NOLINTBEGIN(readability-non-const-parameter) */
static void score_back(const struct decoder_back *back, const uint32_t *index, size_t count,
                       float *scratch)
{
    const size_t dim = back->decoder->dim;
    (void)scratch;
    for (size_t i = 0; i < count; i++) {
        const float *row = back->other + (index ? index[i] : i) * dim;
        if (decoder_is_sloped(back->gradient + i, 1))
            decoder_add_scaled(back->query_gradient, row, back->gradient[i] / length_of(row, dim),
                               dim);
    }
}
/* NOLINTEND(readability-non-const-parameter) */

static void other_back(const struct decoder *decoder, enum pair_end end, const float *query,
                       const float *other, const float *gradient, const float *kept,
                       float *other_gradient)
{
    const size_t dim = decoder->dim;
    const float length = length_of(other, dim), slope = gradient[0];
    float along = 0;
    (void)end;
    (void)kept;
    decoder_dots(query, other, NULL, dim, 1, &along);
    decoder_add_scaled(other_gradient, query, slope / length, dim);
    decoder_add_scaled(other_gradient, other, -slope * along / (length * length * length), dim);
}

static void prepare_back(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                         const float *row, const float *query_gradient, float *row_gradient,
                         float *const *parameter_gradient)
{
    const size_t dim = decoder->dim;
    const float length = length_of(row, dim);
    float along = 0;
    (void)end;
    (void)relation;
    (void)parameter_gradient;
    /* Computes how far the gradient points along the row.
     * NOLINTNEXTLINE(readability-suspicious-call-argument) */
    decoder_dots(row, query_gradient, NULL, dim, 1, &along);
    memset(row_gradient, 0, dim * sizeof *row_gradient);
    decoder_add_scaled(row_gradient, query_gradient, 1 / length, dim);
    decoder_add_scaled(row_gradient, row, -along / (length * length * length), dim);
}

const struct decoder_type cosine_decoder = {.name = "cosine",
                                            .parameters = decoder_no_parameters,
                                            .prepare = prepare,
                                            .score = score,
                                            .score_back = score_back,
                                            .other_back = other_back,
                                            .prepare_back = prepare_back};
