#include "common/nn/readout/graph_classifier.h"

#include "common/nn/links/decoder.h"

#include <string.h>

void graph_classifier_forward(const struct graph_classifier *classifier, const float *pooled,
                              uint32_t graphs, float *output)
{
    const size_t dim = classifier->dim, outputs = classifier->outputs;
    for (uint32_t g = 0; g < graphs; g++, pooled += dim, output += outputs) {
        decoder_dots(pooled, classifier->weight, NULL, dim, outputs, output);
        for (size_t o = 0; o < outputs; o++)
            output[o] += classifier->bias[o];
    }
}

void graph_classifier_backward(const struct graph_classifier *classifier, const float *pooled,
                               const float *output_gradient, uint32_t graphs,
                               float *pooled_gradient, float *weight_gradient, float *bias_gradient)
{
    const size_t dim = classifier->dim, outputs = classifier->outputs;
    memset(pooled_gradient, 0, graphs * dim * sizeof *pooled_gradient);
    memset(weight_gradient, 0, outputs * dim * sizeof *weight_gradient);
    memset(bias_gradient, 0, outputs * sizeof *bias_gradient);
    for (uint32_t g = 0; g < graphs; g++)
        for (size_t o = 0; o < outputs; o++) {
            const float slope = output_gradient[g * outputs + o];
            decoder_add_scaled(pooled_gradient + g * dim, classifier->weight + o * dim, slope, dim);
            decoder_add_scaled(weight_gradient + o * dim, pooled + g * dim, slope, dim);
            bias_gradient[o] += slope;
        }
}
