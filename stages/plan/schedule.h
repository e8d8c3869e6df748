/*
 * schedule - the arithmetic of a run: epochs, rounds, slots, passes, snapshots.
 *
 * A pure function of the settings and three counts, so every program and every replay agrees without
 * asking anyone.
 */
#ifndef STAGES_PLAN_SCHEDULE_H
#define STAGES_PLAN_SCHEDULE_H

#include "common/base/error.h"
#include "stages/plan/embedding_tensors.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/keys.h"

#include <stdbool.h>
#include <stdint.h>

struct schedule {
    int64_t train_count, valid_count;
    int64_t batch_size, evaluation_batch_size;
    int64_t seeds_most,
        evaluation_seeds_most; /* of a mini-batch; of pairs and graphs more than these */
    int64_t batches_per_epoch;
    int32_t batches_per_round;
    int64_t rounds_per_epoch;
    int64_t epochs;
    int64_t round_count;
    int32_t evaluation_slot_count; /* 0 without validation nodes */
    int64_t run_ahead;
    int64_t reuse_epochs;
    int64_t every_rounds; /* between two snapshots */
    int64_t staleness; /* rounds between the weights a round computes with and those it changes */
    bool reads_base;   /* the step reads both */
    bool chooses_base; /* between these and the newest (chosen_base.h) */
    int32_t ranges;    /* of the values of a gradient, which are added up side by side */
    int32_t fan_in;    /* gradients that are added at once; 0: all of a round (gradient_sums.h) */
    int32_t
        pipelined_layers; /* of the model, each a unit of its own in training (layer_pipeline.h); 0: a step is one */
    bool can_stop_early;
    int32_t layer_count, part_count;     /* of the model's layers: each is a step of inference */
    int32_t cluster_count;               /* parts in a mini-batch of clusters; else 0 */
    struct embedding_tensors embeddings; /* what is learnt for nodes, and its shards */
    int32_t embedding_shards;            /* of all of them; 0: there are none */
    bool counts_walks;                   /* the sampler draws by counts of walks */
    bool keeps_residuals; /* of gradients of which the largest numbers alone are sent */
    bool needs_degree;    /* a layer wants the degrees of a mini-batch's nodes */
    bool divides_by_ends; /* a layer wants them of both ends of an edge */
    bool infers_some;     /* nodes, all layers of them with the outputs: then layer_count is 0 */
    bool
        shows_history; /* infer.history is all: outputs compute events at their times from layer 0 on */
    bool infers_best; /* inference takes the best weights; else the last ones */
    char outputs_tag[OUTPUTS_TAG_SIZE];
    uint64_t seed;
};

/* Of a graph without relations; of one with them run_schedule() (run_binding.h) also knows what is learnt of types.
 * Fails: ERROR_INPUT without training nodes; ERROR_INVALID when a round would have over 65,535
 * slots. */
MUST_CHECK enum error_code schedule_init(struct schedule *out,
                                         const struct pipeline_settings *settings,
                                         int64_t train_count, int64_t valid_count,
                                         int32_t part_count, struct error *err);

/* The examples are graphs of up to `most_nodes` nodes, of `node_count` in all: how many seeds that makes. */
void schedule_take_graphs(struct schedule *s, uint32_t most_nodes, uint32_t node_count);

/* Slots of a round: the last round of an epoch may have fewer. */
int32_t schedule_slot_count(const struct schedule *s, int64_t round);
/* The last round before `round`, or the first behind it, that has the slot; -1: there is none. */
int64_t schedule_slot_before(const struct schedule *s, int64_t round, int32_t slot);
int64_t schedule_slot_after(const struct schedule *s, int64_t round, int32_t slot);
/* The oldest round whose residuals (store/records/residual.h) the rounds from `version` on need; `version` when they need
 * none. */
int64_t schedule_oldest_residual(const struct schedule *s, int64_t version);
int64_t schedule_epoch(const struct schedule *s, int64_t round);
/* A mini-batch is made in the first epoch of a sampling pass: is this round in one? */
bool schedule_samples(const struct schedule *s, int64_t round);
/* Where the mini-batch of (round, slot) was made. With reuse_epochs 1 that is (round, slot) itself;
 * else the batches of the pass come in a new order in each of its later epochs. */
void schedule_batch_source(const struct schedule *s, int64_t round, int32_t slot,
                           int64_t *source_round, int32_t *source_slot);
/* Does the step of `round` wait for its mini-batch, made for `source_round`? Not where that is one of an earlier epoch: it
 * was there before the weights were. With staleness it is, if the weights are older than that round. */
bool schedule_waits_for_batch(const struct schedule *s, int64_t round, int64_t source_round);
/* Seed nodes [*first, *first + *count) of the epoch's shuffled order that (round, slot) takes. */
void schedule_seed_range(const struct schedule *s, int64_t round, int32_t slot, int64_t *first,
                         int64_t *count);
/* Where mini-batches are clusters: those at [*first, *first + *count) of the epoch's shuffled parts; and which part that is.
 * An epoch has each part once, and as many batches as that takes. */
void schedule_cluster_range(const struct schedule *s, int64_t round, int32_t slot, int64_t *first,
                            int64_t *count);
int64_t schedule_shuffled_part(const struct schedule *s, int64_t epoch, int64_t position);
/* The index into the ascending training nodes that stands at `position` of that epoch's order. */
int64_t schedule_shuffled(const struct schedule *s, int64_t epoch, int64_t position);
/* Validation nodes [*first, *first + *count) of evaluation slot `slot`. */
void schedule_evaluation_range(const struct schedule *s, int32_t slot, int64_t *first,
                               int64_t *count);
/* Is there a snapshot (and validation) of weights `version`? */
bool schedule_has_snapshot(const struct schedule *s, int64_t version);
/* Do the rounds from `version` on wait for its checkpoint? With early stopping, and with learnable embeddings, whose
 * rows are held in one version at a time: validation reads them before a round changes them. */
bool schedule_waits_for_checkpoint(const struct schedule *s, int64_t version);
/* The version of the weights that the gradients of a round are made from: max(0, round - staleness), or where that is chosen, the
 * oldest that it may be. The step of the round
 * changes version `round` by them. No later round needs an older version. */
int64_t schedule_base(const struct schedule *s, int64_t round);
/* The snapshot before / the first at or after `version`; -1 before the first. */
int64_t schedule_snapshot_before(const struct schedule *s, int64_t version);
int64_t schedule_snapshot_at_or_after(const struct schedule *s, int64_t version);
/* The lowest layer of inference: 1; with learnable embeddings 0, the rows that layer 1 reads. */
static inline int32_t schedule_first_layer(const struct schedule *s)
{
    return s->embedding_shards > 0 ? 0 : 1;
}
/* The oldest round whose records are still needed when snapshot `version` is the newest and no older
 * one is kept: with reuse, the sampling pass of the rounds to come may lie further back. */
int64_t schedule_oldest_needed(const struct schedule *s, int64_t version);

#endif
