/* bilinear - s W t + b, as torch.nn.Bilinear(dim, dim, 1), whose names and first values the parameters have. */
#include "common/nn/links/decoder.h"

#include <math.h>
#include <string.h>

static int parameters(uint32_t dim, struct decoder_parameter *out)
{
    const float bound = 1 / sqrtf((float)dim);
    out[0] = (struct decoder_parameter){"weight", 3, dim, dim, bound, 0};
    out[1] = (struct decoder_parameter){"bias", 1, 1, 1, bound, 0};
    return 2;
}

/* s W. */
static void prepare(const struct decoder *decoder, const float *source, float *query)
{
    const size_t dim = decoder->dim;
    memset(query, 0, dim * sizeof *query);
    for (size_t i = 0; i < dim; i++)
        decoder_add_scaled(query, decoder->parameter[0] + i * dim, source[i], dim);
}

/* The table's form has scratch. NOLINTBEGIN(readability-non-const-parameter) */
static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    (void)scratch;
    decoder_dots(query, target, index, decoder->dim, count, out);
    for (size_t i = 0; i < count; i++)
        out[i] += decoder->parameter[1][0];
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     float gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    const size_t dim = decoder->dim;
    decoder_dots(target, decoder->parameter[0], NULL, dim, dim, scratch); /* W t */
    decoder_add_scaled(source_gradient, scratch, gradient, dim);
    prepare(decoder, source, scratch);
    decoder_add_scaled(target_gradient, scratch, gradient, dim);
    for (size_t i = 0; i < dim; i++)
        decoder_add_scaled(parameter_gradient[0] + i * dim, target, gradient * source[i], dim);
    parameter_gradient[1][0] += gradient;
}
/* NOLINTEND(readability-non-const-parameter) */

const struct decoder_type bilinear_decoder = {.name = "bilinear",
                                              .parameters = parameters,
                                              .prepare = prepare,
                                              .score = score,
                                              .backward = backward};
