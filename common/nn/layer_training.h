/*
 * layer_training - trains one layer of a model alone: runs the part of model_forward() and
 * model_backward() that belongs to that layer.
 *
 *   forward   output[k] of the layers below that it reads ──> layer l ──> output[l]
 *   backward  gradients for output[l], from above ──> layer l ──> gradients of its parameters
 *                                                            └──> gradients for output[k]
 *
 * It runs the code of the whole model (model_trace.h), dropout included. So the bits equal those of
 * the whole model, whichever process computes which layer, and the memory needed at once is that of
 * one layer. Only outputs are carried from the forward passes to the backward passes: a backward
 * pass follows a forward pass of the same layer on the same rows, which computes the other values
 * again. In an arena that counts, both passes report how much memory the layer needs, as the whole
 * model does.
 *
 * An output has rows of every node type. The projections of types belong to the first layer. The
 * input rows get no gradient. Values are floats, but outputs of hidden layers have the precision of
 * the model.
 */
#ifndef COMMON_NN_LAYER_TRAINING_H
#define COMMON_NN_LAYER_TRAINING_H

#include "common/nn/layers/layer_tail.h"
#include "common/nn/model.h"

/* Returns the set of layers whose outputs layer `layer` (from 0) reads, one bit for each. The first
 * layer reads none. */
uint32_t layer_training_reads(const struct model *model, int layer);
/* Returns how many rows of a node type layer `layer` gives. */
uint32_t layer_training_rows(const struct model *model, int layer, const struct model_input *input,
                             uint32_t type);

/* Values [first, first + count) among all of a model. */
struct value_range {
    uint64_t first, count;
};
enum { LAYER_VALUE_RANGES_MAX = 2 };
/* Finds the ranges of the values of the layer's own parameters: one range of trained values (for
 * the first layer with the projections of types), and one of running statistics if the layer has
 * any. Each value of a model without decoder or readout belongs to one layer. Returns the number of
 * ranges. */
int layer_training_values(const struct model *model, int layer,
                          struct value_range range[LAYER_VALUE_RANGES_MAX]);

/* The rows of each type that a layer gives: [rows of the type, precision_stride(its width)]. */
struct layer_output {
    void *row[RELATION_TYPE_COUNT_MAX];
};

/* Runs layer `layer` on the outputs of the layers that it reads. It does not change these outputs
 * and does not read the others. Sets output[layer], in the arena. The last layer writes the logits
 * to the place that the caller has set as output[layer] of the target type. The trace borrows
 * `workspace`. Fails: ERROR_NO_MEMORY when the arena's limit is reached. */
MUST_CHECK enum error_code layer_training_forward(const struct model *model, const float *value,
                                                  int layer, const struct model_input *input,
                                                  struct layer_output output[LAYER_COUNT_MAX],
                                                  const struct model_workspace *workspace,
                                                  struct model_trace **trace, struct error *err);

/* The layers that read an output leave two kinds of gradient for the rows of a type: the layer
 * directly above leaves `next` [rows, output width], and every other reader leaves a part. They are
 * added in a fixed order, so they stay apart until all are there. */

/* Hands over `next` for the output of layer `layer`, after the layer's forward pass. Its backward
 * pass overwrites `next`. */
MUST_CHECK enum error_code layer_training_give_next(struct model_trace *trace, int layer,
                                                    uint32_t type, float *next, struct error *err);
/* Hands over a part, which is borrowed; parts of the highest layer come first. The gradient of the
 * logits is such a part, of the target type. Returns false for more parts than a model can
 * leave. */
bool layer_training_give_part(struct model_trace *trace, int layer, uint32_t type,
                              const struct gradient_part *part);
/* Runs the backward pass of layer `layer` after the forward pass that made `trace`, from the
 * gradients handed over for its output. Writes the values of the layer's own parameters in
 * `parameter_gradient` [value_count]. */
MUST_CHECK enum error_code layer_training_backward(struct model_trace *trace, int layer,
                                                   float *parameter_gradient, struct error *err);
/* Sets *next to the gradient that the backward pass of layer `layer` left for the rows of a type of
 * the layer below; in the arena. Sets it to NULL if there is none. */
MUST_CHECK enum error_code layer_training_next(const struct model_trace *trace, int layer,
                                               uint32_t type, float **next, struct error *err);
/* Returns the parts that the pass has left for layer `lower`. */
const struct gradient_parts *layer_training_parts(const struct model_trace *trace, int lower,
                                                  uint32_t type);

#endif
