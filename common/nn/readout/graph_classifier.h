/*
 * graph_classifier - the matrix behind a readout: outputs of a graph, y = W x + b, as torch.nn.Linear(dim, outputs).
 *
 * Graphs of a batch are few beside its nodes, so their products are inner products in the order of the columns, and sums over
 * graphs run in the order of the batch: the bits depend on nothing else.
 */
#ifndef COMMON_NN_READOUT_GRAPH_CLASSIFIER_H
#define COMMON_NN_READOUT_GRAPH_CLASSIFIER_H

#include <stdint.h>

enum { GRAPH_CLASSIFIER_PARAMETER_COUNT = 2 }; /* weight [outputs, dim], bias [outputs] */

struct graph_classifier { /* borrowed */
    uint32_t dim, outputs;
    const float *weight, *bias;
};

/* pooled [graphs, dim] to output [graphs, outputs]. */
void graph_classifier_forward(const struct graph_classifier *classifier, const float *pooled,
                              uint32_t graphs, float *output);
/* output_gradient [graphs, outputs] to pooled_gradient [graphs, dim]; weight_gradient [outputs, dim] and bias_gradient [outputs]
 * are set. */
void graph_classifier_backward(const struct graph_classifier *classifier, const float *pooled,
                               const float *output_gradient, uint32_t graphs,
                               float *pooled_gradient, float *weight_gradient,
                               float *bias_gradient);

#endif
