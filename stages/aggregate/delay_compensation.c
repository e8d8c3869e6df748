#include "stages/aggregate/delay_compensation.h"

#include "common/numbers/cpu_kernel.h"
#include "store/records/round/parameters.h"

#include <inttypes.h>

double delay_rate_factor(const struct stage_context *context, int64_t round, int64_t base)
{
    if (base == round || context->settings->aggregate.compensation != COMPENSATE_RATE)
        return 1.0;
    return 1.0 / (1.0 + context->settings->aggregate.delay_rate * (double)(round - base));
}

CPU_KERNEL(move,
           (float *restrict gradient, float lambda, const float *restrict now,
            const float *restrict then, size_t count),
           (gradient, lambda, now, then, count))
{
    for (size_t i = 0; i < count; i++)
        gradient[i] += lambda * gradient[i] * gradient[i] * (now[i] - then[i]);
}

enum error_code delay_compensate(const struct stage_context *context, int64_t round, int64_t base,
                                 size_t count, const float *value, float *gradient,
                                 struct error *err)
{
    struct weights then = {0};
    if (!context->schedule->reads_base || base == round)
        return ERROR_NONE;
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = weights_get(context->store, context->run_id, base, &then, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    if (rc == ERROR_NONE && then.value_count < count)
        rc = error_set(err, ERROR_CORRUPT, "record %s: %" PRIu64 " values, expected %zu or more",
                       then.view.key, then.value_count, count);
    if (rc == ERROR_NONE)
        move(gradient, (float)context->settings->aggregate.delay_lambda, value, then.value, count);
    store_release_record(&then.view);
    return rc;
}
