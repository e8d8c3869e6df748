/*
 * concat - two linear layers with ReLU between them over the rows of both ends, side by side: the usual head for labels of edges
 * (DGL's MLPPredictor with a hidden layer).
 *
 *   h = relu(W1 [s, t] + b1) [dim]      scores = W2 h + b2
 *
 * A query is what the source has of W1's product.
 */
#include "common/nn/links/hidden_outputs.h"

#include <string.h>

static int parameters(uint32_t dim, uint32_t outputs, struct decoder_parameter *out)
{
    return hidden_outputs_parameters(dim, 2 * dim, outputs, out);
}

/* y[i] = row i of W1, from column `first` on, times x. */
static void multiply(const struct decoder *decoder, size_t first, const float *x, float *y)
{
    const size_t dim = decoder->dim;
    for (size_t i = 0; i < dim; i++)
        decoder_dots(x, decoder->parameter[HIDDEN_W1] + i * 2 * dim + first, NULL, dim, 1, &y[i]);
}

static void prepare(const struct decoder *decoder, const float *source, float *query)
{
    multiply(decoder, 0, source, query);
}

static void hide(const struct decoder *decoder, const float *query, const float *target,
                 float *hidden)
{
    multiply(decoder, decoder->dim, target, hidden);
    decoder_add_scaled(hidden, query, 1, decoder->dim);
    hidden_outputs_activate(decoder, hidden);
}

static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    for (size_t i = 0; i < count; i++) {
        hide(decoder, query, target + (index ? index[i] : i) * decoder->dim, scratch);
        hidden_outputs_score(decoder, scratch, out + i * decoder->outputs);
    }
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     const float *gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    const size_t dim = decoder->dim;
    float *query = scratch, *hidden = scratch + dim, *slope = scratch + 2 * dim;
    prepare(decoder, source, query);
    hide(decoder, query, target, hidden);
    hidden_outputs_backward(decoder, hidden, gradient, slope, parameter_gradient);
    for (size_t i = 0; i < dim; i++) {
        const float *weight = decoder->parameter[HIDDEN_W1] + i * 2 * dim;
        float *weight_gradient = parameter_gradient[HIDDEN_W1] + i * 2 * dim;
        if (!(slope[i] < 0 || slope[i] > 0))
            continue;
        decoder_add_scaled(weight_gradient, source, slope[i], dim);
        decoder_add_scaled(weight_gradient + dim, target, slope[i], dim);
        decoder_add_scaled(source_gradient, weight, slope[i], dim);
        decoder_add_scaled(target_gradient, weight + dim, slope[i], dim);
    }
}

const struct decoder_type concat_decoder = {.name = "concat",
                                            .takes_outputs = true,
                                            .parameters = parameters,
                                            .prepare = prepare,
                                            .score = score,
                                            .backward = backward};
