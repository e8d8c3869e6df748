/*
 * mlp - two linear layers with ReLU between them over the products of the columns, as the LinkPredictor of OGB's examples, whose
 * names the tensors have:
 *
 *   h = relu(W1 (s t) + b1) [dim]      scores = W2 h + b2
 *
 * A pair of 0 products has the slope 0 at ReLU's bend, as torch.
 */
#include "common/nn/links/hidden_outputs.h"

#include <string.h>

static int parameters(uint32_t dim, uint32_t outputs, struct decoder_parameter *out)
{
    return hidden_outputs_parameters(dim, dim, outputs, out);
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
    decoder_dots(product, decoder->parameter[HIDDEN_W1], NULL, dim, dim, hidden);
    hidden_outputs_activate(decoder, hidden);
}

static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    const size_t dim = decoder->dim;
    for (size_t i = 0; i < count; i++) {
        hide(decoder, query, target + (index ? index[i] : i) * dim, scratch, scratch + dim);
        hidden_outputs_score(decoder, scratch + dim, out + i * decoder->outputs);
    }
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     const float *gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    const size_t dim = decoder->dim;
    float *product = scratch, *hidden = scratch + dim, *slope = scratch + 2 * dim, *back = hidden;
    hide(decoder, source, target, product, hidden);
    hidden_outputs_backward(decoder, hidden, gradient, slope, parameter_gradient);
    memset(back, 0, dim * sizeof *back); /* the hidden row is done with */
    for (size_t i = 0; i < dim; i++) {
        if (!(slope[i] < 0 || slope[i] > 0))
            continue;
        decoder_add_scaled(parameter_gradient[HIDDEN_W1] + i * dim, product, slope[i], dim);
        decoder_add_scaled(back, decoder->parameter[HIDDEN_W1] + i * dim, slope[i], dim);
    }
    decoder_add_product(source_gradient, back, target, 1, dim);
    decoder_add_product(target_gradient, back, source, 1, dim);
}

const struct decoder_type mlp_decoder = {.name = "mlp",
                                         .takes_outputs = true,
                                         .parameters = parameters,
                                         .prepare = prepare,
                                         .score = score,
                                         .backward = backward};
