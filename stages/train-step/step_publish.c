#include "stages/train-step/step_publish.h"

#include "stages/plan/chain/gradient_sums.h"
#include "stages/train-step/rows/row_update.h"
#include "store/records/round/gradient_range.h"

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

void step_publish_begin(struct publication *publication, const struct stage_context *context,
                        const struct unit *unit, const struct gradient *gradient,
                        uint64_t trained_count, struct embedding_state *state, struct arena *arena)
{
    const bool changes_rows =
        state && schedule_slot_count(context->schedule, unit->round) == 1 &&
        !gradient_encodes_rows((enum gradient_encoding)context->settings->train_step.gradient);
    *publication = (struct publication){.context = context,
                                        .unit = unit,
                                        .gradient = gradient,
                                        .trained_count = trained_count,
                                        .state = changes_rows ? state : NULL};
    /* Both threads only read the gradient, so no lock is needed. The rows change before the
     * record is stored. They exist in this process only: after a crash they are computed again
     * from stored gradients, and after a failed write step_publish_undo() discards them. */
    publication->is_beside =
        changes_rows && pthread_create(&publication->thread, NULL, put_beside, publication) == 0;
    if (!publication->is_beside)
        publication->rc = put(publication, &publication->err);
    if (changes_rows)
        row_update_with(context, state, unit->round, gradient, arena);
}

enum error_code step_publish_end(struct publication *publication, struct error *err)
{
    if (publication->is_beside)
        (void)pthread_join(publication->thread, NULL);
    stage_times_add_encoding(publication->context->times, &publication->work);
    if (publication->rc != ERROR_NONE && err)
        *err = publication->err;
    return publication->rc;
}

void step_publish_undo(struct publication *publication)
{
    if (publication->state)
        embedding_state_begin_anew(publication->state);
}
