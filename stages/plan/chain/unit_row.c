#include "stages/plan/chain/unit_row.h"

#include "stages/plan/chain/gradient_sums.h"
#include "stages/plan/chain/layer_pipeline.h"

#include <inttypes.h>

#define UNIT_ROW(number, name) extern const struct unit_row name##_unit;
UNIT_LIST(UNIT_ROW)
#undef UNIT_ROW

#define UNIT_ROW(number, name) [number] = &name##_unit,
static const struct unit_row *const table[UNIT_KIND_COUNT] = {UNIT_LIST(UNIT_ROW)};

const struct unit_row *unit_row_of(enum unit_kind kind)
{
    must(kind > UNIT_UNKNOWN && kind < UNIT_KIND_COUNT);
    return table[kind];
}

bool unit_companion_is_chosen(const struct unit_row *row, const struct schedule *s)
{
    return row->companion_is_chosen && row->companion_is_chosen(s);
}

enum error_code unit_check_round(const struct schedule *s, int64_t round, struct error *err)
{
    if (round >= 0 && round < s->round_count)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "there is no round %" PRId64 ": the run has rounds 0 to %" PRId64, round,
                     s->round_count - 1);
}

/* Checks that `number` is in 0 to count - 1. `what` is its name in the message, e.g. a slot of a
 * round. */
enum error_code unit_check_number(int32_t number, int32_t count, const char *what,
                                  struct error *err)
{
    if (number >= 0 && number < count)
        return ERROR_NONE;
    if (count == 0)
        return error_set(err, ERROR_INVALID, "there is no %s %" PRId32 ": the run has none", what,
                         number);
    return error_set(err, ERROR_INVALID, "there is no %s %" PRId32 ": there are %ss 0 to %" PRId32,
                     what, number, what, count - 1);
}

enum error_code unit_check_slot(const struct schedule *s, const struct unit *unit,
                                int64_t weights_version, struct error *err)
{
    (void)weights_version;
    const enum error_code rc = unit_check_round(s, unit->round, err);
    const int32_t count = rc == ERROR_NONE ? schedule_slot_count(s, unit->round) : 0;
    if (rc != ERROR_NONE || (unit->slot >= 0 && unit->slot < count))
        return rc;
    return error_set(err, ERROR_INVALID,
                     "there is no slot %" PRId32 ": round %" PRId64 " has slots 0 to %" PRId32,
                     unit->slot, unit->round, count - 1);
}

bool unit_step_waits_for_weights(const struct schedule *s)
{
    return gradient_sum_ranges(s) > 0 || s->staleness > 0;
}

enum error_code unit_list_add_maker(struct unit_list *out, int64_t version, struct error *err)
{
    return version == 0 ? unit_list_add_slots(out, UNIT_INITIALISE, 0, 1, err)
                        : unit_list_add_slots(out, UNIT_AGGREGATE, version - 1, 1, err);
}

enum error_code unit_list_add_weights(struct unit_list *out, const struct schedule *s,
                                      int64_t version, struct error *err)
{
    if (schedule_waits_for_checkpoint(s, version))
        return unit_list_add_slots(out, UNIT_CHECKPOINT, version, 1, err);
    return unit_list_add_maker(out, version, err);
}

enum error_code unit_list_add_step(struct unit_list *out, const struct schedule *s, int64_t round,
                                   int32_t slot, struct error *err)
{
    const struct unit whole = {.kind = UNIT_TRAIN_STEP, .round = round, .slot = slot};
    const struct unit first = {.kind = UNIT_STEP_LAYER, .round = round, .slot = slot, .layer = 1};
    return unit_list_add(out, layer_pipeline_passes(s) > 0 ? first : whole, err);
}

enum error_code unit_list_add_steps(struct unit_list *out, const struct schedule *s, int64_t round,
                                    struct error *err)
{
    const int32_t count = round < s->round_count ? schedule_slot_count(s, round) : 0;
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++)
        rc = unit_list_add_step(out, s, round, slot, err);
    return rc;
}

/* Returns the unit that makes the mini-batch of a slot. */
static struct unit batch_of(const struct schedule *s, const struct unit *unit)
{
    struct unit sample = {.kind = UNIT_SAMPLE};
    schedule_batch_source(s, unit->round, unit->slot, &sample.round, &sample.slot);
    return sample;
}

enum error_code unit_list_add_inputs(struct unit_list *out, const struct schedule *s,
                                     const struct unit *unit, struct error *err)
{
    const struct unit sample = batch_of(s, unit);
    enum error_code rc = ERROR_NONE;
    if (schedule_waits_for_batch(s, unit->round, sample.round))
        rc = unit_list_add(out, sample, err);
    if (rc != ERROR_NONE || s->staleness == 0)
        return rc == ERROR_NONE ? unit_list_add_weights(out, s, unit->round, err) : rc;
    return unit_list_add_maker(out, schedule_base(s, unit->round), err);
}

enum error_code unit_list_add_passes(struct unit_list *out, const struct schedule *s,
                                     const struct unit *unit, int32_t pass, struct error *err)
{
    const struct unit sample = batch_of(s, unit);
    enum error_code rc = ERROR_NONE;
    if (pass > 1 || !schedule_waits_for_batch(s, unit->round, sample.round))
        rc = unit_list_add(out, sample, err);
    for (int32_t before = 1; before < pass - 1 && rc == ERROR_NONE; before++) {
        /* A backward pass reads neither the layers above nor their rows, but only what the pass
         * before it left. */
        const int layer = layer_pipeline_pass(s, pass).layer;
        const struct pipeline_pass made = layer_pipeline_pass(s, before);
        if (made.is_backward || made.layer < layer)
            rc = unit_list_add(out,
                               (struct unit){.kind = UNIT_STEP_LAYER,
                                             .round = unit->round,
                                             .slot = unit->slot,
                                             .layer = before},
                               err);
    }
    return rc;
}

int32_t unit_evaluation_slots(const struct schedule *s, int64_t version)
{
    (void)version;
    return s->evaluation_slot_count;
}

enum error_code unit_check_version(const struct schedule *s, int64_t version, struct error *err)
{
    if (version <= s->round_count && schedule_has_snapshot(s, version))
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "there is no snapshot of weights %" PRId64 ": there is one every %" PRId64
                     " rounds, the last of weights %" PRId64,
                     version, s->every_rounds, s->round_count);
}
