/* bilinear - s W t + b, as torch.nn.Bilinear(dim, dim, outputs), whose names and first values the parameters have. */
#include "common/nn/links/decoder.h"

#include <math.h>
#include <string.h>

static int parameters(uint32_t dim, uint32_t outputs, struct decoder_parameter *out)
{
    const float bound = 1 / sqrtf((float)dim);
    out[0] = (struct decoder_parameter){"weight", 3, outputs * dim, dim, bound, 0};
    out[1] = (struct decoder_parameter){"bias", 1, outputs, 1, bound, 0};
    return 2;
}

/* s W. */
static void multiply(const float *weight, const float *source, size_t dim, float *query)
{
    memset(query, 0, dim * sizeof *query);
    for (size_t i = 0; i < dim; i++)
        decoder_add_scaled(query, weight + i * dim, source[i], dim);
}

static void prepare(const struct decoder *decoder, const float *source, float *query)
{
    const size_t dim = decoder->dim;
    for (size_t c = 0; c < decoder->outputs; c++)
        multiply(decoder->parameter[0] + c * dim * dim, source, dim, query + c * dim);
}

/* The table's form has scratch. NOLINTBEGIN(readability-non-const-parameter) */
static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    (void)scratch;
    decoder_query_dots(decoder, query, target, index, count, out);
    for (size_t i = 0; i < count * decoder->outputs; i++)
        out[i] += decoder->parameter[1][i % decoder->outputs];
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     const float *gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    const size_t dim = decoder->dim;
    for (size_t c = 0; c < decoder->outputs; c++) {
        const float *weight = decoder->parameter[0] + c * dim * dim;
        float *weight_gradient = parameter_gradient[0] + c * dim * dim;
        /* W t. NOLINTNEXTLINE(readability-suspicious-call-argument) */
        decoder_dots(target, weight, NULL, dim, dim, scratch);
        decoder_add_scaled(source_gradient, scratch, gradient[c], dim);
        multiply(weight, source, dim, scratch);
        decoder_add_scaled(target_gradient, scratch, gradient[c], dim);
        for (size_t i = 0; i < dim; i++)
            decoder_add_scaled(weight_gradient + i * dim, target, gradient[c] * source[i], dim);
        parameter_gradient[1][c] += gradient[c];
    }
}
/* NOLINTEND(readability-non-const-parameter) */

const struct decoder_type bilinear_decoder = {.name = "bilinear",
                                              .takes_outputs = true,
                                              .parameters = parameters,
                                              .prepare = prepare,
                                              .score = score,
                                              .backward = backward};
