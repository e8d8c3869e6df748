#include "common/nn/links/hidden_outputs.h"

#include <math.h>
#include <string.h>

int hidden_outputs_parameters(uint32_t dim, uint32_t columns, uint32_t outputs,
                              struct decoder_parameter *out)
{
    const float first = 1 / sqrtf((float)columns), second = 1 / sqrtf((float)dim);
    out[HIDDEN_W1] = (struct decoder_parameter){"lins.0.weight", 2, dim, columns, first};
    out[HIDDEN_B1] = (struct decoder_parameter){"lins.0.bias", 1, dim, 1, first};
    out[HIDDEN_W2] = (struct decoder_parameter){"lins.1.weight", 2, outputs, dim, second};
    out[HIDDEN_B2] = (struct decoder_parameter){"lins.1.bias", 1, outputs, 1, second};
    return HIDDEN_PARAMETER_COUNT;
}

void hidden_outputs_activate(const struct decoder *decoder, float *hidden)
{
    for (size_t i = 0; i < decoder->dim; i++) {
        const float sum = hidden[i] + decoder->parameter[HIDDEN_B1][i];
        hidden[i] = sum > 0 ? sum : sum <= 0 ? 0 : sum;
    }
}

void hidden_outputs_score(const struct decoder *decoder, const float *hidden, float *score)
{
    decoder_dots(hidden, decoder->parameter[HIDDEN_W2], NULL, decoder->dim, decoder->outputs,
                 score);
    for (size_t c = 0; c < decoder->outputs; c++)
        score[c] += decoder->parameter[HIDDEN_B2][c];
}

void hidden_outputs_backward(const struct decoder *decoder, const float *hidden,
                             const float *gradient, float *slope, float *const *parameter_gradient)
{
    const size_t dim = decoder->dim;
    memset(slope, 0, dim * sizeof *slope);
    for (size_t c = 0; c < decoder->outputs; c++) {
        decoder_add_scaled(parameter_gradient[HIDDEN_W2] + c * dim, hidden, gradient[c], dim);
        parameter_gradient[HIDDEN_B2][c] += gradient[c];
        decoder_add_scaled(slope, decoder->parameter[HIDDEN_W2] + c * dim, gradient[c], dim);
    }
    for (size_t i = 0; i < dim; i++) {
        slope[i] = hidden[i] > 0 ? slope[i] : 0;
        parameter_gradient[HIDDEN_B1][i] += slope[i];
    }
}
