#include "stages/train-step/step_loss.h"

#include <inttypes.h>
#include <math.h>

enum error_code step_check_finite(const float *value, uint64_t count, const char *what,
                                  struct error *err)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(value[i]))
            return error_set(err, ERROR_INPUT, "value %" PRIu64 " of the %s is %g", i, what,
                             (double)value[i]);
    return ERROR_NONE;
}

enum error_code step_loss_check(const struct loss_result *loss, const char *what,
                                const float *logits, uint64_t count, struct error *err)
{
    if (!isfinite(loss->sum))
        return error_set(err, ERROR_INPUT, "the loss over %" PRIu64 " %s is %g", loss->label_count,
                         what, loss->sum);
    return step_check_finite(logits, count, "logits", err);
}

enum error_code step_loss_of_seeds(const struct stage_context *context,
                                   const struct loss_rule *rule, const struct step_batch *batch,
                                   const float *logits, const void *labels, float *slope,
                                   struct loss_result *loss, struct error *err)
{
    const uint32_t class_count = context->book->class_count;
    *loss = task_loss(task_of(context->book->task), rule, logits, labels, batch->seed_weight,
                      batch->seed_count, class_count, slope);
    return step_loss_check(loss, "seeds", logits, (uint64_t)batch->seed_count * class_count, err);
}

struct loss_result step_loss_of_slot(const struct loss_result *loss)
{
    struct loss_result slot = *loss;
    if (loss_rows(loss) == 0)
        return (struct loss_result){0};
    if (loss->is_weighted)
        slot.sum = loss_mean(loss) * (double)loss->label_count;
    return slot;
}
