/*
 * model_description - the structure of a model: its layers, its types, and the table of its
 * tensors.
 *
 * model.h makes a model from it and computes with it. Layers, decoders and the writer of tensors
 * read this description and do not depend on the model's passes.
 */
#ifndef COMMON_NN_DESCRIPTION_MODEL_DESCRIPTION_H
#define COMMON_NN_DESCRIPTION_MODEL_DESCRIPTION_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/message_block.h"
#include "common/graph/relation_block.h"
#include "common/math/precision.h"
#include "common/nn/description/layer_list.h"
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

enum {
    LAYER_COUNT_MAX = 16,
    LAYER_PARAMETER_COUNT_MAX = 7, /* parameters of a kind itself */
    TAIL_PARAMETER_COUNT =
        6, /* parameters of a layer's tail: residual, norm, and its running statistics */
    INNER_PARAMETER_COUNT = 3, /* running statistics of a batch norm inside a layer */
    PARAMETER_COUNT_MAX = 1024,
    PARAMETER_NAME_SIZE = 192, /* some names hold the names of a relation and of its two types */
    PARAMETER_DIM_COUNT_MAX = 4
};
_Static_assert((int)PARAMETER_COUNT_MAX >=
                   (LAYER_PARAMETER_COUNT_MAX + TAIL_PARAMETER_COUNT + INNER_PARAMETER_COUNT) *
                       LAYER_COUNT_MAX,
               "a plain model has room for all layers");

#define ROW(constant, name, help) LAYER_##constant,
enum layer_kind { LAYER_LIST(ROW) LAYER_KIND_COUNT };
#undef ROW
/* Names of the kinds in pipeline files; NULL behind the last. */
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
#define CHOICE(name, kinds, value, names, help)     int64_t name; /* index of the choice */
    LAYER_OPTION_LIST(INT, REAL, FLAG, CHOICE)
#undef INT
#undef REAL
#undef FLAG
#undef CHOICE
};

/* The description of a layer. An item of train-step.layers, the settings of all layers, an outline,
 * a model's config and the layers of a model all hold this struct, so nothing copies it field by
 * field. */
struct layer_config {
    enum layer_kind kind;
    uint32_t output_dim; /* 0 in the settings of an item: train-step.hidden */
    struct layer_options option;
    /* The operations behind the layer, in this order (layer_tail.h). */
    bool residual; /* adds the row of the destination; through a matrix if the widths differ */
    enum norm_kind norm;
    enum activation_kind activation; /* ACTIVATION_AUTO only in settings of an item */
    double dropout; /* rate; also that of the dropout that a kind applies inside the layer */
    /* Norm and activation between the two matrices of gin (layer_config_set_inner()). */
    enum norm_kind inner_norm;
    enum activation_kind inner_activation;
};

/* Input of the layer behind all others (Xu et al. 2018), as PyG's JumpingKnowledge: LAST reads the
 * output of the layer below, CAT the outputs of all layers side by side, MAX their elementwise
 * maximum; always the rows of the last layer's destinations. */
#define JUMPING_KNOWLEDGE_LIST(ROW) ROW(NONE, none) ROW(LAST, last) ROW(CAT, cat) ROW(MAX, max)
#define ROW(constant, name)         JUMP_##constant,
enum jumping_knowledge { JUMPING_KNOWLEDGE_LIST(ROW) JUMPING_KNOWLEDGE_COUNT };
#undef ROW
/* Names in pipeline files; NULL behind the last. */
extern const char *const jumping_knowledge_names[JUMPING_KNOWLEDGE_COUNT + 1];

/* How the outputs of the relations to a type are combined to one row, as HeteroConv of PyG and
 * HeteroGraphConv of DGL do. */
#define RELATION_AGGR_LIST(ROW) ROW(SUM, sum) ROW(MEAN, mean) ROW(MAX, max)
#define ROW(constant, name)     RELATION_AGGR_##constant,
enum relation_aggr { RELATION_AGGR_LIST(ROW) RELATION_AGGR_COUNT };
#undef ROW
/* Names in pipeline files; NULL behind the last. */
extern const char *const relation_aggr_names[RELATION_AGGR_COUNT + 1];

