/*
 * step_input - what a step reads: weights, a mini-batch, and the rows and labels of its nodes.
 *
 * What the next unit is likely to want again is kept: the weights of a round for all its slots, and the
 * mini-batches last trained and last evaluated on (validation often has only one). What it is likely to
 * want for the first time is read ahead by a thread of its own (batch_reader.h), and aggregated by another when
 * there is nothing else to do (idle_aggregation.h). When the features do not
 * fit the budget, the rows that the stored mini-batches use most are cached (cache_policy.h).
 */
#ifndef STAGES_TRAIN_STEP_STEP_INPUT_H
#define STAGES_TRAIN_STEP_STEP_INPUT_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/train-step/batch_reader.h"
#include "stages/train-step/cache_policy.h"
#include "stages/train-step/idle_aggregation.h"
#include "stages/train-step/prepared_batch.h"
#include "stages/train-step/rows/embedding_input.h"
#include "stages/train-step/rows/node_features.h"
#include "stages/train-step/step_batch.h"
#include "stages/train-step/step_memory.h"
#include "stages/train-step/unit_guess.h"
#include "store/features/feature_source.h"
#include "store/objects/keys.h"
#include "store/records/round/parameters.h"

#include <stdbool.h>
#include <stdint.h>

enum batch_use { BATCH_TRAINING, BATCH_EVALUATION, BATCH_USE_COUNT };

struct step_input { /* {0} is closed */
    struct model model;
    struct step_memory plan;
    bool has_weights;
    struct weights weights;
    struct node_features features;
    struct feature_source *labels; /* NULL: the task labels no nodes */
    struct embedding_input embedding;
    struct topology topology; /* {0} unless rows of edge features are read */
    struct batch_preparer preparer;
    struct prepared_batch batch[BATCH_USE_COUNT]; /* out of the budget one of them has the rows */
    struct batch_reader *reader; /* NULL in a replay and in a pipeline of layers, as is the next */
    struct idle_aggregation *idle;
    int64_t ahead_round; /* of the batch that is read ahead */
    bool is_aggregation; /* the arena of a unit is `idle`'s */
    double
        published_at; /* the last gradient, by clock_seconds(); what is done later is done ahead */
    double ahead_seconds; /* that learnable rows took between units */
    struct unit_guess guess;
    struct cache_policy cache;
};

/* Sets the limit of `arena` to what the budget leaves for a unit. */
MUST_CHECK enum error_code step_input_open(const struct stage_context *context,
                                           struct step_input *out, struct arena *arena,
                                           struct error *err);
void step_input_close(struct step_input *input);

/* Afterwards input->weights is that version. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code step_input_weights(const struct stage_context *context,
                                              struct step_input *input, int64_t version,
                                              struct error *err);
/* With a learnable embedding its rows are those of input->weights, which was read before.
 * Resets the arena, but for rows of this batch that were aggregated in it between units.
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT when the batch does not suit model or partition. */
MUST_CHECK enum error_code step_input_batch(const struct stage_context *context,
                                            struct step_input *input, enum batch_use use,
                                            const struct key *key, struct arena *arena,
                                            struct step_batch *out, struct error *err);
/* The same for a pass through one layer, from 0 (layer_step.h): its rows are brought for those that read them alone. */
MUST_CHECK enum error_code step_input_layer(const struct stage_context *context,
                                            struct step_input *input, const struct key *key,
                                            int layer, struct arena *arena, struct step_batch *out,
                                            struct error *err);
/* Begins to read the mini-batch that the unit after this training unit is likely to want; a failure is none, the step reads
 * it then. When the features do not fit the budget, its feature rows are read ahead too, but only from a disk: copying
 * rows out of the page cache keeps a core busy, so nothing is won by doing it beside the step, and the step would need
 * a second area for the rows. */
void step_input_read_ahead(const struct stage_context *context, struct step_input *input,
                           int64_t round, int32_t slot);
/* When the gradient is published: begins to aggregate what was read ahead, in the arena, which is the aggregation's until
 * the next batch is asked for, or step_input_settle(). In the budget alone, and with learnable rows once they are of the version
 * that the batch will be asked for with. `room`: bytes of the arena that it may take. */
void step_input_aggregate_ahead(const struct stage_context *context, struct step_input *input,
                                struct arena *arena, size_t room);
/* Ends that, before anything else than the next batch is done in the arena, or with learnable rows. */
void step_input_settle(struct step_input *input);
/* When the training unit given last, of round `round`, was completed as the done_count-th of all: guesses once more what
 * comes, and reads and aggregates that instead if it is another. Learnable rows go to the version behind the round, if all
 * of its gradients are there. */
void step_input_rest(const struct stage_context *context, struct step_input *input, int64_t round,
                     int64_t done_count, struct arena *arena);
/* Labels of the seeds, rows of the task's form, in the arena. Fails: ERROR_CORRUPT for a label that is none. */
MUST_CHECK enum error_code step_input_labels(const struct stage_context *context,
                                             struct step_input *input,
                                             const struct step_batch *batch, struct arena *arena,
                                             const void **out, struct error *err);

#endif
