/*
 * model - a stack of graph layers with its parameters in one flat array.
 *
 * One table lists the tensors: their names (those of PyG's BasicGNN: "convs.0.lin_l.weight"),
 * shapes and offsets. Weights, gradients, optimizer state and checkpoints all use this table.
 * Weights of a linear map are [out, in], y = x W^T + b, as in torch.
 *
 * A model is a list of layers. Each kind of layer is one file, layers/kinds/<kind>_layer.c
 * (attention: layers/attention), and one row of description/layer_list.h; README.md says how to add
 * one. Activation and dropout follow each layer; the last layer gives the logits. Each layer that
 * uses edges takes one hop: hop number h computes on block h. A layer that uses no edges, such as a
 * matrix for each row, lies between hops and computes on all rows that exist at that depth.
 *
 * In bf16 the input rows, the rows that one layer hands to the next and the operands of every
 * product are rounded; sums, logits, weights and their gradients are floats. bf16 works only where
 * bf16_product_is_possible().
 *
 * Bits: products run over fixed tiles of rows with one BLAS thread each, and weight gradients are
 * summed over fixed lanes of tiles in order. Therefore the thread count changes no bit of the
 * result.
 */
#ifndef COMMON_NN_MODEL_H
#define COMMON_NN_MODEL_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/message_block.h"
#include "common/graph/relation_block.h"
#include "common/math/precision.h"
#include "common/nn/description/layer_list.h"
#include "common/nn/description/model_description.h"
#include "common/nn/links/decoder.h"
#include "common/nn/operators/activation.h"
#include "common/nn/operators/gather.h"
#include "common/nn/operators/normalisation.h"
#include "common/nn/readout/graph_classifier.h"
#include "common/nn/readout/readout.h"
#include "common/numbers/random.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Expands `outline` to the list of its layers. Fails: ERROR_INVALID for more than
 * LAYER_COUNT_MAX. */
MUST_CHECK enum error_code model_config_of(struct model_config *out,
                                           const struct model_outline *outline, struct error *err);
/* Appends the matrix that reads the jumping knowledge to the layers of `config`. Fails:
 * ERROR_INVALID when there is no room. */
MUST_CHECK enum error_code model_config_jump(struct model_config *config,
                                             enum jumping_knowledge jumping_knowledge,
                                             uint32_t output_dim, struct error *err);
/* Builds the layers and the table of tensors of a model. Fails: ERROR_INVALID, naming the layer,
 * for more layers than LAYER_COUNT_MAX, for sizes that overflow, and for options that a kind does
 * not support; ERROR_BUG for a kind whose row of layer_list.h is wrong (typed/layer_row.h). */
MUST_CHECK enum error_code model_init(struct model *out, const struct model_config *config,
                                      struct error *err);
/* Expands an outline and builds its model: model_config_of() and model_init(). */
MUST_CHECK enum error_code
model_init_outline(struct model *out, const struct model_outline *outline, struct error *err);
/* Writes "name rows cols\n" for each tensor. The text is stored with the weights and compared when
 * they are read. */
MUST_CHECK enum error_code model_table_text(const struct model *model, char *out, size_t size,
                                            struct error *err);
/* Draws the initial weights from the seed with PyG's distributions: U(+-1/sqrt(in)) for SAGE,
 * Glorot for GCN. Norms and running statistics start with values that leave rows unchanged. */
void model_initialise(const struct model *model, uint64_t seed, float *value);

/* The input of a forward pass. */
struct model_input {
    /* [hop_count], from the input side; block[h].destination_count is block[h+1].source_count. Set
     * for a graph with one relation, otherwise NULL. */
    const struct message_block *block;
    /* [hop_count], from the input side, for a graph with several relations; type_rows is [types].
     * If they are NULL, `block` and `rows` describe the one relation and the one type. */
    const struct relation_block *relations;
    const struct input_rows *type_rows;
    /* [types]: whether the gradient of these rows is wanted (model_input_gradient()); NULL: none
     * is */
    const bool *wants_gradient;
    uint32_t seed_count; /* rows of the logits; read only by models without hops */
    struct input_rows rows;
    /* [block[0].destination_count, aggregated width]: borrowed room for the first layer's
     * aggregated rows. The first aggregated_count rows (all, or whole tiles) are already computed
     * (source_aggregation.h, input_aggregation.h); the pass gathers the others from `rows`. NULL:
     * the pass gathers all of them into room of the workspace. */
    void *aggregated;
    uint32_t aggregated_count;
    /* The aggregated rows of a layer that computes on all relations at once, in an arena of the
     * caller (typed/relation_input.h); NULL: none are aggregated ahead. */
    const struct relation_input *aggregated_relations;
    /* source of random draws (hop word: layer); NULL: no dropout */
    const struct random_stream *dropout;
};

/* Values that the forward pass keeps for the backward pass; in the caller's arena. */
struct model_trace;

