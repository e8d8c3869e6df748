/*
 * layer_training - trains one layer of a model alone: what model_forward() and model_backward() do
 * at that layer.
 *
 *   forward   output[k] of the layers below that it reads ──> layer l ──> output[l]
 *   backward  what those above left for output[l] ──> layer l ──> the gradient of its parameters
 *                                                            └──> what it leaves for output[k]
 *
 * It is the code of the whole model (model_trace.h), dropout included. So the bits are those of the
 * whole model, whoever computes which layer, in whichever process, and no more memory is needed at
 * once than one layer takes. Nothing but outputs is carried over from forward to backward, which
 * follows a forward of the same layer on the same rows: that computes the rest again.
 * In an arena that counts, both say how much memory the layer takes, as the whole model does.
 *
 * An output has rows of every node type. The projections of types belong to the first layer. The
 * input rows get no gradient. Values are floats, but outputs of hidden layers have the precision of
 * the model.
 */
#ifndef COMMON_NN_LAYER_TRAINING_H
#define COMMON_NN_LAYER_TRAINING_H

#include "common/nn/layers/layer_tail.h"
#include "common/nn/model.h"

/* The layers whose outputs layer `layer`, from 0, reads: a bit for each. The first reads none. */
uint32_t layer_training_reads(const struct model *model, int layer);
/* Returns how many rows of a node type layer `layer` gives. */
uint32_t layer_training_rows(const struct model *model, int layer, const struct model_input *input,
                             uint32_t type);

/* Values [first, first + count) among all of a model. */
struct value_range {
    uint64_t first, count;
};
enum { LAYER_VALUE_RANGES_MAX = 2 };
/* Finds where the values of the layer's own parameters are: one range of those that are trained,
 * the projections of types among those of the first layer, and one of running statistics, as far
 * as it has them. Each value of a model without decoder or readout belongs to one layer. Returns
 * the number of ranges. */
int layer_training_values(const struct model *model, int layer,
                          struct value_range range[LAYER_VALUE_RANGES_MAX]);

/* The rows of each type that a layer gives: [rows of the type, precision_stride(its width)]. */
struct layer_output {
    void *row[RELATION_TYPE_COUNT_MAX];
};

/* Runs layer `layer` on the outputs of the layers that it reads, which stay as they are; it does
 * not look at the others. Sets output[layer], in the arena. The last layer writes the logits where the
 * caller has set output[layer] of the target type to. The trace borrows `workspace`.
 * Fails: ERROR_NO_MEMORY when the arena's limit is reached. */
MUST_CHECK enum error_code layer_training_forward(const struct model *model, const float *value,
                                                  int layer, const struct model_input *input,
                                                  struct layer_output output[LAYER_COUNT_MAX],
                                                  const struct model_workspace *workspace,
                                                  struct model_trace **trace, struct error *err);

/* Readers of an output leave two things for rows of a type: the layer that lies on it leaves `next`
 * [rows, output width], and what else reads it leaves parts. They are added up in a fixed order, so
 * they stay apart until all are there. */

/* Hands over `next` for the output of layer `layer`, after its forward. Its backward writes over
 * it. */
MUST_CHECK enum error_code layer_training_give_next(struct model_trace *trace, int layer,
                                                    uint32_t type, float *next, struct error *err);
/* Hands over a part, which is borrowed, the highest layer's first. The gradient of the logits is
 * such a part of the target type. Returns false for more parts than a model can leave. */
bool layer_training_give_part(struct model_trace *trace, int layer, uint32_t type,
                              const struct gradient_part *part);
/* Backward of layer `layer` after the forward that made `trace`, from what was handed over for its
 * output. Writes the values of the layer's own parameters in `parameter_gradient` [value_count]. */
MUST_CHECK enum error_code layer_training_backward(struct model_trace *trace, int layer,
                                                   float *parameter_gradient, struct error *err);
/* Sets *next to what layer `layer` has left after its backward for the rows of a type that the
 * layer below gives, in the arena. It is NULL where there is none. */
MUST_CHECK enum error_code layer_training_next(const struct model_trace *trace, int layer,
                                               uint32_t type, float **next, struct error *err);
/* Returns the parts that it has left for layer `lower`. */
const struct gradient_parts *layer_training_parts(const struct model_trace *trace, int lower,
                                                  uint32_t type);

#endif
