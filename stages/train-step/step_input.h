/*
 * step_input - reads the inputs of a step: weights, a mini-batch, and the rows and labels of its
 * nodes.
 *
 * It keeps what the next unit probably needs again: the weights of a round, and the mini-batches
 * of the last training and the last evaluation (validation often has only one). A thread reads
 * ahead what the next unit probably needs for the first time (batch_reader.h), and another thread
 * aggregates it in idle time (idle_aggregation.h). If the features do not fit the budget, the rows
 * that the stored mini-batches use most are cached (cache_policy.h).
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
    struct feature_source *labels; /* NULL if the task labels no nodes */
    struct embedding_input embedding;
    struct topology topology; /* {0} unless the model reads edge features */
    struct batch_preparer preparer;
    /* if features exceed the budget, only one of them has rows */
    struct prepared_batch batch[BATCH_USE_COUNT];
    struct batch_reader *reader; /* NULL in a replay and in a pipeline of layers, as is `idle` */
    struct idle_aggregation *idle;
    int64_t ahead_round; /* round of the batch that is read ahead */
    bool is_aggregation; /* `idle` uses the arena of a unit */
    /* time of the last gradient, by clock_seconds(); later work counts as ahead */
    double published_at;
    double ahead_seconds; /* seconds that updates of learnable rows took between units */
    struct unit_guess guess;
    struct cache_policy cache;
};

/* Opens the sources and sets the limit of `arena` to the bytes that the budget leaves for a
 * unit. */
MUST_CHECK enum error_code step_input_open(const struct stage_context *context,
                                           struct step_input *out, struct arena *arena,
                                           struct error *err);
void step_input_close(struct step_input *input);

/* Reads weights of that version into input->weights, unless they are there. Fails:
 * ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code step_input_weights(const struct stage_context *context,
                                              struct step_input *input, int64_t version,
                                              struct error *err);
/* Reads the batch `key`. With a learnable embedding, the rows have the version of
 * input->weights, which the caller has read before. Resets the arena, except for rows of this
 * batch that were aggregated in it between units. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT if the
 * batch does not fit the model or the partition. */
MUST_CHECK enum error_code step_input_batch(const struct stage_context *context,
                                            struct step_input *input, enum batch_use use,
                                            const struct key *key, struct arena *arena,
                                            struct step_batch *out, struct error *err);
/* Reads the batch for a pass through one layer, from 0 (layer_step.h). Reads node and edge rows
 * only if that layer needs them. */
MUST_CHECK enum error_code step_input_layer(const struct stage_context *context,
                                            struct step_input *input, const struct key *key,
                                            int layer, struct arena *arena, struct step_batch *out,
                                            struct error *err);
/* Begins to read the mini-batch that the unit after this training unit probably needs. A failure
 * is ignored: the step then reads the batch itself. If the features do not fit the budget,
 * feature rows are read ahead only from a disk. Copying rows out of the page cache keeps a core
 * busy, so doing it beside the step saves no time and would need a second area for the rows. */
void step_input_read_ahead(const struct stage_context *context, struct step_input *input,
                           int64_t round, int32_t slot);
/* Begins to aggregate the batch that was read ahead. The caller has published its gradient. The
 * aggregation owns the arena until the next batch is asked for, or until step_input_settle(),
 * and takes at most `room` bytes of it. Does nothing if the features do not fit the budget, or
 * if the learnable rows do not have the version that the batch will need. */
void step_input_aggregate_ahead(const struct stage_context *context, struct step_input *input,
                                struct arena *arena, size_t room);
/* Ends the aggregation. The caller must do so before it uses the arena or the learnable rows for
 * anything but the next batch. */
void step_input_settle(struct step_input *input);
/* Guesses the next unit again, now that the last training unit, of round `round`, was completed
 * as the done_count-th of all. If the guess changes, that batch is read and aggregated instead.
 * Advances learnable rows to the version after the round if all its gradients are stored. */
void step_input_rest(const struct stage_context *context, struct step_input *input, int64_t round,
                     int64_t done_count, struct arena *arena);
/* Reads the labels of the seeds, as rows in the form of the task, into the arena. Fails:
 * ERROR_CORRUPT for an invalid label. */
MUST_CHECK enum error_code step_input_labels(const struct stage_context *context,
                                             struct step_input *input,
                                             const struct step_batch *batch, struct arena *arena,
                                             const void **out, struct error *err);

#endif
