/*
 * embedding_input - the input rows of a step with a learnable embedding, and the gradient of its rows.
 *
 *   input row of a node    features [feature_dim] | its learnable row [width]
 *
 * Of a type without features, and without train-step.features, there is the learnable row alone.
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
    struct embedding_state state; /* which row_update.h takes to the version of a unit */
    uint32_t width;               /* of the rows of all types together */
};

/* Nodes of one type that a mini-batch has. */
struct embedding_nodes {
    uint32_t type;
    uint32_t feature_dim;
    uint32_t count;
    const uint32_t *node;        /* [count]: numbers among the nodes of the type, in any order */
    const float *input_gradient; /* [count, feature_dim + width]: of their input rows */
};

/* Of --memory: what the rows may take. */
uint64_t embedding_input_budget(const struct stage_context *context);
/* Leaves *out empty when the run has no embedding. */
MUST_CHECK enum error_code embedding_input_open(const struct stage_context *context,
                                                struct embedding_input *out, struct error *err);
void embedding_input_close(struct embedding_input *input);
/* Columns of the learnable rows of a type; 0: it has none. */
uint32_t embedding_input_width(const struct stage_context *context, uint32_t type);

/* Joins the rows of the nodes, whose type has some, to their features, which `rows` has for the node at each place; *rows
 * becomes that, in the arena. Where there are no features, and all learnable rows are in memory, they are read where they are,
 * until they change. */
MUST_CHECK enum error_code embedding_input_join(const struct stage_context *context,
                                                const struct embedding_input *input,
                                                const struct embedding_nodes *nodes,
                                                struct arena *arena, struct input_rows *rows,
                                                struct error *err);
/* The sparse sections of a gradient, from that of the input rows of nodes [type_count], types ascending, in `kept`, by means of
 * `arena`: the nodes of each type in ascending order. Fails: ERROR_INPUT for a number that is not finite; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code embedding_input_gradient(const struct stage_context *context,
                                                    const struct embedding_nodes *nodes,
                                                    int type_count, struct arena *arena,
                                                    struct arena *kept, struct gradient *out,
                                                    struct error *err);
/* The memory of both for a type, in an arena that counts. */
MUST_CHECK enum error_code embedding_input_count(uint32_t input_dim, uint32_t width, uint32_t count,
                                                 bool trains, struct arena *arena,
                                                 struct error *err);

#endif
