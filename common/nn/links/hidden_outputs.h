/*
 * hidden_outputs - the second half of decoders with a hidden row: ReLU and a linear layer to the
 * scores of a pair.
 *
 *   y_c = w_c . relu(h) + b_c      the slope of relu(h) at 0 is 0, as in torch
 */
#ifndef COMMON_NN_LINKS_HIDDEN_OUTPUTS_H
#define COMMON_NN_LINKS_HIDDEN_OUTPUTS_H

#include "common/nn/links/decoder.h"

/* The parameters: weight and bias of the first layer, then of the second. Their names are those
 * of a list of linear layers. */
enum hidden_parameter { HIDDEN_W1, HIDDEN_B1, HIDDEN_W2, HIDDEN_B2, HIDDEN_PARAMETER_COUNT };

/* Describes the parameters, whose first values are those of torch.nn.Linear(columns, dim) and
 * Linear(dim, outputs). Returns how many there are. */
int hidden_outputs_parameters(uint32_t dim, uint32_t columns, uint32_t outputs,
                              struct decoder_parameter *out);
/* Adds the first bias to hidden [dim], then applies ReLU. NaN stays NaN. */
void hidden_outputs_activate(const struct decoder *decoder, float *hidden);
/* Computes score [outputs] from a hidden row after hidden_outputs_activate(). */
void hidden_outputs_score(const struct decoder *decoder, const float *hidden, float *score);
/* Reads gradient [outputs] and writes the gradient of the hidden row before its bias to slope
 * [dim]. Adds to the gradients of the second layer and of the first bias. */
void hidden_outputs_backward(const struct decoder *decoder, const float *hidden,
                             const float *gradient, float *slope, float *const *parameter_gradient);

#endif
