/*
 * model - a stack of graph layers with its parameters in one flat array.
 *
 * One table says what tensors there are (names as PyG's BasicGNN gives them: "convs.0.lin_l.weight"),
 * their shapes and where they lie; weights, gradients, optimizer state and checkpoints all follow it.
 * Weights of a linear map are [out, in], y = x W^T + b, as in torch.
 *
 * A model is a list of layers. A kind of layer is one file, layers/<kind>_layer.c, and one row of layers/layer_list.h;
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
#include "common/base/random.h"
#include "common/graph/message_block.h"
#include "common/graph/relation_block.h"
#include "common/math/precision.h"
#include "common/nn/activation.h"
#include "common/nn/layers/layer_list.h"
#include "common/nn/links/decoder.h"
#include "common/nn/normalisation.h"
#include "common/nn/operators/gather.h"
#include "common/nn/readout/graph_classifier.h"
#include "common/nn/readout/readout.h"
#include "common/parallel/thread_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LAYER_COUNT_MAX = 16,
    LAYER_PARAMETER_COUNT_MAX = 7, /* of a kind's own */
    TAIL_PARAMETER_COUNT =
        6, /* of what follows a layer: residual, norm, and its running statistics */
    INNER_PARAMETER_COUNT = 3, /* running statistics of a batch norm inside a layer */
    PARAMETER_COUNT_MAX = 1024,
    PARAMETER_NAME_SIZE = 192, /* some hold the names of a relation and of its two types */
    PARAMETER_DIM_COUNT_MAX = 4
};
_Static_assert((int)PARAMETER_COUNT_MAX >=
                   (LAYER_PARAMETER_COUNT_MAX + TAIL_PARAMETER_COUNT + INNER_PARAMETER_COUNT) *
                       LAYER_COUNT_MAX,
               "a plain model has room for all layers");

#define ROW(constant, name, help) LAYER_##constant,
enum layer_kind { LAYER_LIST(ROW) LAYER_KIND_COUNT };
#undef ROW
/* What they are called in pipeline files; NULL behind the last. */
extern const char *const layer_names[LAYER_KIND_COUNT + 1];

#define ROW(constant, name) LAYER_AGGR_##constant,
enum layer_aggr { LAYER_AGGR_LIST(ROW) LAYER_AGGR_COUNT };
#undef ROW
extern const char *const layer_aggr_names[LAYER_AGGR_COUNT + 1];

#define ROW(constant, name) LAYER_INNER_##constant,
enum layer_inner { LAYER_INNER_LIST(ROW) LAYER_INNER_COUNT };
#undef ROW
extern const char *const layer_inner_names[LAYER_INNER_COUNT + 1];

/* Settings that some kinds have (layer_list.h). */
struct layer_options {
#define INT(name, kinds, value, least, most, help)  int64_t name;
#define REAL(name, kinds, value, least, most, help) double name;
#define FLAG(name, kinds, value, help)              bool name;
#define CHOICE(name, kinds, value, names, help)     int64_t name; /* the number of the choice */
    LAYER_OPTION_LIST(INT, REAL, FLAG, CHOICE)
#undef INT
#undef REAL
#undef FLAG
#undef CHOICE
};

/* The one description of a layer. An item of train-step.layers, the settings of all layers, an
 * outline, a model's config and the layers of a model all hold it, so nothing copies it field by
 * field. */
struct layer_config {
    enum layer_kind kind;
    uint32_t output_dim; /* in settings of an item, 0: that of train-step.hidden */
    struct layer_options option;
    /* Behind the layer, in this order (layer_tail.h). */
    bool residual; /* what a destination read is added; through a matrix where the widths differ */
    enum norm_kind norm;
    enum activation_kind activation; /* ACTIVATION_AUTO only in settings of an item */
    double dropout;                  /* of that, and of what the kind drops inside the layer */
    /* gin has these between its two matrices (layer_config_set_inner()). */
    enum norm_kind inner_norm;
    enum activation_kind inner_activation;
};

/* What the layer behind all others reads (Xu et al. 2018), as PyG's JumpingKnowledge: LAST what the layer below gives, CAT
 * what all layers give, side by side, MAX the largest of them; of the rows of its destinations. */
#define JUMPING_KNOWLEDGE_LIST(ROW) ROW(NONE, none) ROW(LAST, last) ROW(CAT, cat) ROW(MAX, max)
#define ROW(constant, name)         JUMP_##constant,
enum jumping_knowledge { JUMPING_KNOWLEDGE_LIST(ROW) JUMPING_KNOWLEDGE_COUNT };
#undef ROW
/* In pipeline files; NULL behind the last. */
extern const char *const jumping_knowledge_names[JUMPING_KNOWLEDGE_COUNT + 1];

