/*
 * model - a stack of graph layers with its parameters in one flat array.
 *
 * One table says what tensors there are (names as PyG's BasicGNN gives them: "convs.0.lin_l.weight"),
 * their shapes and where they lie; weights, gradients, optimizer state and checkpoints all follow it.
 * Weights of a linear map are [out, in], y = x W^T + b, as in torch.
 *
 * A model is a list of layers. A kind of layer is one file, layers/<kind>_layer.c, and one row of description/layer_list.h;
 * README.md says how to add one. Behind each layer come its activation and dropout; the last layer gives the logits.
 * Layers that use edges take a hop each: number h of them computes on block h. One that uses none, such as a matrix for
 * each row, lies between hops and computes on all rows that there are at its place.
 *
 * In bf16 the input rows, the rows that a layer hands to the next and the operands of every product are
 * rounded; sums, logits, weights and their gradient are floats. Only where bf16_product_is_possible().
 *
 * Bits: products run over fixed tiles of rows with one BLAS thread each; weight gradients are summed
 * over fixed lanes of tiles in order. The thread count changes nothing.
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

/* The layers that an outline is short for. Fails: ERROR_INVALID for more than LAYER_COUNT_MAX. */
MUST_CHECK enum error_code model_config_of(struct model_config *out,
                                           const struct model_outline *outline, struct error *err);
/* Puts the matrix of jumping knowledge behind the layers of `config`. Fails: ERROR_INVALID when there is no room. */
MUST_CHECK enum error_code model_config_jump(struct model_config *config,
                                             enum jumping_knowledge jumping_knowledge,
                                             uint32_t output_dim, struct error *err);
/* Fails: ERROR_INVALID, naming the layer, for more layers than LAYER_COUNT_MAX, sizes that overflow, and what a kind
 * cannot do; ERROR_BUG for a kind whose row of layer_list.h is wrong (typed/layer_row.h). */
MUST_CHECK enum error_code model_init(struct model *out, const struct model_config *config,
                                      struct error *err);
/* Both of the above. */
MUST_CHECK enum error_code
model_init_outline(struct model *out, const struct model_outline *outline, struct error *err);
/* "name rows cols\n" for each tensor: stored with the weights, compared on reading. */
MUST_CHECK enum error_code model_table_text(const struct model *model, char *out, size_t size,
                                            struct error *err);
/* Initial weights as PyG draws their distribution: SAGE U(+-1/sqrt(in)), GCN Glorot; from the seed. Norms and running
 * statistics begin as they leave rows alone. */
void model_initialise(const struct model *model, uint64_t seed, float *value);

/* What a model computes on. */
struct model_input {
    /* [hop_count], from the input side; block[h].destination_count is block[h+1].source_count. Of a
     * graph with one relation; else NULL. */
    const struct message_block *block;
    /* [hop_count], likewise, type by type; [types]. Where they are NULL `block` and `rows` are those
     * of the one relation and of the one type. */
    const struct relation_block *relations;
    const struct input_rows *type_rows;
    const bool *wants_gradient; /* [types]: of those rows (model_input_gradient()); NULL: of none */
    uint32_t seed_count;        /* rows of the logits; read only where there are no hops */
    struct input_rows rows;
    /* [block[0].destination_count, aggregated width]: borrowed room for the first layer's aggregated rows, of which
     * the first aggregated_count are there already (source_aggregation.h, input_aggregation.h): all, or whole tiles. The
     * others are gathered from `rows`. NULL: all are, and the room is the workspace's. */
    void *aggregated;
    uint32_t aggregated_count;
    /* The same of a layer that computes on all relations at once, in an arena of the caller
     * (typed/relation_input.h); NULL: nothing is. */
    const struct relation_input *aggregated_relations;
    const struct random_stream *dropout; /* the draws (hop word: layer); NULL: no dropout */
};

/* What forward leaves for backward; in the caller's arena. */
struct model_trace;

/* Logits [destinations of the last block, model_output_dim()], of a typed model those of the target type, into `logits`,
 * which the caller provides.
 * `trace` NULL: there will be no backward.
 * Fails: ERROR_NO_MEMORY when the arena's limit is reached. No heap use once the arena is warm. */
MUST_CHECK enum error_code model_forward(const struct model *model, const float *value,
                                         const struct model_input *input,
                                         const struct model_workspace *workspace, float *logits,
                                         struct model_trace **trace, struct error *err);
/* Gradient of the loss for every parameter into `gradient` [value_count], given that for the logits.
 * No gradient of the inputs is computed but for types that want it. In the place of running statistics it has those of this batch (layer_tail.h). */
MUST_CHECK enum error_code model_backward(const struct model *model, const float *value,
                                          struct model_trace *trace, const float *logits_gradient,
                                          const struct model_workspace *workspace, float *gradient,
                                          struct error *err);

