/*
 * embedding_input - the input rows of a step with a learnable embedding, and the gradient of the
 * learnable rows.
 *
 *   input row of a node    features [feature_dim] | its learnable row [width]
 *
 * A type without features, and every type without train-step.features, has the learnable row
 * alone.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_EMBEDDING_INPUT_H
#define STAGES_TRAIN_STEP_ROWS_EMBEDDING_INPUT_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/operators/gather.h"
#include "stages/engine/stage.h"
#include "stages/train-step/rows/embedding_state.h"
#include "store/records/round/gradient.h"

#include <stdint.h>

struct embedding_input {          /* {0}: there is no embedding */
    struct embedding_state state; /* row_update.h advances it to the version of a unit */
    uint32_t width;               /* sum of the widths of all types */
};

/* The nodes of one type in a mini-batch. */
struct embedding_nodes {
    uint32_t type;
    uint32_t feature_dim;
    uint32_t count;
    const uint32_t *node;        /* [count]: numbers among the nodes of the type, in any order */
    const float *input_gradient; /* [count, feature_dim + width]: gradient of their input rows */
};

/* Returns the part of --memory that the learnable rows may take. */
uint64_t embedding_input_budget(const struct stage_context *context);
/* Leaves *out empty when the run has no embedding. */
MUST_CHECK enum error_code embedding_input_open(const struct stage_context *context,
                                                struct embedding_input *out, struct error *err);
void embedding_input_close(struct embedding_input *input);
/* Returns the number of columns of the learnable rows of a type; 0 if it has none. */
uint32_t embedding_input_width(const struct stage_context *context, uint32_t type);

/* Joins the learnable rows of the nodes to their features in *rows, which has one row per node.
 * The type must have learnable rows. *rows becomes the joined rows, in the arena. If there are
 * no features and all learnable rows are in memory, *rows points at the learnable rows
 * themselves, and is valid until they change. */
MUST_CHECK enum error_code embedding_input_join(const struct stage_context *context,
                                                const struct embedding_input *input,
                                                const struct embedding_nodes *nodes,
                                                struct arena *arena, struct input_rows *rows,
                                                struct error *err);
/* Computes the sparse sections of a gradient from the gradient of the input rows. nodes
 * [type_count] has the types in ascending order; each section lists its nodes in ascending
 * order. The sections lie in `kept`; `arena` is scratch. Fails: ERROR_INPUT for a number that is
 * not finite; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code embedding_input_gradient(const struct stage_context *context,
                                                    const struct embedding_nodes *nodes,
                                                    int type_count, struct arena *arena,
                                                    struct arena *kept, struct gradient *out,
                                                    struct error *err);
/* Counts the memory of a join and, if `trains`, of a gradient for one type, in an arena that
 * counts. */
MUST_CHECK enum error_code embedding_input_count(uint32_t input_dim, uint32_t width, uint32_t count,
                                                 bool trains, struct arena *arena,
                                                 struct error *err);

#endif
