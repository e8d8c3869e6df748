/*
 * model_description - what a model is made of: its layers, its types, and the table of its tensors.
 *
 * model.h makes a model from it and computes with it. Layers, decoders and the writer of tensors
 * read this description and know nothing of the model's passes.
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

/* This is what a layer or a model computes with. Borrowed; nothing is kept in it between calls. */
struct model_workspace {
    struct arena *arena;
    struct thread_pool *pool; /* NULL: the calling thread alone */
};

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

#endif
