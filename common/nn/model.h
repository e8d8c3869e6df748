/*
 * model - a stack of graph layers with its parameters in one flat array.
 *
 * One table says what tensors there are (names as PyG's BasicGNN gives them: "convs.0.lin_l.weight"),
 * their shapes and where they lie; weights, gradients, optimizer state and checkpoints all follow it.
 * Weights of a linear map are [out, in], y = x W^T + b, as in torch.
 *
 * A model is a list of layers. A kind of layer is one file in common/nn (sage_layer.c, gcn_layer.c) and one row in
 * layer_table (layer.h); README.md says how to add one.
 * Between layers: ReLU, then dropout. The last layer gives the logits.
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
#include "common/base/random.h"
#include "common/graph/message_block.h"
#include "common/math/precision.h"
#include "common/nn/operators/gather.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LAYER_COUNT_MAX = 16,
    LAYER_PARAMETER_COUNT_MAX = 6,
    PARAMETER_COUNT_MAX = LAYER_PARAMETER_COUNT_MAX * LAYER_COUNT_MAX,
    PARAMETER_NAME_SIZE = 48
};

/* The order of enum model_kind. */
enum layer_kind { LAYER_SAGE, LAYER_GCN, LAYER_GAT, LAYER_GATV2, LAYER_KIND_COUNT };

/* The settings of a model whose layers are all of one kind: from input_dim to hidden_dim, and so on, to output_dim. */
struct model_config {
    enum layer_kind layer;
    int layer_count;
    uint32_t input_dim, hidden_dim, output_dim;
    uint32_t heads; /* of kinds that have them; 0: one */
    float dropout;
    enum precision precision; /* of the input rows and of every product's operands */
};

struct parameter {
    char name[PARAMETER_NAME_SIZE];
    int dim_count; /* 1: [rows], with cols 1; 2: [rows, cols]; 3: [1, rows, cols] */
    uint32_t rows, cols;
    uint64_t offset; /* of the first value in the flat array */
};

struct layer_type;

struct model_layer {
    const struct layer_type *type; /* its row in layer_table */
    uint32_t input_dim, output_dim;
    uint32_t heads; /* at least 1 */
    bool activates; /* ReLU and dropout follow: all layers but the last */
    float
        dropout; /* of what is dropped in training inside the layer, and behind it when it activates */
    int first_parameter, parameter_count; /* in model.parameter */
};

struct model {
    struct model_config config;
    struct model_layer layer[LAYER_COUNT_MAX]; /* [config.layer_count], from the input side */
    int parameter_count;
    struct parameter parameter[PARAMETER_COUNT_MAX];
    uint64_t value_count; /* of all parameters */
    bool needs_degree;    /* the layer wants message_block.degree */
};

/* Fails: ERROR_INVALID for more layers than LAYER_COUNT_MAX, or sizes that overflow. */
MUST_CHECK enum error_code model_init(struct model *out, const struct model_config *config,
                                      struct error *err);
/* "name rows cols\n" for each tensor: stored with the weights, compared on reading. */
MUST_CHECK enum error_code model_table_text(const struct model *model, char *out, size_t size,
                                            struct error *err);
/* Initial weights as PyG draws their distribution: SAGE U(+-1/sqrt(in)), GCN Glorot; from the seed. */
void model_initialise(const struct model *model, uint64_t seed, float *value);

/* What a model computes on. */
struct model_input {
    /* [layer_count], from the input side; block[l].destination_count is block[l+1].source_count. */
    const struct message_block *block;
    struct input_rows rows;
    /* [block[0].destination_count, aggregated width]: borrowed room for the first layer's aggregated rows, of which
     * the first aggregated_count are there already (source_aggregation.h, input_aggregation.h): all, or whole tiles. The
     * others are gathered from `rows`. NULL: all are, and the room is the workspace's. */
    void *aggregated;
    uint32_t aggregated_count;
    const struct random_stream *dropout; /* the draws (hop word: layer); NULL: no dropout */
};

/* What it computes with. Borrowed; nothing is kept in it between calls. */
struct model_workspace {
    struct arena *arena;
    struct thread_pool *pool; /* NULL: the calling thread alone */
};

/* What forward leaves for backward; in the caller's arena. */
struct model_trace;

/* Logits [block[L-1].destination_count, output_dim] into `logits`, which the caller provides.
 * `trace` NULL: there will be no backward.
 * Fails: ERROR_NO_MEMORY when the arena's limit is reached. No heap use once the arena is warm. */
MUST_CHECK enum error_code model_forward(const struct model *model, const float *value,
                                         const struct model_input *input,
                                         const struct model_workspace *workspace, float *logits,
                                         struct model_trace **trace, struct error *err);
/* Gradient of the loss for every parameter into `gradient` [value_count], given that for the logits.
 * No gradient of the inputs is computed. */
MUST_CHECK enum error_code model_backward(const struct model *model, const float *value,
                                          struct model_trace *trace, const float *logits_gradient,
                                          const struct model_workspace *workspace, float *gradient,
                                          struct error *err);

/* One layer alone, without gradient, for layer-wise inference: `layer` from 0; output
 * [destination_count, output width of the layer], ReLU applied unless it is the last. */
MUST_CHECK enum error_code model_infer_layer(const struct model *model, const float *value,
                                             int layer, const struct message_block *block,
                                             const struct input_rows *input,
                                             const struct model_workspace *workspace, float *output,
                                             struct error *err);
/* Columns that layer `layer` (from 0) reads / gives. */
uint32_t model_layer_input_dim(const struct model *model, int layer);
uint32_t model_layer_output_dim(const struct model *model, int layer);

#endif
