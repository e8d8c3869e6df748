/*
 * layer_training - one layer of a model in training, alone: what model_forward() and model_backward() do at that layer.
 *
 *   forward     output[k] of the layers below that it reads ──> layer l ──> output[l]
 *   backward    gradient[l]: what those above left for output[l] ──> layer l ──> the gradient of its parameters
 *                                                                           └──> gradient[k] of the layers that it read
 *
 * It is the code of the whole model (model_trace.h), dropout included. So the bits are those of the whole model, whoever does
 * which layer, in whichever process, and no more is needed at once than one layer takes. What forward keeps for backward need
 * not be carried over: backward follows a forward of the same layer on the same rows, which makes it again.
 * In an arena that counts both say how much memory the layer takes, as those of the whole model do.
 *
 * Of plain models; the input rows get no gradient. Floats, but for outputs of hidden layers, which are in the precision of the model.
 */
#ifndef COMMON_NN_LAYER_TRAINING_H
#define COMMON_NN_LAYER_TRAINING_H

#include "common/nn/layers/layer_tail.h"
#include "common/nn/model.h"

/* The layers whose outputs layer `layer`, from 0, reads: a bit for each. The first reads none. */
uint32_t layer_training_reads(const struct model *model, int layer);
/* Rows of the output of layer `layer`. */
uint32_t layer_training_rows(const struct model *model, int layer, const struct model_input *input);

/* Values [first, first + count) among all of a model. */
struct value_range {
    uint64_t first, count;
};
enum { LAYER_VALUE_RANGES_MAX = 5 };
/* Finds where the values of the layer's own parameters are: of its kind, of its residual, of its
 * norm, and the running statistics of that and of a norm inside the layer, as far as it has them.
 * Each value of a plain model without decoder or readout is of one layer. Returns the number of
 * ranges. */
int layer_training_values(const struct model *model, int layer,
                          struct value_range range[LAYER_VALUE_RANGES_MAX]);

/* Layer `layer` on output[k] [rows of k, precision_stride(output width of k)] of the layers k that it reads, which stay as they
 * are; the others are not looked at. Sets output[layer], in the arena; of the last layer it is the caller's room for the logits.
 * Fails: ERROR_NO_MEMORY when the arena's limit is reached. */
MUST_CHECK enum error_code layer_training_forward(const struct model *model, const float *value,
                                                  int layer, const struct model_input *input,
                                                  void *output[LAYER_COUNT_MAX],
                                                  const struct model_workspace *workspace,
                                                  struct model_trace **trace, struct error *err);

/* What is left for the output of a layer by those that read it. They are added up in this order, so they stay apart until all
 * are there. */
struct output_gradient {
    float *next; /* by the layer that lies on it [rows, output width]; NULL: none reads it so */
    struct gradient_parts parts; /* by what else reads it, the highest layer first */
};

/* Backward of layer `layer` after the forward that made `trace`, for the gradient of the loss for its output: gradient[layer],
 * whose `next` it writes over. Of the last layer that is one part, that for the logits. What it leaves for the layers that it
 * reads is added to their gradient[k], in the arena. Of `parameter_gradient` [value_count] the values of the layer's own
 * parameters are written. */
MUST_CHECK enum error_code layer_training_backward(const struct model *model,
                                                   struct model_trace *trace, int layer,
                                                   struct output_gradient gradient[LAYER_COUNT_MAX],
                                                   const struct model_workspace *workspace,
                                                   float *parameter_gradient, struct error *err);

#endif
