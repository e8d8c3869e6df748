/*
 * embedding_input - the input rows of a step with a learnable embedding, and the gradient of its rows.
 *
 *   input row of a node    features [feature_dim] | its learnable row [width]
 *
 * Without train-step.features there is the learnable row alone.
 */
#ifndef STAGES_TRAIN_STEP_EMBEDDING_INPUT_H
#define STAGES_TRAIN_STEP_EMBEDDING_INPUT_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/operators/gather.h"
#include "stages/engine/stage.h"
#include "stages/plan/embedding_state.h"
#include "store/records/parameters.h"

#include <stdint.h>

struct embedding_input { /* {0}: there is no embedding */
    struct embedding_state state;
    uint32_t feature_dim, width;
};

/* Of --memory: what the rows may take. */
uint64_t embedding_input_budget(const struct stage_context *context);
/* Leaves *out empty when the run has no embedding. */
MUST_CHECK enum error_code embedding_input_open(const struct stage_context *context,
                                                struct embedding_input *out, struct error *err);
void embedding_input_close(struct embedding_input *input);

/* Joins the rows of node [count] in weights `version` to their features, which `rows` has for the node at each place; *rows
 * becomes that, in the arena. */
MUST_CHECK enum error_code embedding_input_join(const struct stage_context *context,
                                                struct embedding_input *input, int64_t version,
                                                const uint32_t *node, uint32_t count,
                                                struct arena *arena, struct input_rows *rows,
                                                struct error *err);
/* The sparse sections of a gradient, from that of the input rows of node [count], in the arena: the nodes in ascending
 * order. Fails: ERROR_INPUT for a number that is not finite; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code
embedding_input_gradient(const struct stage_context *context, const struct embedding_input *input,
                         const uint32_t *node, uint32_t count, const float *input_gradient,
                         struct arena *arena, struct gradient *out, struct error *err);
/* The memory of both, in an arena that counts. */
MUST_CHECK enum error_code embedding_input_count(uint32_t input_dim, uint32_t width, uint32_t count,
                                                 bool trains, struct arena *arena,
                                                 struct error *err);

#endif