/* Computes the logits [destinations of the last block, model_output_dim()] into `logits`, which the
 * caller provides. A typed model gives the logits of its target type. With `trace` NULL nothing is
 * kept for a backward pass. Fails: ERROR_NO_MEMORY when the arena's limit is reached. Makes no heap
 * allocation once the arena is warm. */
MUST_CHECK enum error_code model_forward(const struct model *model, const float *value,
                                         const struct model_input *input,
                                         const struct model_workspace *workspace, float *logits,
                                         struct model_trace **trace, struct error *err);
/* Computes the gradient of the loss for every parameter into `gradient` [value_count] from the
 * gradient of the logits. Computes the gradient of input rows only for types that want it. The
 * places of running statistics receive the statistics of this batch (layer_tail.h). */
MUST_CHECK enum error_code model_backward(const struct model *model, const float *value,
                                          struct model_trace *trace, const float *logits_gradient,
                                          const struct model_workspace *workspace, float *gradient,
                                          struct error *err);

/* Returns, after the backward pass, the gradient of the input rows of a type that wants it, which
 * are not mostly_zero: [source_count of the type in the first block, its columns], in the arena. */
const float *model_input_gradient(const struct model_trace *trace, uint32_t type);

/* Joins the input of a layer with reads_all: copies row i of the outputs of the layers below,
 * lower[l] + i * stride[l], into out [row_count, its input_dim]. */
void model_join_rows(const struct model *model, const float *const *lower, const size_t *stride,
                     size_t row_count, float *out);

/* Input of one layer at inference, over types and relations. */
struct typed_layer_input {
    /* for a layer that uses edges; any other layer uses `count` */
    const struct relation_block *block;
    const uint32_t *count; /* [types]: rows of each */
    /* [types]: the sources' rows as the layer below gives them; for layer 0 the input rows. Not
     * read for a type without sources. */
    const struct input_rows *rows;
    /* NULL, or [relations] for a layer that sums: the sums over the sources, for each row of the
     * relation's block. Then the counted sources of the block are its destinations. */
    const float *const *sum;
    /* NULL, or [types] for a layer with a second_input: the rows that the second input gives for
     * the destinations. */
    const float *const *start;
};
/* Runs layer `layer` (from 0) alone and without gradient. Writes to output [destinations of `type`,
 * output_dim] the rows that it gives for `type`, as the next layer reads them. Rows of other types
 * are discarded, so the block needs no destinations of other types. Linear kinds aggregate before
 * they project here, even if they project first in training, because a node is a source of many
 * blocks but a destination of only one. */
MUST_CHECK enum error_code model_infer_types(const struct model *model, const float *value,
                                             int layer, const struct typed_layer_input *input,
                                             uint32_t type, const struct model_workspace *workspace,
                                             float *output, struct error *err);
/* Returns whether layer `layer` (from 0) needs of its sources only the weighted sum of their rows,
 * or the maximum. */
bool model_sums_sources(const struct model *model, int layer);
/* Computes how layer `layer` aggregates on a block; the arrays are in the arena. Call it only if
 * model_sums_sources(). */
MUST_CHECK enum error_code model_weigh_block(const struct model *model, int layer,
                                             const struct message_block *block, struct arena *arena,
                                             struct aggregation *out, struct error *err);
/* Returns whether the model's products may take bf16 operands. Kinds that are not linear and layers
 * with a tail may not. */
bool model_is_possible_in_bf16(const struct model *model);
/* Returns the decoder with these values, which are borrowed. The model must have one. */
struct decoder model_decoder(const struct model *model, const float *value);
/* Finds where the gradients of the decoder's parameters lie in the gradient of the model. */
void model_decoder_gradient(const struct model *model, float *gradient,
                            float *parameter_gradient[DECODER_PARAMETER_COUNT_MAX]);
/* Returns the matrix behind the readout with these values, which are borrowed. The model must have
 * one. */
struct graph_classifier model_graph_classifier(const struct model *model, const float *value);
/* Finds where the gradients of its weight and bias lie in the gradient of the model. */
void model_graph_classifier_gradient(const struct model *model, float *gradient, float **weight,
                                     float **bias);
/* Copies the values of the parameters behind the layers (decoder, readout) from `from` to
 * `gradient`, both [value_count] or [trained_count]. */
void model_take_head_gradient(const struct model *model, const float *from, float *gradient);
/* Sets needed[t] for the types whose rows of layer `layer` (from 0), or whose input rows (-1), the
 * logits depend on. */
void model_needs(const struct model *model, int layer, bool needed[RELATION_TYPE_COUNT_MAX]);
/* Returns whether the model gives logits for rows of the type. */
static inline bool model_gives(const struct model *model, uint32_t type)
{
    return model->config.types.gives_all ? type < model->config.types.schema.type_count
                                         : type == model->config.types.target_type;
}
/* Return the number of columns that layer `layer` (from 0) reads and gives. */
uint32_t model_layer_input_dim(const struct model *model, int layer);
uint32_t model_layer_output_dim(const struct model *model, int layer);

#endif
