/* The units of train-step: the gradient of a mini-batch, the validation of weights on a mini-batch,
 * and the sealing of learnable rows. */
#include "stages/plan/chain/gradient_sums.h"
#include "stages/plan/chain/layer_pipeline.h"
#include "stages/plan/chain/unit_row.h"

/* Adds the units whose records make the learnable rows of `version`: the gradients of the rounds
 * since version `sealed`, whose rows are sealed (0 or -1: the first rows). */
static enum error_code add_row_gradients(const struct schedule *s, int64_t sealed, int64_t version,
                                         struct unit_list *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (s->embedding_shards == 0)
        return ERROR_NONE;
    for (int64_t round = sealed > 0 ? sealed : 0; round < version && rc == ERROR_NONE; round++)
        rc = unit_list_add_round(out, s, UNIT_TRAIN_STEP, round, err);
    return rc;
}

/* Adds the step whose residual the step of the same slot in a later round adds; nothing if round is
 * -1. */
static enum error_code add_step(int64_t round, int32_t slot, struct unit_list *out,
                                struct error *err)
{
    const struct unit step = {.kind = UNIT_TRAIN_STEP, .round = round, .slot = slot};
    return round >= 0 ? unit_list_add(out, step, err) : ERROR_NONE;
}

/* Adds the pass before this one, which is the last; without a pipeline, the units that a step
 * begins with. */
static enum error_code add_before(const struct schedule *s, const struct unit *unit,
                                  struct unit_list *out, struct error *err)
{
    const struct unit before = {.kind = UNIT_STEP_LAYER,
                                .round = unit->round,
                                .slot = unit->slot,
                                .layer = layer_pipeline_passes(s)};
    return before.layer > 0 ? unit_list_add(out, before, err)
                            : unit_list_add_inputs(out, s, unit, err);
}

static enum error_code step_waits_for(const struct schedule *s, const struct unit *unit,
                                      int64_t last_version, struct unit_list *out,
                                      struct error *err)
{
    const enum error_code rc = add_before(s, unit, out, err);
    (void)last_version;
    return rc == ERROR_NONE && s->keeps_residuals
               ? add_step(schedule_slot_before(s, unit->round, unit->slot), unit->slot, out, err)
               : rc;
}

static enum error_code step_reads(const struct schedule *s, const struct unit *unit,
                                  struct unit_list *out, struct error *err)
{
    const int64_t sealed = schedule_has_snapshot(s, unit->round)
                               ? unit->round
                               : schedule_snapshot_before(s, unit->round);
    const enum error_code rc = add_row_gradients(s, sealed, unit->round, out, err);
    return rc == ERROR_NONE ? unit_list_add_passes(out, s, unit, layer_pipeline_passes(s) + 1, err)
                            : rc;
}

/* Adds the slot that may enter the pipeline when this one leaves it. */
static enum error_code add_entering(const struct schedule *s, const struct unit *unit,
                                    struct unit_list *out, struct error *err)
{
    const int32_t slot = unit->slot + layer_pipeline_window(s);
    return layer_pipeline_passes(s) > 0 && slot < schedule_slot_count(s, unit->round)
               ? unit_list_add_step(out, s, unit->round, slot, err)
               : ERROR_NONE;
}

static enum error_code step_sets_free(const struct schedule *s, const struct unit *unit,
                                      int64_t weights_version, struct unit_list *out,
                                      struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)weights_version;
    if (s->keeps_residuals)
        rc = add_step(schedule_slot_after(s, unit->round, unit->slot), unit->slot, out, err);
    if (rc == ERROR_NONE)
        rc = add_entering(s, unit, out, err);
    if (rc == ERROR_NONE && gradient_sum_count(s, unit->round) == 0)
        return unit_list_add_slots(out, UNIT_AGGREGATE, unit->round, 1, err);
    for (int range = 0; range < gradient_sum_ranges(s) && rc == ERROR_NONE; range++) {
        const int32_t sum = gradient_sum_of(s, unit->round, 0, unit->slot, range);
        rc = unit_list_add(
            out, (struct unit){.kind = UNIT_SUM_GRADIENTS, .round = unit->round, .slot = sum}, err);
    }
    return rc;
}

