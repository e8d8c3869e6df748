#include "stages/train-step/rows/error_feedback.h"

#include "common/math/largest_values.h"
#include "store/records/parameter_values.h"
#include "store/records/round/residual.h"

#include <math.h>
#include <string.h>

/* Adds the residual of the slot: the numbers that it has not published so far. */
static enum error_code add_residual(const struct stage_context *context, const struct unit *unit,
                                    float *value, size_t count, struct error *err)
{
    const int64_t before = schedule_slot_before(context->schedule, unit->round, unit->slot);
    struct residual residual = {0};
    if (before < 0)
        return ERROR_NONE;
    const enum error_code rc =
        residual_get(context->store, context->run_id, before, unit->slot, count, &residual, err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < count; i++)
        value[i] += residual.value[i];
    store_release_record(&residual.view);
    const size_t bad = parameter_values_first_bad(value, count);
    return bad == count
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT,
                           "value %zu of the gradient and what was left of those before is %g", bad,
                           (double)value[bad]);
}

/* Returns STORE_DURABLE if the rounds after the next snapshot read this residual. A run that
 * goes on from that snapshot needs it, and does not compute the earlier rounds again. */
static enum store_durability durability(const struct schedule *s, int64_t round)
{
    const int64_t snapshot = schedule_snapshot_at_or_after(s, round + 1);
    return snapshot > 0 && schedule_oldest_residual(s, snapshot) <= round ? STORE_DURABLE
                                                                          : STORE_RECOMPUTABLE;
}

enum error_code error_feedback_apply(const struct stage_context *context, const struct unit *unit,
                                     struct arena *arena, float *value, size_t count,
                                     struct gradient *gradient, struct error *err)
{
    const double share = context->settings->train_step.gradient_kept;
    const size_t kept = gradient->seed_count ? (size_t)ceil(share * (double)count) : 0;
    float *rest = NULL;
    if (gradient->seed_count == 0)
        memset(value, 0, count * sizeof *value);
    enum error_code rc = arena_new(arena, &rest, count, "the rest of the gradient", err);
    if (rc == ERROR_NONE)
        rc = add_residual(context, unit, value, count, err);
    if (rc != ERROR_NONE)
        return rc;
    largest_values_split(value, count, kept, rest);
    for (size_t i = 0; i < count; i++) { /* in each place, one of the two is 0 */
        gradient->squared_error += (double)rest[i] * (double)rest[i];
        gradient->squared_norm +=
            (double)value[i] * (double)value[i] + (double)rest[i] * (double)rest[i];
    }
    return residual_put(context->store, context->run_id, unit->round, unit->slot, rest, count,
                        durability(context->schedule, unit->round), err);
}