/* Transformation of the rows of a type before the first layer: none, a matrix of the type and a
 * bias, or these and ReLU. */
#define TYPE_PROJECTION_LIST(ROW) ROW(NONE, none) ROW(LINEAR, linear) ROW(RELU, relu)
#define ROW(constant, name)       TYPE_PROJECTION_##constant,
enum type_projection { TYPE_PROJECTION_LIST(ROW) TYPE_PROJECTION_COUNT };
#undef ROW
/* Names in pipeline files; NULL behind the last. */
extern const char *const type_projection_names[TYPE_PROJECTION_COUNT + 1];

/* The types of a model over the node types and relations of a typed graph
 * (common/graph/relation_block.h). */
struct model_types {
    /* Its arrays are borrowed and must outlive the model. A schema without types is replaced by
     * that of a plain graph, model_plain_schema, whose rows have config.input_dim columns. */
    struct relation_schema schema;
    uint32_t input_dim[RELATION_TYPE_COUNT_MAX]; /* columns of the input rows of each type */
    /* The types whose rows go through a matrix and a bias of the type before the first layer, to
     * projected_dim columns, and through projected_activation. Rows of other types, embeddings for
     * instance, are used as they are. */
    bool projects[RELATION_TYPE_COUNT_MAX];
    uint32_t projected_dim;
    enum activation_kind projected_activation;
    uint32_t target_type; /* the type whose rows get logits, unless gives_all */
    bool gives_all;       /* the rows of all types get logits, one type behind the other */
    enum relation_aggr relation_aggr;
    /* number of relations that a decoder's pairs may have, also in a plain model; 0: none */
    uint32_t pair_relations;
};

/* One type and one relation, both without a name. */
extern const struct relation_schema model_plain_schema;

struct model_config {
    uint32_t input_dim; /* for a plain graph */
    struct model_types types;
    int layer_count;
    /* from the input side; the last one gives the logits */
    struct layer_config layer[LAYER_COUNT_MAX];
    /* If not NONE, the last layer of the list, a matrix for each row named `lin`, reads it. */
    enum jumping_knowledge jumping_knowledge;
    enum precision precision; /* of the input rows and of the operands of every product */
    uint32_t edge_dim; /* columns of the edge features, for the layers that read them; 0: none */
    /* for tasks of pairs: computes scores from the rows of the last layer */
    enum decoder_kind decoder;
    uint32_t decoder_outputs; /* scores of a pair; 0: one */
    /* For tasks of graphs: combines the last layer's rows of a graph to one row; graph_outputs is
     * the number of outputs of the matrix behind it. */
    enum readout_kind readout;
    uint32_t graph_outputs;
};

/* A model in few words, as most pipeline files describe it: a stack of equal layers, except that
 * the last one gives output_dim columns and has no residual, norm or activation. */
struct model_outline {
    struct layer_config layer; /* output_dim is that of the hidden layers */
    int hop_count;             /* fan-outs: one for each layer */
    uint32_t input_dim, output_dim;
    uint32_t edge_dim;        /* as in model_config */
    struct model_types types; /* as in model_config */
    /* if not NONE: one more layer behind the hop_count layers of the kind */
    enum jumping_knowledge jumping_knowledge;
    enum precision precision;
};

struct parameter {
    char name[PARAMETER_NAME_SIZE];
    int dim_count;
    uint32_t dim[PARAMETER_DIM_COUNT_MAX]; /* [dim_count]: its shape */
    uint32_t rows,
        /* its values as a matrix: [rows, 1], [rows, cols], or [all dims but the last, the last] */
        cols;
    uint64_t offset; /* index of the first value in the flat array */
    float bound;     /* first values are uniform in [-bound, bound), */
    float start;     /* if not 0, every first value is this */
    bool is_count;   /* a whole number, which other programs store as an integer */
};