static struct key step_output(const struct schedule *s, const char *run_id, const struct unit *unit)
{
    (void)s;
    return key_gradient(run_id, unit->round, unit->slot);
}

static struct key step_piece(const char *run_id, const struct unit *unit, int index)
{
    return key_gradient_range(run_id, unit->round, unit->slot, index);
}

static struct key step_companion(const struct schedule *s, const char *run_id,
                                 const struct unit *unit)
{
    if (s->chooses_base)
        return key_round_base(run_id, unit->round);
    return s->keeps_residuals ? key_residual(run_id, unit->round, unit->slot) : (struct key){""};
}

static bool step_companion_is_chosen(const struct schedule *s)
{
    return s->chooses_base;
}

/* A choice is kept as long as the run. */
static int64_t step_companion_oldest(const struct schedule *s, int64_t oldest)
{
    return s->chooses_base ? 0 : schedule_oldest_residual(s, oldest);
}

static bool step_is_covered(const struct schedule *s, const struct chain_state *state,
                            const struct unit *unit)
{
    (void)s;
    return state->stopped || unit->round < state->snapshot_version;
}

/* In a pipeline the last pass waits for a pass that has read the same weights, and reads the
 * weights itself. */
static int64_t step_reads_weights_after(const struct schedule *s, const struct unit *unit)
{
    return layer_pipeline_passes(s) > 0 ? unit->round - 1 : unit->round;
}

const struct unit_row train_step_unit = {
    .name = "train-step",
    .stage = "train-step",
    .line = LINE_ROUNDS,
    .has_slot = true,
    .recomputable = true,
    .is_made_of_weights = true,
    .reads_embeddings = true,
    .retention = RETAINED_ROUNDS,
    .check = unit_check_slot,
    .waits_for = step_waits_for,
    .reads = step_reads,
    .sets_free = step_sets_free,
    .reads_weights_after = step_reads_weights_after,
    .output = step_output,
    .piece_count = gradient_sum_ranges,
    .piece = step_piece,
    .companion = step_companion,
    .companion_oldest = step_companion_oldest,
    .companion_is_chosen = step_companion_is_chosen,
    .slot_count = schedule_slot_count,
    .is_covered = step_is_covered,
};

static enum error_code check_evaluate(const struct schedule *s, const struct unit *unit,
                                      int64_t weights_version, struct error *err)
{
    const enum error_code rc =
        unit_check_number(unit->slot, s->evaluation_slot_count, "validation slot", err);
    (void)weights_version;
    return rc == ERROR_NONE ? unit_check_version(s, unit->round, err) : rc;
}

static enum error_code evaluate_waits_for(const struct schedule *s, const struct unit *unit,
                                          int64_t last_version, struct unit_list *out,
                                          struct error *err)
{
    const int64_t before = schedule_snapshot_before(s, unit->round);
    const struct unit first = {.kind = UNIT_SAMPLE_EVALUATION, .slot = unit->slot};
    const struct unit next = {.kind = UNIT_EVALUATE, .round = before, .slot = unit->slot};
    (void)last_version;
    const enum error_code rc = unit_list_add(out, before > 0 ? next : first, err);
    return rc == ERROR_NONE ? unit_list_add_slots(out, UNIT_AGGREGATE, unit->round - 1, 1, err)
                            : rc;
}

static enum error_code evaluate_reads(const struct schedule *s, const struct unit *unit,
                                      struct unit_list *out, struct error *err)
{
    const struct unit sample = {.kind = UNIT_SAMPLE_EVALUATION, .slot = unit->slot};
    const int64_t before = schedule_snapshot_before(s, unit->round);
    const enum error_code rc = add_row_gradients(s, before, unit->round, out, err);
    return rc == ERROR_NONE && before > 0 ? unit_list_add(out, sample, err) : rc;
}