/* Returns, after backward, the gradient of the input rows of a type that wants it, which are not
 * mostly_zero: [source_count of the type in the first block, its columns], in the arena. */
const float *model_input_gradient(const struct model_trace *trace, uint32_t type);

/* This is what one layer of a graph with one relation computes on, in inference. */
struct layer_input {
    struct message_block block; /* of a layer that uses no edges: as many sources as destinations */
    struct input_rows rows;
    /* [destination_count, output_dim of model.layer[layer].second_input]: the destinations' rows of that output; NULL where
     * there is none. */
    const float *second;
};

/* What a layer that reads_all reads: row i of the outputs of the layers below, lower[l] + i * stride[l], into out
 * [row_count, its input_dim]. */
void model_join_rows(const struct model *model, const float *const *lower, const size_t *stride,
                     size_t row_count, float *out);

/* This is what one layer computes on, over types and relations. */
struct typed_layer_input {
    const struct relation_block *block; /* of a layer that uses edges, in place of: */
    const uint32_t *count;              /* [types]: rows of each */
    /* [types]: what the layer below gives of the sources, of layer 0 the rows that come in; not read
     * of a type without sources. */
    const struct input_rows *rows;
    /* NULL, or [relations], of a layer that sums: the sums over the sources, for each row of the
     * relation's block. Then the block's sources are its destinations, as far as they are counted. */
    const float *const *sum;
    /* NULL, or [types], of a layer that has a second_input: the rows that layer gave of the
     * destinations. */
    const float *const *start;
};
/* Layer `layer`, from 0, alone and without gradient. output [destinations of `type`, output_dim] are
 * the rows that it gives of `type`, as the next layer reads them. What else it gives is lost, so
 * there need be no destinations of other types. Linear kinds aggregate before they project, whatever
 * they do in training: a node is a source of many blocks, and a destination of one. */
MUST_CHECK enum error_code model_infer_types(const struct model *model, const float *value,
                                             int layer, const struct typed_layer_input *input,
                                             uint32_t type, const struct model_workspace *workspace,
                                             float *output, struct error *err);
/* The same of a graph with one relation: output [destination_count, output width of the layer] with what
 * follows the layer, as the next one reads it. Linear kinds aggregate before they project, whatever they do in
 * training: a node is a source of many blocks, and a destination of one. */
MUST_CHECK enum error_code model_infer_layer(const struct model *model, const float *value,
                                             int layer, const struct layer_input *input,
                                             const struct model_workspace *workspace, float *output,
                                             struct error *err);
/* Whether all that layer `layer` (from 0) needs of its sources is the sum of their rows, each with its weight, or the greatest
 * of them. */
bool model_sums_sources(const struct model *model, int layer);
/* How layer `layer` aggregates on a block; arrays in the arena. Only where model_sums_sources(). */
MUST_CHECK enum error_code model_weigh_block(const struct model *model, int layer,
                                             const struct message_block *block, struct arena *arena,
                                             struct aggregation *out, struct error *err);
/* Whether its products may take operands in bf16: not of kinds that are not linear, nor of layers with a tail. */
bool model_is_possible_in_bf16(const struct model *model);
/* The decoder with these values, borrowed. The model has one. */
struct decoder model_decoder(const struct model *model, const float *value);
/* Where the gradients of its parameters go in the whole gradient. */
void model_decoder_gradient(const struct model *model, float *gradient,
                            float *parameter_gradient[DECODER_PARAMETER_COUNT_MAX]);
/* The matrix behind its readout with these values, borrowed. The model has one. */
struct graph_classifier model_graph_classifier(const struct model *model, const float *value);
/* Where the gradients of its weight and bias go in the whole gradient. */
void model_graph_classifier_gradient(const struct model *model, float *gradient, float **weight,
                                     float **bias);
/* Copies what the parameters behind those of the layers have in `from` into `gradient`, both [value_count] or to trained_count. */
void model_take_head_gradient(const struct model *model, const float *from, float *gradient);
/* Sets which types' rows the logits need of those that layer `layer` (from 0) gives, or of the rows
 * that come in (-1). */
void model_needs(const struct model *model, int layer, bool needed[RELATION_TYPE_COUNT_MAX]);
/* Whether the logits are of rows of the type, too. */
static inline bool model_gives(const struct model *model, uint32_t type)
{
    return model->config.types.gives_all ? type < model->config.types.schema.type_count
                                         : type == model->config.types.target_type;
}
/* Columns that layer `layer` (from 0) reads / gives. */
uint32_t model_layer_input_dim(const struct model *model, int layer);
uint32_t model_layer_output_dim(const struct model *model, int layer);

#endif
