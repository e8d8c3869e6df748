/*
 * mlp - two linear layers with ReLU between them over the products of the columns, as the LinkPredictor of OGB's examples, whose
 * names the tensors have:
 *
 *   h = relu(W1 (s t) + b1) [dim]      score = w2 . h + b2
 *
 * A pair of 0 products has the slope 0 at ReLU's bend, as torch.
 */
#include "common/nn/links/decoder.h"

#include <math.h>
#include <string.h>

enum { W1, B1, W2, B2 };

static int parameters(uint32_t dim, struct decoder_parameter *out)
{
    const float bound = 1 / sqrtf((float)dim);
    out[W1] = (struct decoder_parameter){"lins.0.weight", 2, dim, dim, bound, 0};
    out[B1] = (struct decoder_parameter){"lins.0.bias", 1, dim, 1, bound, 0};
    out[W2] = (struct decoder_parameter){"lins.1.weight", 2, 1, dim, bound, 0};
    out[B2] = (struct decoder_parameter){"lins.1.bias", 1, 1, 1, bound, 0};
    return 4;
}

static void prepare(const struct decoder *decoder, const float *source, float *query)
{
    memcpy(query, source, decoder->dim * sizeof *query);
}

/* The products of columns and the hidden row, both [dim]. */
static void hide(const struct decoder *decoder, const float *source, const float *target,
                 float *product, float *hidden)
{
    const size_t dim = decoder->dim;
    for (size_t i = 0; i < dim; i++)
        product[i] = source[i] * target[i];
    decoder_dots(product, decoder->parameter[W1], NULL, dim, dim, hidden);
    for (size_t i = 0; i < dim; i++) {
        const float sum = hidden[i] + decoder->parameter[B1][i];
        hidden[i] = sum > 0 ? sum : sum <= 0 ? 0 : sum; /* NaN stays */
    }
}

static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    const size_t dim = decoder->dim;
    for (size_t i = 0; i < count; i++) {
        hide(decoder, query, target + (index ? index[i] : i) * dim, scratch, scratch + dim);
        decoder_dots(scratch + dim, decoder->parameter[W2], NULL, dim, 1, &out[i]);
        out[i] += decoder->parameter[B2][0];
    }
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     float gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    const size_t dim = decoder->dim;
    float *product = scratch, *hidden = scratch + dim, *back = scratch + 2 * dim;
    hide(decoder, source, target, product, hidden);
    memset(back, 0, dim * sizeof *back);
    decoder_add_scaled(parameter_gradient[W2], hidden, gradient, dim);
    parameter_gradient[B2][0] += gradient;
    for (size_t i = 0; i < dim; i++) {
        const float slope = hidden[i] > 0 ? gradient * decoder->parameter[W2][i] : 0;
        if (!(hidden[i] > 0))
            continue;
        parameter_gradient[B1][i] += slope;
        decoder_add_scaled(parameter_gradient[W1] + i * dim, product, slope, dim);
        decoder_add_scaled(back, decoder->parameter[W1] + i * dim, slope, dim);
    }
    decoder_add_product(source_gradient, back, target, 1, dim);
    decoder_add_product(target_gradient, back, source, 1, dim);
}

const struct decoder_type mlp_decoder = {.name = "mlp",
                                         .parameters = parameters,
                                         .prepare = prepare,
                                         .score = score,
                                         .backward = backward};
