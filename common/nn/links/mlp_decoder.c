/*
 * mlp - two linear layers with ReLU between them, over the products of the columns, as the
 * LinkPredictor of OGB's examples. The tensors have its names.
 *
 *   h = relu(W1 (s t) + b1) [dim]      scores = W2 h + b2
 *
 * The slope of ReLU at 0 is 0, as in torch.
 */
#include "common/nn/links/hidden_outputs.h"

#include <string.h>

static int parameters(uint32_t dim, uint32_t outputs, uint32_t relations,
                      struct decoder_parameter *out)
{
    (void)relations;
    return hidden_outputs_parameters(dim, dim, outputs, out);
}

/* Computes the products of columns and the hidden row, both [dim]. */
static void hide(const struct decoder *decoder, const float *query, const float *other,
                 float *product, float *hidden)
{
    const size_t dim = decoder->dim;
    for (size_t i = 0; i < dim; i++)
        product[i] = query[i] * other[i];
    decoder_dots(product, decoder->parameter[HIDDEN_W1], NULL, dim, dim, hidden);
    hidden_outputs_activate(decoder, hidden);
}

static void score(const struct decoder *decoder, enum pair_end end, const float *query,
                  const float *other, const uint32_t *index, size_t count, float *out,
                  float *scratch)
{
    const size_t dim = decoder->dim;
    (void)end;
    for (size_t i = 0; i < count; i++) {
        hide(decoder, query, other + (index ? index[i] : i) * dim, scratch, scratch + dim);
        hidden_outputs_score(decoder, scratch + dim, out + i * decoder->outputs);
    }
}

/* Computes the gradients of one pair, except that of the query. Writes `kept`: W1^T times the
 * gradient of the hidden row, from which the gradients of both ends follow. */
static void back_of_pair(const struct decoder_back *back, const float *other, const float *gradient,
                         float *kept, float *scratch)
{
    const struct decoder *decoder = back->decoder;
    const size_t dim = decoder->dim;
    float *product = scratch, *hidden = scratch + dim, *slope = scratch + 2 * dim;
    hide(decoder, back->query, other, product, hidden);
    hidden_outputs_backward(decoder, hidden, gradient, slope, back->parameter_gradient);
    for (size_t i = 0; i < dim; i++) {
        if (!decoder_is_sloped(&slope[i], 1))
            continue;
        decoder_add_scaled(back->parameter_gradient[HIDDEN_W1] + i * dim, product, slope[i], dim);
        decoder_add_scaled(kept, decoder->parameter[HIDDEN_W1] + i * dim, slope[i], dim);
    }
}

static void score_back(const struct decoder_back *back, const uint32_t *index, size_t count,
                       float *scratch)
{
    const size_t dim = back->decoder->dim, outputs = back->decoder->outputs;
    memset(back->kept, 0, count * dim * sizeof *back->kept);
    for (size_t k = 0; k < count; k++) {
        const float *other = back->other + (index ? index[k] : k) * dim;
        const float *gradient = back->gradient + k * outputs;
        if (!decoder_is_sloped(gradient, outputs))
            continue;
        back_of_pair(back, other, gradient, back->kept + k * dim, scratch);
        decoder_add_product(back->query_gradient, back->kept + k * dim, other, 1, dim);
    }
}

static void other_back(const struct decoder *decoder, enum pair_end end, const float *query,
                       const float *other, const float *gradient, const float *kept,
                       float *other_gradient)
{
    (void)end;
    (void)other;
    (void)gradient;
    decoder_add_product(other_gradient, kept, query, 1, decoder->dim);
}

const struct decoder_type mlp_decoder = {.name = "mlp",
                                         .takes_outputs = true,
                                         .keeps_row = true,
                                         .parameters = parameters,
                                         .prepare = decoder_copy_row,
                                         .score = score,
                                         .score_back = score_back,
                                         .other_back = other_back,
                                         .prepare_back = decoder_copy_row_back};