static enum error_code evaluate_sets_free(const struct schedule *s, const struct unit *unit,
                                          int64_t weights_version, struct unit_list *out,
                                          struct error *err)
{
    const struct unit next = {.kind = UNIT_EVALUATE,
                              .round = schedule_snapshot_at_or_after(s, unit->round + 1),
                              .slot = unit->slot};
    const enum error_code rc = unit_list_add_slots(out, UNIT_CHECKPOINT, unit->round, 1, err);
    (void)weights_version;
    return rc == ERROR_NONE && next.round > unit->round ? unit_list_add(out, next, err) : rc;
}

static struct key evaluate_output(const struct schedule *s, const char *run_id,
                                  const struct unit *unit)
{
    (void)s;
    return key_evaluation(run_id, unit->round, unit->slot);
}

static bool evaluate_is_covered(const struct schedule *s, const struct chain_state *state,
                                const struct unit *unit)
{
    (void)s;
    return state->stopped || unit->round <= state->snapshot_version;
}

const struct unit_row evaluate_unit = {
    .name = "evaluate",
    .stage = "train-step",
    .line = LINE_VERSIONS,
    .has_slot = true,
    .replay_option = "evaluation",
    .recomputable = true,
    .is_made_of_weights = true,
    .reads_embeddings = true,
    .retention = RETAINED_ROUNDS,
    .is_beside_snapshot = true,
    .check = check_evaluate,
    .waits_for = evaluate_waits_for,
    .reads = evaluate_reads,
    .sets_free = evaluate_sets_free,
    .output = evaluate_output,
    .slot_count = unit_evaluation_slots,
    .is_covered = evaluate_is_covered,
};

/* --- rows of learnable embeddings --- */

static int32_t shards_of_rows(const struct schedule *s, int64_t number)
{
    (void)number;
    return s->embedding_shards;
}

static enum error_code check_seal_rows(const struct schedule *s, const struct unit *unit,
                                       int64_t weights_version, struct error *err)
{
    (void)weights_version;
    const enum error_code rc = unit_check_version(s, unit->round, err);
    return rc == ERROR_NONE ? unit_check_number(unit->slot, s->embedding_shards, "shard", err) : rc;
}

/* When the weights are there, all gradients of the round are there, too. */
static enum error_code seal_rows_waits_for(const struct schedule *s, const struct unit *unit,
                                           int64_t last_version, struct unit_list *out,
                                           struct error *err)
{
    (void)s, (void)last_version;
    return unit_list_add_slots(out, UNIT_AGGREGATE, unit->round - 1, 1, err);
}

static enum error_code seal_rows_reads(const struct schedule *s, const struct unit *unit,
                                       struct unit_list *out, struct error *err)
{
    return add_row_gradients(s, schedule_snapshot_before(s, unit->round), unit->round, out, err);
}

static enum error_code seal_rows_sets_free(const struct schedule *s, const struct unit *unit,
                                           int64_t weights_version, struct unit_list *out,
                                           struct error *err)
{
    (void)s, (void)weights_version;
    return unit_list_add_slots(out, UNIT_CHECKPOINT, unit->round, 1, err);
}

static struct key seal_rows_output(const struct schedule *s, const char *run_id,
                                   const struct unit *unit)
{
    (void)s;
    return key_embedding_seal(run_id, unit->round, unit->slot);
}

static bool seal_rows_is_covered(const struct schedule *s, const struct chain_state *state,
                                 const struct unit *unit)
{
    (void)s;
    return state->stopped || unit->round <= state->snapshot_version;
}

const struct unit_row seal_rows_unit = {
    .name = "seal-rows",
    .stage = "train-step",
    .line = LINE_VERSIONS,
    .has_slot = true,
    .replay_option = "seal",
    .recomputable = true,
    .reads_embeddings = true,
    .retention = RETAINED_SNAPSHOTS,
    .is_beside_snapshot = true,
    .check = check_seal_rows,
    .waits_for = seal_rows_waits_for,
    .reads = seal_rows_reads,
    .sets_free = seal_rows_sets_free,
    .output = seal_rows_output,
    .slot_count = shards_of_rows,
    .is_covered = seal_rows_is_covered,
};
