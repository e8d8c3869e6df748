/* The unit of checkpoint: a snapshot. */
#include "stages/plan/chain/unit_row.h"

static enum error_code check(const struct schedule *s, const struct unit *unit,
                             int64_t weights_version, struct error *err)
{
    (void)weights_version;
    return unit_check_version(s, unit->round, err);
}

static enum error_code waits_for(const struct schedule *s, const struct unit *unit,
                                 int64_t last_version, struct unit_list *out, struct error *err)
{
    const int64_t before = schedule_snapshot_before(s, unit->round);
    enum error_code rc = ERROR_NONE;
    (void)last_version;
    if (before > 0)
        rc = unit_list_add_slots(out, UNIT_CHECKPOINT, before, 1, err);
    if (rc == ERROR_NONE)
        rc = unit_list_add_slots(out, UNIT_SEAL_ROWS, unit->round, s->embedding_shards, err);
    if (rc == ERROR_NONE && s->evaluation_slot_count == 0)
        rc = unit_list_add_slots(out, UNIT_AGGREGATE, unit->round - 1, 1, err);
    return rc == ERROR_NONE
               ? unit_list_add_slots(out, UNIT_EVALUATE, unit->round, s->evaluation_slot_count, err)
               : rc;
}

/* The checkpoint that ends the run says which weights inference uses, so it sets inference free. */
static enum error_code sets_free(const struct schedule *s, const struct unit *unit,
                                 int64_t weights_version, struct unit_list *out, struct error *err)
{
    if (weights_version >= 0 && s->infers_some)
        return unit_list_add_slots(out, UNIT_OUTPUTS, weights_version, 1, err);
    if (weights_version >= 0)
        return unit_list_add_layer(out, s, weights_version, schedule_first_layer(s), err);
    const int64_t next = schedule_snapshot_at_or_after(s, unit->round + 1);
    enum error_code rc = ERROR_NONE;
    if (next > unit->round)
        rc = unit_list_add_slots(out, UNIT_CHECKPOINT, next, 1, err);
    if (rc != ERROR_NONE || !schedule_waits_for_checkpoint(s, unit->round))
        return rc;
    if (s->staleness == 0)
        rc = unit_list_add_steps(out, s, unit->round, err);
    return rc == ERROR_NONE && unit_step_waits_for_weights(s) && unit->round < s->round_count
               ? unit_list_add_slots(out, UNIT_AGGREGATE, unit->round, 1, err)
               : rc;
}

static int64_t reads_weights_after(const struct schedule *s, const struct unit *unit)
{
    (void)s;
    return unit->round - 1;
}

static struct key output(const struct schedule *s, const char *run_id, const struct unit *unit)
{
    (void)s;
    return key_snapshot(run_id, unit->round);
}

static bool is_covered(const struct schedule *s, const struct chain_state *state,
                       const struct unit *unit)
{
    (void)s;
    return state->stopped || unit->round <= state->snapshot_version;
}

const struct unit_row checkpoint_unit = {
    .name = "checkpoint",
    .stage = "checkpoint",
    .line = LINE_VERSIONS,
    .may_end_run = true,
    .retention = RETAINED_SNAPSHOTS,
    .check = check,
    .waits_for = waits_for,
    .sets_free = sets_free,
    .reads_weights_after = reads_weights_after,
    .output = output,
    .is_covered = is_covered,
    .done_when_covered = true,
};
