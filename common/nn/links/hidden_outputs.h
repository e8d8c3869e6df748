/*
 * hidden_outputs - what decoders with a hidden row have behind it: ReLU and a linear layer to the scores of a pair.
 *
 *   y_c = w_c . relu(h) + b_c      relu(h) has the slope 0 at its bend, as in torch
 */
#ifndef COMMON_NN_LINKS_HIDDEN_OUTPUTS_H
#define COMMON_NN_LINKS_HIDDEN_OUTPUTS_H

#include "common/nn/links/decoder.h"

/* Of parameters: the first matrix and its bias, and the second ones, under the names of a list of linear layers. */
enum hidden_parameter { HIDDEN_W1, HIDDEN_B1, HIDDEN_W2, HIDDEN_B2, HIDDEN_PARAMETER_COUNT };

/* As torch.nn.Linear(columns, dim) and Linear(dim, outputs) begin. Returns how many. */
int hidden_outputs_parameters(uint32_t dim, uint32_t columns, uint32_t outputs,
                              struct decoder_parameter *out);
/* hidden [dim] += the first bias, and ReLU. NaN stays. */
void hidden_outputs_activate(const struct decoder *decoder, float *hidden);
/* score [outputs] of an active row. */
void hidden_outputs_score(const struct decoder *decoder, const float *hidden, float *score);
/* From gradient [outputs] to that of the hidden row before its bias, into slope [dim]; adds to those of the second layer and of
 * the first bias. */
void hidden_outputs_backward(const struct decoder *decoder, const float *hidden,
                             const float *gradient, float *slope, float *const *parameter_gradient);

#endif
