/*
 * layer - the kinds of graph layer, one row of a table each.
 *
 * A kind describes the tensors of its layers: their names, shapes, first values, and names in PyG
 * and DGL. Either a kind brings its own forward and backward pass (attention.h), or it is linear. A
 * linear kind describes how rows are aggregated along the edges (operators/aggregation.h) and
 * whether they are projected before or after that. Its matrices stand side by side: the aggregated
 * row has one part of the input's width for each matrix. layer_pass.h runs all linear kinds.
 *
 * To add a kind, write a file <kind>_layer.c and a row of layer_list.h (README.md).
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
    /* name behind "convs.<k>.", or behind the kind's own prefix, here and in PyG */
    const char *suffix;
    const char *dgl; /* name behind "layers.<k>." */
    bool dgl_transposes;
    int dim_count; /* as in struct parameter; the next two fields likewise */
    uint32_t rows, cols;
    float bound; /* first values are uniform in [-bound, bound), */
    float start; /* or, unless it is 0, all first values are this */
};

struct layer_pass;
struct layer_gradient;
struct typed_kind; /* common/nn/typed/typed_layer.h */

struct layer_type {
    const char *pyg_name; /* the model of torch_geometric.nn that has these layers */
    /* prefix of tensor names in PyG; NULL: "convs"; "": neither a prefix nor a number */
    const char *prefix;
    const char *dgl_note; /* note for people on using the tensors in DGL; NULL: none */
    bool needs_degree;    /* of message_block; kinds that add up sampled neighbours also need it */
    unsigned reads_edges; /* the columns of edges that it reads: a bit for each enum edge_column */
    /* The kind divides an edge by values of both of its ends: their degrees, or with edge values
     * the sums of these, none of which may be negative. In a relation between two types the degrees
     * of sources are those of the reverse relation. */
    bool divides_by_ends;
    enum layer_aggr aggr; /* meaning of LAYER_AGGR_AUTO; AUTO: the kind does not have that option */
    bool uses_edges; /* takes a hop; otherwise each output row depends only on the same input row */
    bool has_heads;  /* option.heads divides the output's width */
    bool keeps_width; /* the output is as wide as the input */
    /* to a sum of neighbours, so a relation joins only types of the same width */
    bool adds_own_row;
    /* The kind reads a second input, pass->second_input: the input of the lowest layer in the run
     * of layers of this kind that the layer belongs to. Such a layer also keeps_width. */
    bool reads_start;
    /* Builds the layers of a model of this kind; NULL: hop_count of them. Returns their number, or
     * -1 for more than LAYER_COUNT_MAX. The last layer has outline->output_dim columns. */
    int (*build)(const struct model_outline *outline, struct layer_config layer[LAYER_COUNT_MAX]);
    /* Fills in the tensors of a layer of these widths. Returns their number, at most
     * LAYER_PARAMETER_COUNT_MAX. */
    int (*parameters)(const struct model_layer *layer, struct layer_parameter *out);
    /* For a linear kind: decides by the widths alone whether to project before aggregating. */
    bool (*projects_first)(uint32_t input_dim, uint32_t output_dim);
    /* Computes the weights of the aggregation on one block, in the arena. A linear kind that uses
     * no edges has NULL here and in projects_first: it projects each row as it is. A kind that is
     * not linear has weigh() if it needs nothing but that aggregation of its sources
     * (layer_sums_sources()); it may scale destinations differently. */
    enum error_code (*weigh)(const struct model_layer *layer, const struct message_block *block,
                             struct arena *arena, struct aggregation *out, struct error *err);
    /* For a kind that is not linear but has weigh(): returns whether the layer begins with that
     * aggregation of its unchanged input rows, before any weight is used; then it reads
     * pass->aggregated. NULL: no layer does. */
    bool (*aggregates_input)(const struct model_layer *layer);
    /* For a kind that is not linear: as layer_pass_forward() and layer_pass_backward(); README.md
     * describes them. Only in fp32. */
    enum error_code (*forward)(struct layer_pass *pass, bool keep, struct arena *arena,
                               struct thread_pool *pool, struct error *err);
    enum error_code (*backward)(struct layer_pass *pass, const struct layer_pass *above,
                                const float *logits_gradient, bool is_first,
                                const struct layer_gradient *out, struct arena *arena,
                                struct thread_pool *pool, struct error *err);
    /* what the kind does on a typed graph; NULL: it works only on plain graphs */
    const struct typed_kind *typed;
    bool only_typed; /* it has no parameters() and none of the functions behind it */
};

#define ROW(constant, name, help) extern const struct layer_type name##_layer;
LAYER_LIST(ROW)
#undef ROW

/* Returns the row of a kind. */
const struct layer_type *layer_type_of(enum layer_kind kind);

/* Returns whether a layer needs of its sources only their weighted sum, or their maximum: the value
 * that pass->sum holds. */
static inline bool layer_sums_sources(const struct model_layer *layer)
{
    return layer->type->uses_edges && layer->type->weigh;
}

/* Returns whether the layer's first operation is that sum of its unchanged input rows, so that the
 * sum may be computed ahead. */
static inline bool layer_aggregates_first(const struct model_layer *layer)
{
    const struct layer_type *type = layer->type;
    if (!type->uses_edges || layer->config.option.aggr == LAYER_AGGR_MAX || layer->config.residual)
        return false;
    return type->forward ? type->aggregates_input && type->aggregates_input(layer)
                         : !type->projects_first(layer->input_dim, layer->config.output_dim);
}

/* Writes the full name of a tensor of layer `number` as the model names it. */
void layer_parameter_name(const struct layer_type *type, int number, const char *suffix,
                          char out[PARAMETER_NAME_SIZE]);

/* For struct layer_type.build: returns one layer of this kind. The last layer gives the logits; the
 * others have outline->layer.output_dim columns and the outline's tail. */
struct layer_config layer_of_outline(const struct model_outline *outline, enum layer_kind kind,
                                     bool is_last);

/* Fills in the options that the config of `layer` leaves to its kind: 0 heads become 1, and `auto`
 * becomes the kind's own aggr. */
void layer_fill_options(struct model_layer *layer);

/* Sets the norm and activation between the two matrices of a layer of gin by its option `inner`:
 * `norm` and `activation`, or ReLU alone. Does not change layers of other kinds. */
void layer_config_set_inner(struct layer_config *layer, enum norm_kind norm,
                            enum activation_kind activation);

#endif
