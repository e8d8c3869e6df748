/* The units of sample: mini-batches of training, and units that are done once: mini-batches of
 * validation nodes, and counts of walks. */
#include "stages/plan/chain/unit_row.h"

#include <inttypes.h>

static enum error_code check_sample(const struct schedule *s, const struct unit *unit,
                                    int64_t weights_version, struct error *err)
{
    const enum error_code rc = unit_check_slot(s, unit, weights_version, err);
    if (rc != ERROR_NONE || schedule_samples(s, unit->round))
        return rc;
    return error_set(err, ERROR_INVALID,
                     "round %" PRId64 " has no mini-batches of its own: with sample.reuse_epochs "
                     "%" PRId64 " it takes those of an earlier epoch",
                     unit->round, s->reuse_epochs);
}

/* Sampling runs ahead of training by a bounded number of rounds. */
static enum error_code sample_waits_for(const struct schedule *s, const struct unit *unit,
                                        int64_t last_version, struct unit_list *out,
                                        struct error *err)
{
    (void)last_version;
    if (unit->round <= s->run_ahead)
        return unit_list_add_slots(out, UNIT_COUNT_WALKS, 0, s->counts_walks, err);
    return unit_list_add_slots(out, UNIT_AGGREGATE, unit->round - s->run_ahead - 1, 1, err);
}

/* The rounds after the first ones do not wait for the counts, but read them, too. */
static enum error_code sample_reads(const struct schedule *s, const struct unit *unit,
                                    struct unit_list *out, struct error *err)
{
    if (unit->round <= s->run_ahead)
        return ERROR_NONE;
    return unit_list_add_slots(out, UNIT_COUNT_WALKS, 0, s->counts_walks, err);
}

/* Adds the step of a later round that trains on this mini-batch again, if `round` is one. */
static enum error_code add_step_again(const struct schedule *s, const struct unit *unit,
                                      int64_t round, struct unit_list *out, struct error *err)
{
    for (int32_t slot = 0; slot < schedule_slot_count(s, round); slot++) {
        int64_t source_round = 0;
        int32_t source_slot = 0;
        schedule_batch_source(s, round, slot, &source_round, &source_slot);
        if (source_round == unit->round && source_slot == unit->slot)
            return unit_list_add_step(out, s, round, slot, err);
    }
    return ERROR_NONE;
}

static enum error_code sample_sets_free(const struct schedule *s, const struct unit *unit,
                                        int64_t weights_version, struct unit_list *out,
                                        struct error *err)
{
    const int64_t last = unit->round + s->staleness;
    enum error_code rc = unit_list_add_step(out, s, unit->round, unit->slot, err);
    (void)weights_version;
    for (int64_t round = unit->round + 1; round <= last && round < s->round_count; round++)
        if (rc == ERROR_NONE && !schedule_samples(s, round))
            rc = add_step_again(s, unit, round, out, err);
    return rc;
}

static struct key sample_output(const struct schedule *s, const char *run_id,
                                const struct unit *unit)
{
    (void)s;
    return key_mini_batch(run_id, unit->round, unit->slot);
}

/* With reuse_epochs the mini-batch may be used by later rounds. */
static bool sample_is_covered(const struct schedule *s, const struct chain_state *state,
                              const struct unit *unit)
{
    const int64_t version = state->snapshot_version;
    return state->stopped || (version > 0 && unit->round < schedule_oldest_needed(s, version));
}

/* Return the nearest rounds for which mini-batches are made: those of the first epoch of each
 * sampling pass. */
static int64_t sampled_round_before(const struct schedule *s, int64_t round)
{
    const int64_t before = round - 1;
    if (before < 0 || schedule_samples(s, before))
        return before;
    const int64_t epoch = schedule_epoch(s, before);
    return (epoch - epoch % s->reuse_epochs + 1) * s->rounds_per_epoch - 1;
}

static int64_t sampled_round_after(const struct schedule *s, int64_t round)
{
    const int64_t after = round + 1;
    if (schedule_samples(s, after))
        return after;
    const int64_t epoch = schedule_epoch(s, after);
    return (epoch - epoch % s->reuse_epochs + s->reuse_epochs) * s->rounds_per_epoch;
}

const struct unit_row sample_unit = {
    .name = "sample",
    .stage = "sample",
    .line = LINE_ROUNDS,
    .has_slot = true,
    .recomputable = true,
    .retention = RETAINED_PASSES,
    .check = check_sample,
    .waits_for = sample_waits_for,
    .reads = sample_reads,
    .sets_free = sample_sets_free,
    .output = sample_output,
    .slot_count = schedule_slot_count,
    .number_before = sampled_round_before,
    .number_after = sampled_round_after,
    .is_covered = sample_is_covered,
};

static enum error_code check_evaluation(const struct schedule *s, const struct unit *unit,
                                        int64_t weights_version, struct error *err)
{
    (void)weights_version;
    return unit_check_number(unit->slot, s->evaluation_slot_count, "validation slot", err);
}

static enum error_code evaluation_sets_free(const struct schedule *s, const struct unit *unit,
                                            int64_t weights_version, struct unit_list *out,
                                            struct error *err)
{
    const struct unit evaluate = {
        .kind = UNIT_EVALUATE, .round = schedule_snapshot_at_or_after(s, 1), .slot = unit->slot};
    (void)weights_version;
    return unit_list_add(out, evaluate, err);
}

static struct key evaluation_output(const struct schedule *s, const char *run_id,
                                    const struct unit *unit)
{
    (void)s;
    return key_evaluation_mini_batch(run_id, unit->slot);
}

static bool evaluation_is_covered(const struct schedule *s, const struct chain_state *state,
                                  const struct unit *unit)
{
    (void)s, (void)unit;
    return state->stopped;
}

const struct unit_row sample_evaluation_unit = {
    .name = "sample-evaluation",
    .stage = "sample",
    .has_slot = true,
    .replay_option = "evaluation",
    .recomputable = true,
    .is_beside_snapshot = true,
    .check = check_evaluation,
    .sets_free = evaluation_sets_free,
    .output = evaluation_output,
    .slot_count = unit_evaluation_slots,
    .is_covered = evaluation_is_covered,
};

static int32_t count_walks_slots(const struct schedule *s, int64_t version)
{
    (void)version;
    return s->counts_walks;
}

static enum error_code check_count_walks(const struct schedule *s, const struct unit *unit,
                                         int64_t weights_version, struct error *err)
{
    (void)weights_version;
    return unit_check_number(unit->slot, s->counts_walks, "count of walks", err);
}

static enum error_code count_walks_sets_free(const struct schedule *s, const struct unit *unit,
                                             int64_t weights_version, struct unit_list *out,
                                             struct error *err)
{
    (void)unit, (void)weights_version;
    return unit_list_add_first_samples(out, s, err);
}

static struct key count_walks_output(const struct schedule *s, const char *run_id,
                                     const struct unit *unit)
{
    (void)s, (void)unit;
    return key_walk_counts(run_id);
}

const struct unit_row count_walks_unit = {
    .name = "count-walks",
    .stage = "sample",
    .replay_option = "walks",
    .recomputable = true,
    .is_beside_snapshot = true,
    .check = check_count_walks,
    .sets_free = count_walks_sets_free,
    .output = count_walks_output,
    .slot_count = count_walks_slots,
    .is_covered = evaluation_is_covered,
};
