/*
 * relation_conv - the passes of a layer by relation: the list of passes, and the layer that each
 * computes. Only relation_convs*.c use it.
 */
#ifndef COMMON_NN_TYPED_RELATION_CONV_H
#define COMMON_NN_TYPED_RELATION_CONV_H

#include "common/nn/typed/row_product.h"
#include "common/nn/typed/typed_layer.h"

/* Each pass of a layer belongs to a place: a relation, or a type if the layer uses no edges. */
struct conv_place {
    uint32_t source, target; /* types */
    int tensors;             /* index of the place among those with tensors; -1: it has none */
};

/* The layer of one place and its pass. */
struct conv {
    struct conv_place place;
    struct model_layer layer;
    struct layer_pass pass;
    /* The product with the matrix of own rows if these rows are not among the sources; otherwise
     * NULL. */
    struct row_product *own;
    bool runs; /* the pass has rows to give */
    /* [destinations, output_dim]: its rows, to be joined with those of other relations; NULL: it
     * alone gives the rows of its type */
    float *rows;
};

struct convs {
    uint32_t count;
    struct conv *conv; /* [count] */
    /* [types]: the pass that gave each maximum, [destinations, output_dim] */
    uint16_t *largest[RELATION_TYPE_COUNT_MAX];
};

/* Returns whether the layer gives only the rows of the target type. */
bool conv_gives_target_alone(const struct model *model, const struct model_layer *layer);
/* Returns the number of places of a layer: relations, or types if it uses no edges. */
uint32_t conv_place_count(const struct model *model, const struct model_layer *layer);
/* Returns place `i` of a layer. */
struct conv_place conv_place_of(const struct model *model, const struct model_layer *layer,
                                uint32_t i);
/* Returns how many relations give rows of a type. */
uint32_t conv_giver_count(const struct model *model, const struct model_layer *layer,
                          uint32_t type);
/* Returns whether the rows of destinations are not among the sources of a place. In a named
 * relation from a type to itself they are, but a kind that would add loops adds none. */
bool conv_is_bipartite(const struct model *model, const struct model_layer *layer,
                       const struct conv_place *place);
/* Returns whether a product of own rows is added to the rows of a pass. */
bool conv_adds_own_product(const struct model *model, const struct model_layer *layer,
                           const struct conv_place *place);
/* Returns whether the rows of a type are joined from more than one pass. */
bool conv_is_joined(const struct model *model, const struct model_layer *layer, uint32_t type);
/* Returns the layer of a place. It reads sources and own rows. It has no tail if its rows are
 * joined with those of other relations. */
struct model_layer conv_layer_of(const struct model *model, const struct model_layer *layer,
                                 const struct conv_place *place, int tensors);
/* Returns the tensors of a place in the table. */
const struct parameter *conv_tensors(const struct typed_pass *pass, const struct conv *conv);
/* Returns the matrix of own rows in the table. */
const struct parameter *conv_own_tensor(const struct typed_pass *pass, const struct conv *conv);
/* Adds share * rows to sum, of `count` values. */
void conv_add_rows(float *sum, const float *rows, float share, size_t count);

#endif
