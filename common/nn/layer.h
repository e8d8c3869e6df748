/*
 * layer - the kinds of graph layer, one row of a table each.
 *
 * A layer here aggregates rows along the edges (aggregation.h) and maps them linearly, in this or the other order.
 * A kind says which tensors it has, how they are drawn at first, how rows are aggregated, and when the map
 * comes first. Its matrices stand side by side: the aggregated row has one part of the input's width for
 * each of them. layer_pass.h does the work for all kinds.
 *
 * To add a kind: a file <kind>_layer.c, a row in layer.c, a value in enum layer_kind.
 */
#ifndef COMMON_NN_LAYER_H
#define COMMON_NN_LAYER_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/message_block.h"
#include "common/nn/model.h"
#include "common/nn/operators/aggregation.h"

#include <stdbool.h>
#include <stdint.h>

enum { LAYER_PARAMETER_COUNT_MAX = 3 };

struct layer_parameter {
    const char *suffix; /* behind "convs.<k>." */
    bool is_vector;     /* the bias [output_dim]; else a matrix [output_dim, input_dim] */
};

struct layer_type {
    const char *name;
    bool needs_degree; /* of message_block */
    int parameter_count;
    struct layer_parameter parameter[LAYER_PARAMETER_COUNT_MAX];
    /* First values are uniform in [-bound, bound). */
    float (*initial_bound)(const struct layer_parameter *parameter, uint32_t input_dim,
                           uint32_t output_dim);
    /* Whether the projection comes before the aggregation: decided by the widths alone. */
    bool (*projects_first)(uint32_t input_dim, uint32_t output_dim);
    /* The weights of the aggregation on one block, in the arena. */
    enum error_code (*weigh)(const struct message_block *block, struct arena *arena,
                             struct aggregation *out, struct error *err);
};

extern const struct layer_type sage_layer;
extern const struct layer_type gcn_layer;

const struct layer_type *layer_type_of(enum layer_kind kind);
/* Matrices among its parameters. */
int layer_matrix_count(const struct layer_type *type);

#endif
