/* The units of aggregate: the first weights, and the weights that the gradients of a round make. */
#include "stages/plan/chain/gradient_sums.h"
#include "stages/plan/chain/unit_row.h"

/* Adds the step of round `round`, whose weights may now be read. */
static enum error_code add_step(struct unit_list *out, const struct schedule *s, int64_t round,
                                struct error *err)
{
    if (!unit_step_waits_for_weights(s) || round >= s->round_count)
        return ERROR_NONE;
    return unit_list_add_slots(out, UNIT_AGGREGATE, round, 1, err);
}

static enum error_code check_initialise(const struct schedule *s, const struct unit *unit,
                                        int64_t weights_version, struct error *err)
{
    (void)s, (void)unit, (void)weights_version, (void)err;
    return ERROR_NONE;
}

static enum error_code initialise_sets_free(const struct schedule *s, const struct unit *unit,
                                            int64_t weights_version, struct unit_list *out,
                                            struct error *err)
{
    (void)unit, (void)weights_version;
    enum error_code rc = ERROR_NONE;
    for (int64_t round = 0; rc == ERROR_NONE && round <= s->staleness && round < s->round_count;
         round++)
        rc = unit_list_add_steps(out, s, round, err);
    return rc == ERROR_NONE ? add_step(out, s, 0, err) : rc;
}

static struct key initialise_output(const struct schedule *s, const char *run_id,
                                    const struct unit *unit)
{
    (void)s, (void)unit;
    return key_weights(run_id, 0);
}

static struct key initialise_companion(const struct schedule *s, const char *run_id,
                                       const struct unit *unit)
{
    (void)s, (void)unit;
    return key_optimizer_state(run_id, 0);
}

static bool initialise_is_covered(const struct schedule *s, const struct chain_state *state,
                                  const struct unit *unit)
{
    (void)s, (void)unit;
    return state->snapshot_version >= 0;
}

const struct unit_row initialise_unit = {
    .name = "initialise",
    .stage = "aggregate",
    .replay_option = "initial",
    .recomputable = true,
    .retention = RETAINED_BASES,
    .is_in_snapshot = true,
    .check = check_initialise,
    .sets_free = initialise_sets_free,
    .output = initialise_output,
    .companion = initialise_companion,
    .is_covered = initialise_is_covered,
};

static enum error_code check_aggregate(const struct schedule *s, const struct unit *unit,
                                       int64_t weights_version, struct error *err)
{
    (void)weights_version;
    return unit_check_round(s, unit->round, err);
}

static enum error_code aggregate_waits_for(const struct schedule *s, const struct unit *unit,
                                           int64_t last_version, struct unit_list *out,
                                           struct error *err)
{
    const int32_t sums = gradient_sum_count(s, unit->round);
    const int32_t first = sums ? gradient_sum_first_mean(s, unit->round) : 0;
    enum error_code rc = ERROR_NONE;
    (void)last_version;
    if (sums == 0)
        rc = unit_list_add_round(out, s, UNIT_TRAIN_STEP, unit->round, err);
    for (int32_t sum = first; sum < sums && rc == ERROR_NONE; sum++)
        rc = unit_list_add(
            out, (struct unit){.kind = UNIT_SUM_GRADIENTS, .round = unit->round, .slot = sum}, err);
    return rc == ERROR_NONE && unit_step_waits_for_weights(s)
               ? unit_list_add_weights(out, s, unit->round, err)
               : rc;
}

/* Adds the next round, unless it waits for a checkpoint (with staleness only its aggregate is
 * added, and the gradients of a later round); the validation of the new weights and the sealed rows
 * beside their snapshot; and the samples that may be drawn now. */
static enum error_code aggregate_sets_free(const struct schedule *s, const struct unit *unit,
                                           int64_t weights_version, struct unit_list *out,
                                           struct error *err)
{
    const int64_t version = unit->round + 1, ahead = unit->round + s->run_ahead + 1;
    enum error_code rc = ERROR_NONE;
    (void)weights_version;
    if (s->staleness > 0 || !schedule_waits_for_checkpoint(s, version))
        rc = unit_list_add_steps(out, s, version + s->staleness, err);
    if (rc == ERROR_NONE && !schedule_waits_for_checkpoint(s, version))
        rc = add_step(out, s, version, err);
    if (rc == ERROR_NONE && schedule_has_snapshot(s, version))
        rc = s->evaluation_slot_count
                 ? unit_list_add_slots(out, UNIT_EVALUATE, version, s->evaluation_slot_count, err)
                 : unit_list_add_slots(out, UNIT_CHECKPOINT, version, 1, err);
    if (rc == ERROR_NONE && schedule_has_snapshot(s, version))
        rc = unit_list_add_slots(out, UNIT_SEAL_ROWS, version, s->embedding_shards, err);
    if (rc == ERROR_NONE && schedule_samples(s, ahead))
        rc = unit_list_add_round(out, s, UNIT_SAMPLE, ahead, err);
    return rc;
}

/* Adds the units that make the weights that the gradients were computed with, if the gradients
 * are corrected by the change since then. If these weights are chosen, chosen_base_reads() knows
 * them. */
static enum error_code aggregate_reads(const struct schedule *s, const struct unit *unit,
                                       struct unit_list *out, struct error *err)
{
    const int64_t base = schedule_base(s, unit->round);
    return s->reads_base && !s->chooses_base && base < unit->round
               ? unit_list_add_maker(out, base, err)
               : ERROR_NONE;
}

/* A round that makes a snapshot reports all rounds since the last snapshot, so it reads their
 * weights. */
static int64_t aggregate_reads_weights_after(const struct schedule *s, const struct unit *unit)
{
    const int64_t own = unit->round - 1; /* it reads version unit->round in any case */
    const int64_t before = schedule_has_snapshot(s, unit->round + 1)
                               ? schedule_snapshot_before(s, unit->round + 1)
                               : own;
    return before < own ? before : own;
}

static struct key aggregate_output(const struct schedule *s, const char *run_id,
                                   const struct unit *unit)
{
    (void)s;
    return key_weights(run_id, unit->round + 1);
}

static struct key aggregate_companion(const struct schedule *s, const char *run_id,
                                      const struct unit *unit)
{
    (void)s;
    return key_optimizer_state(run_id, unit->round + 1);
}

static bool aggregate_is_covered(const struct schedule *s, const struct chain_state *state,
                                 const struct unit *unit)
{
    (void)s;
    return state->stopped || unit->round < state->snapshot_version;
}

const struct unit_row aggregate_unit = {
    .name = "aggregate",
    .stage = "aggregate",
    .line = LINE_ROUNDS,
    .recomputable = true,
    .retention = RETAINED_BASES,
    .is_in_snapshot = true,
    .begun_by = UNIT_INITIALISE,
    .check = check_aggregate,
    .waits_for = aggregate_waits_for,
    .reads = aggregate_reads,
    .sets_free = aggregate_sets_free,
    .reads_weights_after = aggregate_reads_weights_after,
    .output = aggregate_output,
    .companion = aggregate_companion,
    .is_covered = aggregate_is_covered,
};
