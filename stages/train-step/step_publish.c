#include "stages/train-step/step_publish.h"

#include "stages/plan/gradient_sums.h"
#include "stages/train-step/row_update.h"
#include "store/records/gradient_range.h"

#include <pthread.h>

struct publication {
    const struct stage_context *context;
    const struct unit *unit;
    const struct gradient *gradient;
    uint64_t trained_count;
    struct encoding_work work; /* of whichever thread; told by the unit's own */
    enum error_code rc;
    struct error err;
};

static enum error_code put(struct publication *p, struct error *err)
{
    const struct stage_context *context = p->context;
    const int ranges = gradient_sum_ranges(context->schedule);
    const struct gradient_form form = {
        .encoding = (enum gradient_encoding)context->settings->train_step.gradient,
        .encoded_count = p->trained_count,
        .seed = context->schedule->seed,
        .work = &p->work};
    if (ranges == 0)
        return gradient_put(context->store, context->run_id, p->unit->round, p->unit->slot,
                            p->gradient, &form, err);
    return gradient_put_ranges(context->store, context->run_id, p->unit->round, p->unit->slot,
                               p->gradient, &form, ranges, err);
}

static void *put_beside(void *context)
{
    struct publication *p = context;
    p->rc = put(p, &p->err);
    return NULL;
}

enum error_code step_publish(const struct stage_context *context, const struct unit *unit,
                             const struct gradient *gradient, uint64_t trained_count,
                             struct embedding_state *state, struct arena *arena, struct error *err)
{
    struct publication p = {
        .context = context, .unit = unit, .gradient = gradient, .trained_count = trained_count};
    pthread_t thread;
    if (!state || schedule_slot_count(context->schedule, unit->round) > 1 ||
        gradient_encodes_rows((enum gradient_encoding)context->settings->train_step.gradient) ||
        pthread_create(&thread, NULL, put_beside, &p) != 0) {
        const enum error_code rc = put(&p, err);
        stage_times_add_encoding(context->times, &p.work);
        return rc;
    }
    row_update_with(context, state, unit->round, gradient, arena);
    (void)pthread_join(thread, NULL);
    stage_times_add_encoding(context->times, &p.work);
    if (p.rc == ERROR_NONE)
        return ERROR_NONE;
    embedding_state_begin_anew(state);
    if (err)
        *err = p.err;
    return p.rc;
}
