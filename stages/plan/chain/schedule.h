/*
 * schedule - the arithmetic of a run: epochs, rounds, slots, passes, snapshots.
 *
 * It is a pure function of the settings and three counts, so every program and every replay
 * computes the same without asking another one.
 */
#ifndef STAGES_PLAN_CHAIN_SCHEDULE_H
#define STAGES_PLAN_CHAIN_SCHEDULE_H

#include "common/base/error.h"
#include "stages/plan/settings/embedding_tensors.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/keys.h"

#include <stdbool.h>
#include <stdint.h>

struct schedule {
    int64_t train_count, valid_count;
    int64_t batch_size, evaluation_batch_size;
    /* The most seeds of a mini-batch. For pairs and graphs that is more than batch_size. */
    int64_t seeds_most, evaluation_seeds_most;
    int64_t batches_per_epoch;
    int32_t batches_per_round;
    int64_t rounds_per_epoch;
    int64_t epochs;
    int64_t round_count;
    int32_t evaluation_slot_count; /* 0 without validation nodes */
    int64_t run_ahead;
    int64_t reuse_epochs;
    int64_t every_rounds; /* between two snapshots */
    /* Rounds between the weights that a round computes with and the weights that it changes. */
    int64_t staleness;
    bool reads_base; /* aggregate reads both of these weights */
    /* A round chooses its weights between base and newest (chosen_base.h). */
    bool chooses_base;
    /* Into how many ranges the values of a gradient are cut; ranges are added up side by side. */
    int32_t ranges;
    /* How many gradients are added at once; 0: all of a round (gradient_sums.h). */
    int32_t fan_in;
    /* Layers of the model whose passes are units of their own in training (layer_pipeline.h); 0: a
     * step is one unit. */
    int32_t pipelined_layers;
    bool can_stop_early;
    int32_t layer_count, part_count; /* layers of the model; each is a step of inference */
    /* Parts in a mini-batch of clusters; 0 for other samplers. */
    int32_t cluster_count;
    /* The learnable tensors of nodes, and their shards. */
    struct embedding_tensors embeddings;
    int32_t embedding_shards; /* of all tensors; 0: there are none */
    bool counts_walks;        /* the sampler draws by counts of walks */
    /* Only the largest numbers of a gradient are sent; the rest is kept in a residual. */
    bool keeps_residuals;
    bool needs_degree;    /* a layer reads the degrees of a mini-batch's nodes */
    bool divides_by_ends; /* a layer reads the degrees of both ends of an edge */
    /* Inference computes some nodes only: all their layers with the outputs, so layer_count is
     * 0. */
    bool infers_some;
    /* infer.history is `all`: outputs compute events at their times from layer 0 on. */
    bool shows_history;
    bool infers_best; /* inference uses the best weights, not the last ones */
    char outputs_tag[OUTPUTS_TAG_SIZE];
    uint64_t seed;
};

/* Fills *out for a graph without relations. For a graph with relations call run_schedule()
 * (run_binding.h), which also knows the learnable tensors of types. Fails: ERROR_INPUT without
 * training nodes; ERROR_INVALID when a round would have over 65,535 slots. */
MUST_CHECK enum error_code schedule_init(struct schedule *out,
                                         const struct pipeline_settings *settings,
                                         int64_t train_count, int64_t valid_count,
                                         int32_t part_count, struct error *err);

/* Sets the numbers of seeds for a task of graphs: the examples are graphs of up to `most_nodes`
 * nodes, and there are `node_count` nodes in all. */
void schedule_take_graphs(struct schedule *s, uint32_t most_nodes, uint32_t node_count);

/* Returns the number of slots of a round: the last round of an epoch may have fewer. */
int32_t schedule_slot_count(const struct schedule *s, int64_t round);
/* Return the last round before `round`, or the first round after it, that has the slot; -1: there
 * is none. */
int64_t schedule_slot_before(const struct schedule *s, int64_t round, int32_t slot);
int64_t schedule_slot_after(const struct schedule *s, int64_t round, int32_t slot);
/* Returns the oldest round whose residuals (store/records/round/residual.h) the rounds from `version` on
 * need; `version` if they need none. */
int64_t schedule_oldest_residual(const struct schedule *s, int64_t version);
int64_t schedule_epoch(const struct schedule *s, int64_t round);
/* Returns whether mini-batches are made in `round`, that is, whether it is in the first epoch of a
 * sampling pass. */
bool schedule_samples(const struct schedule *s, int64_t round);
/* Sets the round and slot for which the mini-batch of (round, slot) was made. With reuse_epochs 1
 * that is (round, slot) itself; otherwise the mini-batches of the pass come in a new order in each
 * of its later epochs. */
void schedule_batch_source(const struct schedule *s, int64_t round, int32_t slot,
                           int64_t *source_round, int32_t *source_slot);
/* Returns whether the step of `round` waits for its mini-batch, which was made for `source_round`.
 * It does not wait for one of an earlier epoch, which was there before the weights were. With
 * staleness it does wait if its weights are older than that round. */
bool schedule_waits_for_batch(const struct schedule *s, int64_t round, int64_t source_round);
/* Sets the seed nodes [*first, *first + *count), in the epoch's shuffled order, that (round, slot)
 * takes. */
void schedule_seed_range(const struct schedule *s, int64_t round, int32_t slot, int64_t *first,
                         int64_t *count);
/* Samplers of clusters: sets the parts [*first, *first + *count), in the epoch's shuffled order,
 * that (round, slot) takes; schedule_shuffled_part() returns the part at a position of that order.
 * An epoch has each part once, and as many mini-batches as that needs. */
void schedule_cluster_range(const struct schedule *s, int64_t round, int32_t slot, int64_t *first,
                            int64_t *count);
int64_t schedule_shuffled_part(const struct schedule *s, int64_t epoch, int64_t position);
/* Returns the index into the ascending training nodes of the node at `position` in that epoch's
 * order. */
int64_t schedule_shuffled(const struct schedule *s, int64_t epoch, int64_t position);
/* Sets the validation nodes [*first, *first + *count) of evaluation slot `slot`. */
void schedule_evaluation_range(const struct schedule *s, int32_t slot, int64_t *first,
                               int64_t *count);
/* Returns whether there is a snapshot (and a validation) of weights `version`. */
bool schedule_has_snapshot(const struct schedule *s, int64_t version);
/* Returns whether the rounds from `version` on wait for its checkpoint. They do with early
 * stopping, and with learnable embeddings: only one version of the rows is held at a time, so
 * validation must read them before a round changes them. */
bool schedule_waits_for_checkpoint(const struct schedule *s, int64_t version);
/* Returns the version of the weights that the gradients of a round are computed with: max(0, round
 * - staleness), or the oldest possible one if the round chooses it. The step of the round applies
 * them to version `round`. No later round needs an older version. */
int64_t schedule_base(const struct schedule *s, int64_t round);
/* Return the last snapshot before `version` (-1: there is none), and the first at or after it. */
int64_t schedule_snapshot_before(const struct schedule *s, int64_t version);
int64_t schedule_snapshot_at_or_after(const struct schedule *s, int64_t version);
/* Returns the lowest layer of inference: 1, or with learnable embeddings 0, the rows that layer 1
 * reads. */
static inline int32_t schedule_first_layer(const struct schedule *s)
{
    return s->embedding_shards > 0 ? 0 : 1;
}
/* Returns the oldest round whose records are still needed when snapshot `version` is the newest
 * and no older one is kept: with reuse_epochs, the sampling pass of the next rounds may begin
 * earlier. */
int64_t schedule_oldest_needed(const struct schedule *s, int64_t version);

#endif