/* How what the relations of a type give becomes one row of it: as HeteroConv of PyG and HeteroGraphConv of DGL. */
#define RELATION_AGGR_LIST(ROW) ROW(SUM, sum) ROW(MEAN, mean) ROW(MAX, max)
#define ROW(constant, name)     RELATION_AGGR_##constant,
enum relation_aggr { RELATION_AGGR_LIST(ROW) RELATION_AGGR_COUNT };
#undef ROW
/* In pipeline files; NULL behind the last. */
extern const char *const relation_aggr_names[RELATION_AGGR_COUNT + 1];

/* What the rows of a type go through before the first layer: nothing, a matrix of the type and a bias, or that and ReLU. */
#define TYPE_PROJECTION_LIST(ROW) ROW(NONE, none) ROW(LINEAR, linear) ROW(RELU, relu)
#define ROW(constant, name)       TYPE_PROJECTION_##constant,
enum type_projection { TYPE_PROJECTION_LIST(ROW) TYPE_PROJECTION_COUNT };
#undef ROW
/* In pipeline files; NULL behind the last. */
extern const char *const type_projection_names[TYPE_PROJECTION_COUNT + 1];

/* Of a model over the node types and relations of a typed graph (common/graph/relation_block.h). */
struct model_types {
    /* Its arrays are borrowed: they outlive the model. Without types it becomes that of a plain
     * graph, model_plain_schema, whose rows have config.input_dim columns. */
    struct relation_schema schema;
    uint32_t input_dim[RELATION_TYPE_COUNT_MAX]; /* columns of the input rows of each type */
    /* Types whose rows go through a matrix and a bias of the type before the first layer, to projected_dim columns, and
     * through projected_activation. Rows of the others, embeddings for instance, come in as they are. */
    bool projects[RELATION_TYPE_COUNT_MAX];
    uint32_t projected_dim;
    enum activation_kind projected_activation;
    uint32_t target_type; /* the logits are of its rows, unless */
    bool gives_all;       /* they are of the rows of all types, one type behind the other */
    enum relation_aggr relation_aggr;
    uint32_t
        pair_relations; /* that the pairs of a decoder may be of, also of a plain model; 0: they have none */
};

/* One type and one relation, both without a name. */
extern const struct relation_schema model_plain_schema;

struct model_config {
    uint32_t input_dim; /* of a plain graph */
    struct model_types types;
    int layer_count;
    struct layer_config
        layer[LAYER_COUNT_MAX]; /* from the input side; the last one gives the logits */
    /* Not NONE: the last layer of the list, a matrix for each row that is called `lin`, reads that. */
    enum jumping_knowledge jumping_knowledge;
    enum precision precision; /* of the input rows and of every product's operands */
    uint32_t
        edge_dim; /* columns of the features of edges, for the layers that read them; 0: none */
    enum decoder_kind decoder; /* of tasks of pairs: what makes scores of the last layer's rows */
    uint32_t decoder_outputs;  /* scores of a pair; 0: one */
    /* Of tasks of graphs: what makes one row of the last layer's of a graph, and how many outputs the matrix behind it has. */
    enum readout_kind readout;
    uint32_t graph_outputs;
};

/* A model in few words, as most pipeline files have it: one layer after the other as `layer`
 * describes it, but the last gives output_dim columns, and neither a residual nor a norm nor an
 * activation follows it. */
struct model_outline {
    struct layer_config layer; /* output_dim: that of the hidden layers */
    int hop_count;             /* fan-outs: each is used by one layer */
    uint32_t input_dim, output_dim;
    uint32_t edge_dim;        /* as in model_config */
    struct model_types types; /* likewise */
    enum jumping_knowledge
        jumping_knowledge; /* not NONE: one more layer behind hop_count of the kind */
    enum precision precision;
};

struct parameter {
    char name[PARAMETER_NAME_SIZE];
    int dim_count;
    uint32_t dim[PARAMETER_DIM_COUNT_MAX]; /* [dim_count]: its shape */
    uint32_t rows,
        cols; /* its values as a matrix: [rows, 1], [rows, cols], or all dims but the last by the last */
    uint64_t offset; /* of the first value in the flat array */
    float bound;     /* first values are uniform in [-bound, bound), */
    float start;     /* or, unless it is 0, this */
    bool is_count;   /* a whole number, which other programs keep as one */
};

struct layer_type;
struct aggregation;    /* operators/aggregation.h */
struct relation_input; /* typed/relation_input.h */

