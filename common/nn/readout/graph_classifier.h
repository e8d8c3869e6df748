/*
 * graph_classifier - the linear layer after a readout: the outputs of a graph, y = W x + b, as
 * torch.nn.Linear(dim, outputs).
 *
 * A batch has few graphs compared to nodes, so the products are simple inner products in the order
 * of the columns, and sums over graphs run in the order of the batch. The bits depend on nothing
 * else.
 */
#ifndef COMMON_NN_READOUT_GRAPH_CLASSIFIER_H
#define COMMON_NN_READOUT_GRAPH_CLASSIFIER_H

#include <stdint.h>

enum { GRAPH_CLASSIFIER_PARAMETER_COUNT = 2 }; /* weight [outputs, dim], bias [outputs] */

struct graph_classifier { /* borrowed */
    uint32_t dim, outputs;
    const float *weight, *bias;
};

/* Reads pooled [graphs, dim] and writes output [graphs, outputs]. */
void graph_classifier_forward(const struct graph_classifier *classifier, const float *pooled,
                              uint32_t graphs, float *output);
/* Reads output_gradient [graphs, outputs] and writes pooled_gradient [graphs, dim],
 * weight_gradient [outputs, dim] and bias_gradient [outputs]. */
void graph_classifier_backward(const struct graph_classifier *classifier, const float *pooled,
                               const float *output_gradient, uint32_t graphs,
                               float *pooled_gradient, float *weight_gradient,
                               float *bias_gradient);

#endif
