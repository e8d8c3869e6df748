/* The unit of aggregate that adds up a range of the gradients of some slots
 * (stages/plan/chain/gradient_sums.h). */
#include "stages/plan/chain/gradient_sums.h"
#include "stages/plan/chain/unit_row.h"

static enum error_code check(const struct schedule *s, const struct unit *unit,
                             int64_t weights_version, struct error *err)
{
    (void)weights_version;
    const enum error_code rc = unit_check_round(s, unit->round, err);
    return rc == ERROR_NONE
               ? unit_check_number(unit->slot, gradient_sum_count(s, unit->round), "sum", err)
               : rc;
}

static enum error_code waits_for(const struct schedule *s, const struct unit *unit,
                                 int64_t last_version, struct unit_list *out, struct error *err)
{
    const struct gradient_sum sum = gradient_sum_at(s, unit->round, unit->slot);
    struct unit input = {.kind = sum.level ? UNIT_SUM_GRADIENTS : UNIT_TRAIN_STEP,
                         .round = unit->round};
    enum error_code rc = ERROR_NONE;
    (void)last_version;
    for (int32_t i = sum.first; i < sum.first + sum.count && rc == ERROR_NONE; i++) {
        input.slot =
            sum.level ? gradient_sum_number(s, unit->round, sum.level - 1, i, sum.range) : i;
        rc = unit_list_add(out, input, err);
    }
    return rc;
}

static enum error_code sets_free(const struct schedule *s, const struct unit *unit,
                                 int64_t weights_version, struct unit_list *out, struct error *err)
{
    const struct gradient_sum sum = gradient_sum_at(s, unit->round, unit->slot);
    struct unit next = {.kind = UNIT_AGGREGATE, .round = unit->round};
    (void)weights_version;
    if (!sum.is_mean)
        next = (struct unit){
            .kind = UNIT_SUM_GRADIENTS,
            .round = unit->round,
            .slot = gradient_sum_of(s, unit->round, sum.level + 1, sum.group, sum.range)};
    return unit_list_add(out, next, err);
}

static struct key output(const struct schedule *s, const char *run_id, const struct unit *unit)
{
    (void)s;
    return key_gradient_sum(run_id, unit->round, unit->slot);
}

static bool is_covered(const struct schedule *s, const struct chain_state *state,
                       const struct unit *unit)
{
    (void)s;
    return state->stopped || unit->round < state->snapshot_version;
}

const struct unit_row sum_gradients_unit = {
    .name = "sum-gradients",
    .stage = "aggregate",
    .line = LINE_ROUNDS,
    .has_slot = true,
    .replay_option = "sum",
    .recomputable = true,
    .is_made_of_weights = true,
    .retention = RETAINED_ROUNDS,
    .check = check,
    .waits_for = waits_for,
    .sets_free = sets_free,
    .output = output,
    .slot_count = gradient_sum_count,
    .is_covered = is_covered,
};