struct model_layer {
    struct layer_config config;    /* with what it leaves open filled in: heads, aggr */
    const struct layer_type *type; /* the row of its kind */
    /* How it computes on all relations at once; NULL: a pass for each (typed/relation_convs.h). */
    const struct typed_kind *typed;
    uint32_t input_dim;
    uint32_t
        own_dim; /* columns of what a destination reads of itself; only in a relation it may differ from input_dim */
    uint32_t type_input_dim[RELATION_TYPE_COUNT_MAX]; /* [types]; input_dim is that of the first */
    unsigned reads_edges; /* the columns of edges that it takes into account, as in layer.h */
    uint32_t edge_dim;    /* columns of the edge features that it reads; 0: none */
    /* It computes on a relation with a name (typed/relation_convs.h), where a kind that would add
     * loops adds none. */
    bool in_relation;
    bool
        joins_heads; /* of kinds that have them: they stand side by side, else their mean is the output */
    int hop;         /* how many hops the layers below take: its own block, if it uses edges */
    bool reads_all;   /* what all layers below give, joined by model_join_rows() */
    int second_input; /* the layer whose output it reads beside that of the layer below; -1: none */
    bool
        has_tail; /* activation and dropout are done behind the layer (layer_tail.h), not inside it */
    int first_parameter, parameter_count; /* in model.parameter: the kind's own */
    /* A layer with a pass for each relation has so many tensors for one, and this one of them
     * multiplies own rows alone, the second matrix of a linear kind; -1: none does. */
    int place_parameters, own_tensor;
    int residual_parameter;     /* [output_dim, input_dim]; -1: none; likewise below */
    int norm_parameter;         /* weight, and then bias */
    int buffer_parameter;       /* running mean, running variance, steps */
    int inner_buffer_parameter; /* the same of the norm inside; only of a batch norm */
    /* [types]; the three above are those of the first type. */
    struct tail_parameters {
        int residual, norm, buffer;
    } type_tail[RELATION_TYPE_COUNT_MAX];
};

struct model {
    struct model_config config;
    struct model_layer layer[LAYER_COUNT_MAX]; /* [config.layer_count], from the input side */
    int hop_count;                             /* layers that use edges: blocks, and fan-outs */
    int projection_parameter
        [RELATION_TYPE_COUNT_MAX]; /* of a typed model: weight, and then bias; -1: none */
    int parameter_count;
    struct parameter parameter[PARAMETER_COUNT_MAX];
    int head_parameter; /* the first of the decoder's, or of the matrix behind a readout: behind those of layers */
    uint64_t value_count; /* of all parameters */
    /* Of them, from the first on, those that have a gradient. The others are buffers: running statistics of batch norms, which
     * are stored with the weights but not trained (running_statistics.h). */
    uint64_t trained_count;
    bool needs_degree;    /* a layer wants message_block.degree */
    unsigned reads_edges; /* what its layers do of edges, as in layer.h; so is the next */
    bool divides_by_ends;
};

/* Sets what stands between the two matrices of a layer of gin by its option `inner`: `norm` and
 * `activation`, or ReLU alone. Layers of other kinds stay as they are. */
void layer_config_set_inner(struct layer_config *layer, enum norm_kind norm,
                            enum activation_kind activation);
/* The layers that an outline is short for. Fails: ERROR_INVALID for more than LAYER_COUNT_MAX. */
MUST_CHECK enum error_code model_config_of(struct model_config *out,
                                           const struct model_outline *outline, struct error *err);
/* Puts the matrix of jumping knowledge behind the layers of `config`. Fails: ERROR_INVALID when there is no room. */
MUST_CHECK enum error_code model_config_jump(struct model_config *config,
                                             enum jumping_knowledge jumping_knowledge,
                                             uint32_t output_dim, struct error *err);
/* Fails: ERROR_INVALID, naming the layer, for more layers than LAYER_COUNT_MAX, sizes that overflow, and what a kind
 * cannot do; ERROR_BUG for a kind whose row of layer_list.h is wrong (layers/layer_row.h). */
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

/* What it computes with. Borrowed; nothing is kept in it between calls. */
struct model_workspace {
    struct arena *arena;
    struct thread_pool *pool; /* NULL: the calling thread alone */
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
/* Whether it computes on node types and relations. */
static inline bool model_is_typed(const struct model *model)
{
    return *model->config.types.schema.type_name[0] != 0;
}
/* Node types that it computes on, at least 1. */
static inline uint32_t model_type_count(const struct model *model)
{
    return model->config.types.schema.type_count;
}
/* Columns of the logits. */
static inline uint32_t model_output_dim(const struct model *model)
{
    return model->config.layer[model->config.layer_count - 1].output_dim;
}
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
