/*
 * concat - two linear layers with ReLU between them, over the rows of both ends side by side. This
 * is the usual head for edge labels (DGL's MLPPredictor with a hidden layer).
 *
 *   h = relu(W1 [s, t] + b1) [dim]      scores = W2 h + b2
 *
 * A query is the contribution of one end to the product of W1.
 */
#include "common/nn/links/hidden_outputs.h"

#include <string.h>

static int parameters(uint32_t dim, uint32_t outputs, uint32_t relations,
                      struct decoder_parameter *out)
{
    (void)relations;
    return hidden_outputs_parameters(dim, 2 * dim, outputs, out);
}

/* Return where the columns of this end, or of the other end, begin in row `i` of W1. */
static size_t own_columns(const struct decoder *decoder, enum pair_end end, size_t i)
{
    return (2 * i + (end == PAIR_TARGET)) * decoder->dim;
}

static size_t other_columns(const struct decoder *decoder, enum pair_end end, size_t i)
{
    return (2 * i + (end == PAIR_SOURCE)) * decoder->dim;
}

static void prepare(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                    const float *row, float *query)
{
    (void)relation;
    for (size_t i = 0; i < decoder->dim; i++)
        decoder_dots(row, decoder->parameter[HIDDEN_W1] + own_columns(decoder, end, i), NULL,
                     decoder->dim, 1, &query[i]);
}

static void hide(const struct decoder *decoder, enum pair_end end, const float *query,
                 const float *other, float *hidden)
{
    for (size_t i = 0; i < decoder->dim; i++)
        decoder_dots(other, decoder->parameter[HIDDEN_W1] + other_columns(decoder, end, i), NULL,
                     decoder->dim, 1, &hidden[i]);
    decoder_add_scaled(hidden, query, 1, decoder->dim);
    hidden_outputs_activate(decoder, hidden);
}

static void score(const struct decoder *decoder, enum pair_end end, const float *query,
                  const float *other, const uint32_t *index, size_t count, float *out,
                  float *scratch)
{
    for (size_t i = 0; i < count; i++) {
        hide(decoder, end, query, other + (index ? index[i] : i) * decoder->dim, scratch);
        hidden_outputs_score(decoder, scratch, out + i * decoder->outputs);
    }
}

/* Computes the gradients and keeps the gradient of the hidden row, before its bias, for each
 * pair. */
static void score_back(const struct decoder_back *back, const uint32_t *index, size_t count,
                       float *scratch)
{
    const struct decoder *decoder = back->decoder;
    const size_t dim = decoder->dim, outputs = decoder->outputs;
    memset(back->kept, 0, count * dim * sizeof *back->kept);
    for (size_t k = 0; k < count; k++) {
        const float *other = back->other + (index ? index[k] : k) * dim;
        const float *gradient = back->gradient + k * outputs;
        float *slope = back->kept + k * dim;
        if (!decoder_is_sloped(gradient, outputs))
            continue;
        hide(decoder, back->end, back->query, other, scratch);
        hidden_outputs_backward(decoder, scratch, gradient, slope, back->parameter_gradient);
        decoder_add_scaled(back->query_gradient, slope, 1, dim);
        for (size_t i = 0; i < dim; i++)
            if (decoder_is_sloped(&slope[i], 1))
                decoder_add_scaled(back->parameter_gradient[HIDDEN_W1] +
                                       other_columns(decoder, back->end, i),
                                   other, slope[i], dim);
    }
}

static void other_back(const struct decoder *decoder, enum pair_end end, const float *query,
                       const float *other, const float *gradient, const float *kept,
                       float *other_gradient)
{
    (void)query;
    (void)other;
    (void)gradient;
    for (size_t i = 0; i < decoder->dim; i++)
        if (decoder_is_sloped(&kept[i], 1))
            decoder_add_scaled(other_gradient,
                               decoder->parameter[HIDDEN_W1] + other_columns(decoder, end, i),
                               kept[i], decoder->dim);
}

static void prepare_back(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                         const float *row, const float *query_gradient, float *row_gradient,
                         float *const *parameter_gradient)
{
    const size_t dim = decoder->dim;
    (void)relation;
    memset(row_gradient, 0, dim * sizeof *row_gradient);
    for (size_t i = 0; i < dim; i++) {
        const size_t first = own_columns(decoder, end, i);
        decoder_add_scaled(row_gradient, decoder->parameter[HIDDEN_W1] + first, query_gradient[i],
                           dim);
        decoder_add_scaled(parameter_gradient[HIDDEN_W1] + first, row, query_gradient[i], dim);
    }
}

const struct decoder_type concat_decoder = {.name = "concat",
                                            .takes_outputs = true,
                                            .keeps_row = true,
                                            .parameters = parameters,
                                            .prepare = prepare,
                                            .score = score,
                                            .score_back = score_back,
                                            .other_back = other_back,
                                            .prepare_back = prepare_back};
