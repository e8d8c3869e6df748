/*
 * relation_conv - the passes of a layer by relation: which there are, and the layer that each computes; for
 * relation_convs*.c alone.
 */
#ifndef COMMON_NN_TYPED_RELATION_CONV_H
#define COMMON_NN_TYPED_RELATION_CONV_H

#include "common/nn/typed/row_product.h"
#include "common/nn/typed/typed_layer.h"

/* A pass of a layer stands at a place: a relation, or a type if the layer uses no edges. */
struct conv_place {
    uint32_t source, target; /* types */
    int tensors;             /* the number of the place among those with tensors; -1: it has none */
};

/* The layer of one place at work. */
struct conv {
    struct conv_place place;
    struct model_layer layer;
    struct layer_pass pass;
    /* The matrix of own rows, where they are not among the sources; else NULL. */
    struct row_product *own;
    bool runs;   /* there are rows for it to give */
    float *rows; /* [destinations, output_dim]: what it gives beside other relations; NULL: it alone
                  * gives the rows of its type */
};

struct convs {
    uint32_t count;
    struct conv *conv; /* [count] */
    /* [types]: of the largest of what relations give, which one gave it [destinations, output_dim] */
    uint16_t *largest[RELATION_TYPE_COUNT_MAX];
};

/* Whether only the rows of the target type come out of the layer. */
bool conv_gives_target_alone(const struct model *model, const struct model_layer *layer);
uint32_t conv_place_count(const struct model *model, const struct model_layer *layer);
struct conv_place conv_place_of(const struct model *model, const struct model_layer *layer,
                                uint32_t i);
/* How many relations give rows of a type. */
uint32_t conv_giver_count(const struct model *model, const struct model_layer *layer,
                          uint32_t type);
/* Whether the rows of destinations are not among the sources of a place. In a named relation from a
 * type to itself they are, but a kind that would add loops adds none. */
bool conv_is_bipartite(const struct model *model, const struct model_layer *layer,
                       const struct conv_place *place);
/* Whether a product of own rows is added to what a pass gives. */
bool conv_adds_own_product(const struct model *model, const struct model_layer *layer,
                           const struct conv_place *place);
/* Whether the rows of a type are put together from more than one pass. */
bool conv_is_joined(const struct model *model, const struct model_layer *layer, uint32_t type);
/* The layer of a place: it reads sources and own rows. Nothing follows it where its rows are joined
 * with those of other relations. */
struct model_layer conv_layer_of(const struct model *model, const struct model_layer *layer,
                                 const struct conv_place *place, int tensors);
/* The tensors of a place in the table. */
const struct parameter *conv_tensors(const struct typed_pass *pass, const struct conv *conv);
/* The matrix of own rows in the table. */
const struct parameter *conv_own_tensor(const struct typed_pass *pass, const struct conv *conv);
/* sum += share * rows, of `count` values. */
void conv_add_rows(float *sum, const float *rows, float share, size_t count);

#endif
