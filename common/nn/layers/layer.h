/*
 * layer - the kinds of graph layer, one row of a table each.
 *
 * A kind says which tensors a layer of it has: names and shapes, how they are drawn at first, and what PyG and DGL
 * call them. Either it brings its own forward and backward (attention.h), or it is linear: a linear kind says how rows are aggregated along the edges (operators/aggregation.h) and whether
 * they are projected before that or afterwards; its matrices stand side by side: the aggregated row has one part of
 * the input's width for each of them. layer_pass.h does the work for all linear kinds.
 *
 * To add a kind: a file <kind>_layer.c and a row in layer_list.h (README.md).
 */
#ifndef COMMON_NN_LAYERS_LAYER_H
#define COMMON_NN_LAYERS_LAYER_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/graph/message_block.h"
#include "common/nn/description/model_description.h"
#include "common/nn/operators/aggregation.h"

#include <stdbool.h>
#include <stdint.h>

struct layer_parameter {
    const char *suffix; /* behind "convs.<k>.", or the kind's own prefix, here and in PyG */
    const char *dgl;    /* behind "layers.<k>." */
    bool dgl_transposes;
    int dim_count; /* as in struct parameter, as are the next two */
    uint32_t rows, cols;
    float bound; /* first values are uniform in [-bound, bound), */
    float start; /* or, unless it is 0, this */
};

struct layer_pass;
struct layer_gradient;
struct typed_kind; /* common/nn/typed/typed_layer.h */

struct layer_type {
    const char *pyg_name; /* the model of torch_geometric.nn that has such layers */
    const char
        *prefix; /* of the names of tensors there; NULL: "convs"; "": neither that nor a number */
    const char *dgl_note; /* what has to be known to use them in DGL, for people; NULL: nothing */
    bool needs_degree;    /* of message_block; also needed by what adds up sampled neighbours */
    unsigned
        reads_edges; /* the columns of edges that it takes into account: a bit for each enum edge_column */
    /* It divides an edge by what both of its ends have: by their degrees, or with edge values by
     * the sums of those, of which none may be below 0. In a relation between two types the degrees
     * of sources are those of the reverse relation. */
    bool divides_by_ends;
    enum layer_aggr aggr; /* what LAYER_AGGR_AUTO is; AUTO: a kind without that option */
    bool
        uses_edges; /* takes a hop; else each row of the output is of that row of the input alone */
    bool has_heads; /* the output's width is divided among them: option.heads */
    bool keeps_width; /* gives as many columns as it reads */
    bool
        adds_own_row; /* to a sum of neighbours, so a relation leads from a type to one of the same width */
    /* Beside the layer below it reads what the lowest of the layers of this kind that lie directly on each other reads:
     * pass->second_input. Such a layer also keeps_width. */
    bool reads_start;
    /* The layers of a model of this kind; NULL: hop_count of them. Returns how many, of which the last has
     * outline->output_dim columns, or -1 for more than LAYER_COUNT_MAX. */
    int (*build)(const struct model_outline *outline, struct layer_config layer[LAYER_COUNT_MAX]);
    /* Fills in the tensors of a layer of these widths; returns how many, at most LAYER_PARAMETER_COUNT_MAX. */
    int (*parameters)(const struct model_layer *layer, struct layer_parameter *out);
    /* Of a linear kind: whether the projection comes before the aggregation, decided by the widths alone. */
    bool (*projects_first)(uint32_t input_dim, uint32_t output_dim);
    /* The weights of the aggregation on one block, in the arena. Of a linear kind that uses no edges NULL, as the above:
     * it projects each row as it is. Any other kind has it when all that it wants of its sources is that aggregation
     * (layer_sums_sources()), of which the scales of destinations may be others. */
    enum error_code (*weigh)(const struct model_layer *layer, const struct message_block *block,
                             struct arena *arena, struct aggregation *out, struct error *err);
    /* Of a kind that is not linear but has weigh(): whether it begins with that aggregation of its input rows, as they are and
     * before the weights are known; then it takes pass->aggregated. NULL: it does not. */
    bool (*aggregates_input)(const struct model_layer *layer);
    /* Of any other kind, as layer_pass_forward() and layer_pass_backward(); README.md says what they do. Only in fp32. */
    enum error_code (*forward)(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err);
    enum error_code (*backward)(struct layer_pass *pass, const struct layer_pass *above,
                                const float *logits_gradient, bool is_first,
                                const struct layer_gradient *out, struct arena *arena,
                                struct thread_pool *pool, struct error *err);
    /* What it is in a typed graph; NULL: it is for plain ones. */
    const struct typed_kind *typed;
    bool only_typed; /* it has no parameters() and what follows them */
};

#define ROW(constant, name, help) extern const struct layer_type name##_layer;
LAYER_LIST(ROW)
#undef ROW

const struct layer_type *layer_type_of(enum layer_kind kind);

/* Whether all that a layer needs of its sources is their sum, each with its weight, or the greatest of them: what
 * pass->sum stands for. */
static inline bool layer_sums_sources(const struct model_layer *layer)
{
    return layer->type->uses_edges && layer->type->weigh;
}

/* Whether it also takes that sum of its input rows as they are, before anything else: then that may be done ahead. */
static inline bool layer_aggregates_first(const struct model_layer *layer)
{
    const struct layer_type *type = layer->type;
    if (!type->uses_edges || layer->config.option.aggr == LAYER_AGGR_MAX || layer->config.residual)
        return false;
    return type->forward ? type->aggregates_input && type->aggregates_input(layer)
                         : !type->projects_first(layer->input_dim, layer->config.output_dim);
}

/* The full name of a tensor of layer `number`, as a model has it. */
void layer_parameter_name(const struct layer_type *type, int number, const char *suffix,
                          char out[PARAMETER_NAME_SIZE]);

/* For struct layer_type.build: a layer of this kind in such a model; the last one gives the logits, others
 * outline->layer.output_dim columns, and what follows. */
struct layer_config layer_of_outline(const struct model_outline *outline, enum layer_kind kind,
                                     bool is_last);

/* Fills in the options that the config of `layer` leaves to its kind: no heads are one, and `auto`
 * is the kind's own aggr. */
void layer_fill_options(struct model_layer *layer);

/* Sets what stands between the two matrices of a layer of gin by its option `inner`: `norm` and
 * `activation`, or ReLU alone. Layers of other kinds stay as they are. */
void layer_config_set_inner(struct layer_config *layer, enum norm_kind norm,
                            enum activation_kind activation);

#endif
