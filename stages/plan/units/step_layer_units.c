/* The unit of train-step that computes one layer for a slot's mini-batch
 * (stages/plan/chain/layer_pipeline.h). */
#include "stages/plan/chain/layer_pipeline.h"
#include "stages/plan/chain/unit_row.h"

static enum error_code check(const struct schedule *s, const struct unit *unit,
                             int64_t weights_version, struct error *err)
{
    const int32_t passes = layer_pipeline_passes(s);
    const enum error_code rc = unit_check_slot(s, unit, weights_version, err);
    if (rc != ERROR_NONE || (unit->layer >= 1 && unit->layer <= passes))
        return rc;
    if (passes == 0)
        return error_set(err, ERROR_INVALID,
                         "there is no pass %d: train-step.pipeline is whole, and a step one unit",
                         (int)unit->layer);
    return error_set(err, ERROR_INVALID,
                     "there is no pass %d: there are passes 1 to %d, and the step itself",
                     (int)unit->layer, (int)passes);
}

static enum error_code waits_for(const struct schedule *s, const struct unit *unit,
                                 int64_t last_version, struct unit_list *out, struct error *err)
{
    const struct unit before = {.kind = UNIT_STEP_LAYER,
                                .round = unit->round,
                                .slot = unit->slot,
                                .layer = unit->layer - 1};
    const struct unit leaves = {.kind = UNIT_TRAIN_STEP,
                                .round = unit->round,
                                .slot = unit->slot - layer_pipeline_window(s)};
    (void)last_version;
    if (unit->layer > 1)
        return unit_list_add(out, before, err);
    const enum error_code rc = unit_list_add_inputs(out, s, unit, err);
    return rc == ERROR_NONE && leaves.slot >= 0 ? unit_list_add(out, leaves, err) : rc;
}

static enum error_code reads(const struct schedule *s, const struct unit *unit,
                             struct unit_list *out, struct error *err)
{
    return unit_list_add_passes(out, s, unit, unit->layer, err);
}

static enum error_code sets_free(const struct schedule *s, const struct unit *unit,
                                 int64_t weights_version, struct unit_list *out, struct error *err)
{
    struct unit next = *unit;
    (void)weights_version;
    next.layer++;
    if (next.layer > layer_pipeline_passes(s))
        next = (struct unit){.kind = UNIT_TRAIN_STEP, .round = unit->round, .slot = unit->slot};
    return unit_list_add(out, next, err);
}

static struct key output(const struct schedule *s, const char *run_id, const struct unit *unit)
{
    /* For a number that no pass has, the key names no record. */
    const bool is_forward = unit->layer >= 1 && unit->layer <= layer_pipeline_passes(s) &&
                            !layer_pipeline_pass(s, unit->layer).is_backward;
    return is_forward ? key_pass_output(run_id, unit->round, unit->layer, unit->slot)
                      : key_pass_gradient(run_id, unit->round, unit->layer, unit->slot);
}

static bool is_covered(const struct schedule *s, const struct chain_state *state,
                       const struct unit *unit)
{
    (void)s;
    return state->stopped || unit->round < state->snapshot_version;
}

/* Passes after the first wait for a pass that has read the same weights. */
static int64_t reads_weights_after(const struct schedule *s, const struct unit *unit)
{
    (void)s;
    return unit->layer > 1 ? unit->round - 1 : unit->round;
}

const struct unit_row step_layer_unit = {
    .name = "step-layer",
    .stage = "train-step",
    .line = LINE_ROUNDS,
    .has_layer = true,
    .has_slot = true,
    .slots_wait_differently = true,
    .replay_option = "pass",
    .recomputable = true,
    .is_made_of_weights = true,
    .retention = RETAINED_ROUNDS,
    .check = check,
    .waits_for = waits_for,
    .reads = reads,
    .sets_free = sets_free,
    .reads_weights_after = reads_weights_after,
    .output = output,
    .slot_count = schedule_slot_count,
    .layer_count = layer_pipeline_passes,
    .is_covered = is_covered,
};