struct layer_type;
struct aggregation;    /* operators/aggregation.h */
struct relation_input; /* typed/relation_input.h */

struct model_layer {
    /* options that the config leaves open, such as heads and aggr, are filled in */
    struct layer_config config;
    const struct layer_type *type; /* the row of its kind in the table of kinds */
    /* Computes on all relations at once; NULL: one pass for each relation
     * (typed/relation_convs.h). */
    const struct typed_kind *typed;
    uint32_t input_dim;
    /* columns of the destination's own row; differs from input_dim only in a relation */
    uint32_t own_dim;
    uint32_t type_input_dim[RELATION_TYPE_COUNT_MAX]; /* [types]; input_dim is that of the first */
    unsigned reads_edges; /* which columns of edges it uses, as in layer.h */
    uint32_t edge_dim;    /* columns of the edge features that it reads; 0: none */
    /* Computes on a relation with a name (typed/relation_convs.h); then kinds that would add loops
     * add none. */
    bool in_relation;
    /* for kinds with heads: concatenates them; otherwise their mean is the output */
    bool joins_heads;
    /* number of hops of the layers below, and so the index of its block if it uses edges */
    int hop;
    bool reads_all; /* reads the outputs of all layers below, joined by model_join_rows() */
    /* index of a layer whose output it reads beside that of the layer below; -1: none */
    int second_input;
    bool has_tail; /* activation and dropout run behind the layer (layer_tail.h), not inside it */
    int first_parameter, parameter_count; /* its own parameters in model.parameter */
    /* For a layer with one pass for each relation: the number of tensors of one relation, and which
     * of them multiplies only own rows (the second matrix of a linear kind; -1: none). */
    int place_parameters, own_tensor;
    int residual_parameter; /* [output_dim, input_dim]; -1: none, also for the next three */
    int norm_parameter;     /* index of the weight; the bias follows */
    int buffer_parameter; /* index of the running mean; the running variance and the steps follow */
    /* running statistics of the norm inside the layer; only for a batch norm */
    int inner_buffer_parameter;
    /* [types]; residual_parameter, norm_parameter and buffer_parameter are those of the first
     * type. */
    struct tail_parameters {
        int residual, norm, buffer;
    } type_tail[RELATION_TYPE_COUNT_MAX];
};

struct model {
    struct model_config config;
    struct model_layer layer[LAYER_COUNT_MAX]; /* [config.layer_count], from the input side */
    int hop_count; /* layers that use edges, and so the number of blocks and of fan-outs */
    /* for a typed model: index of the weight, the bias follows; -1: none */
    int projection_parameter[RELATION_TYPE_COUNT_MAX];
    int parameter_count;
    struct parameter parameter[PARAMETER_COUNT_MAX];
    /* the first parameter of the decoder, or of the matrix behind a readout, behind those of
     * layers */
    int head_parameter;
    uint64_t value_count; /* of all parameters */
    /* The first trained_count values have a gradient. The others are buffers: running statistics of
     * batch norms, which are stored with the weights but not trained (running_statistics.h). */
    uint64_t trained_count;
    bool needs_degree; /* a layer needs message_block.degree */
    /* the union of its layers' reads_edges, as in layer.h; the next field likewise */
    unsigned reads_edges;
    bool divides_by_ends;
};

/* The memory and the threads that a layer or a model computes with. Both are borrowed; nothing is
 * kept in them between calls. */
struct model_workspace {
    struct arena *arena;
    struct thread_pool *pool; /* NULL: the calling thread alone */
};

/* Returns whether the model computes on node types and relations. */
static inline bool model_is_typed(const struct model *model)
{
    return *model->config.types.schema.type_name[0] != 0;
}
/* Returns the number of node types, at least 1. */
static inline uint32_t model_type_count(const struct model *model)
{
    return model->config.types.schema.type_count;
}
/* Returns the number of columns of the logits. */
static inline uint32_t model_output_dim(const struct model *model)
{
    return model->config.layer[model->config.layer_count - 1].output_dim;
}

#endif
