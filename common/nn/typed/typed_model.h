/*
 * typed_model - a model over node types and relations: what model.h does where config.types.schema has types.
 *
 *   rows of each type      x_t, of the type's own width
 *   input projection       x_t W_t^T + b_t, of types that have one: lin_dict.<type>, as PyG's examples call it
 *   layers                 typed_layer.h; behind each, type by type, residual, norm, activation and dropout
 *   logits                 the rows of the target type that the last layer gives; with gives_all those of all types, one type
 *                          behind the other, which is what a decoder of pairs reads
 *
 * Tensors are in the model's one table, so weights, gradients, optimizer state and checkpoints follow as ever. Names behind
 * the layers are those that to_hetero makes of BasicGNN's: norms.<k>.<type>.weight; residuals.<k>.<type>.weight.
 */
#ifndef COMMON_NN_TYPED_TYPED_MODEL_H
#define COMMON_NN_TYPED_TYPED_MODEL_H

#include "common/nn/model.h"

struct typed_trace;

/* As model_init(), down to the last tensor of a layer; the model has its config already and is empty otherwise. Fails:
 * ERROR_INVALID, naming the type, the relation or the layer. */
MUST_CHECK enum error_code typed_model_init(struct model *model, struct error *err);
/* Then, when all is there that is trained: the running statistics. */
MUST_CHECK enum error_code typed_model_add_buffers(struct model *model, struct error *err);
/* As model_forward() and model_backward(). */
MUST_CHECK enum error_code typed_model_forward(const struct model *model, const float *value,
                                               const struct model_input *input,
                                               const struct model_workspace *workspace,
                                               float *logits, struct typed_trace **trace,
                                               struct error *err);
MUST_CHECK enum error_code typed_model_backward(struct typed_trace *trace,
                                                const float *logits_gradient,
                                                const struct model_workspace *workspace,
                                                float *gradient, struct error *err);
/* Which types' rows of what layer `layer` (from 0) gives the logits need; -1: of the rows that come in. */
void typed_model_needs(const struct model *model, int layer, bool needed[RELATION_TYPE_COUNT_MAX]);

/* What one layer computes on, for layer-wise inference. */
struct typed_layer_input {
    const struct relation_block *block; /* of a layer that uses edges, in place of: */
    const uint32_t *count;              /* [types]: rows of each */
    /* [types]: what the layer below gives of the sources, of layer 0 the rows that come in; not read of a type without
     * sources. */
    const struct input_rows *rows;
    /* NULL, or [relations], of a layer that sums (typed_layer.h): the sums over the sources of each row that has edges. Then the block's
     * sources are its destinations, as far as they are counted. */
    const float *const *sum;
    /* NULL, or [types], of a layer that has a second_input: the rows that layer gave of the
     * destinations. */
    const float *const *start;
};
/* As model_infer_layer(): layer `layer`, from 0, alone and without gradient. output [destinations of `type`, output_dim] are the
 * rows that it gives of `type`; what else it gives is lost, so there need be no destinations of other types. */
MUST_CHECK enum error_code typed_model_infer_layer(const struct model *model, const float *value,
                                                   int layer, const struct typed_layer_input *input,
                                                   uint32_t type,
                                                   const struct model_workspace *workspace,
                                                   float *output, struct error *err);
const float *typed_model_input_gradient(const struct typed_trace *trace, uint32_t type);

#endif
