#include "stages/aggregate/gradient_sum.h"

#include "common/nn/running_statistics.h"
#include "stages/plan/chain/gradient_sums.h"
#include "store/objects/keys.h"
#include "store/records/round/gradient_range.h"

#include <inttypes.h>
#include <string.h>

/* --- one range --- */

/* The state of a unit. */
struct summing {
    const struct gradient_adder *adder;
    struct gradient_sum sum;
    uint64_t first, end; /* its range of values */
    /* NULL: this range has none, or the model has none. */
    double *statistics;
};

static int range_count(const struct gradient_adder *adder)
{
    return gradient_sum_ranges(adder->context->schedule);
}

static void set_range(struct summing *summing, int range)
{
    const struct gradient_adder *adder = summing->adder;
    gradient_range_bounds(adder->model->trained_count, adder->model->value_count,
                          range_count(adder), range, &summing->first, &summing->end);
    summing->statistics = range + 1 == range_count(adder) ? adder->statistics : NULL;
}

/* Returns how many statistics of batch norms a sum of this range has. */
static size_t statistics_of(const struct summing *summing)
{
    return summing->statistics ? running_statistics_size(summing->adder->model) : 0;
}

/* Checks a range that was read. `wants_sum`: it must have doubles. `statistics`: how many it must
 * have. */
static enum error_code check_range(const struct summing *summing,
                                   const struct gradient_range *range, bool wants_sum,
                                   size_t statistics, struct error *err)
{
    const struct gradient_adder *adder = summing->adder;
    if (range->weights_version != (uint64_t)adder->base)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: made from weights version %" PRIu64 ", expected %" PRId64,
                         range->view.key, range->weights_version, adder->base);
    if (range->value_count != adder->model->value_count || range->first != summing->first ||
        range->count != summing->end - summing->first || !range->sum == wants_sum ||
        range->statistics_count != statistics)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: %s %" PRIu64 " to %" PRIu64 " of %" PRIu64 " and %" PRIu64
                         " statistics, expected %s %" PRIu64 " to %" PRIu64 " of %" PRIu64
                         " and %zu",
                         range->view.key, range->sum ? "sums" : "values", range->first,
                         range->first + range->count, range->value_count, range->statistics_count,
                         wants_sum ? "sums" : "values", summing->first, summing->end,
                         adder->model->value_count, statistics);
    return ERROR_NONE;
}

static struct key key_of_input(const void *opaque, size_t index)
{
    const struct summing *summing = opaque;
    const struct stage_context *context = summing->adder->context;
    const int64_t round = summing->adder->round;
    const struct gradient_sum *sum = &summing->sum;
    const int32_t input = sum->first + (int32_t)index;
    if (sum->level == 0)
        return key_gradient_range(context->run_id, round, input, sum->range);
    return key_gradient_sum(
        context->run_id, round,
        gradient_sum_number(context->schedule, round, sum->level - 1, input, sum->range));
}

/* Adds the values of a slot, which move into the mean. */
static void add_slot(struct summing *summing, struct gradient_range *range)
{
    const struct gradient_adder *adder = summing->adder;
    struct gradient gradient = {.value_count = range->count,
                                .value = range->value,
                                .seed_count = range->seed_count,
                                .correct_count = range->correct_count,
                                .loss_sum = range->loss_sum,
                                .squared_error = range->squared_error,
                                .squared_norm = range->squared_norm,
                                .view = range->view,
                                .decoded = range->decoded};
    if (summing->statistics)
        running_statistics_add(adder->model, summing->statistics,
                               range->value + (adder->model->trained_count - summing->first));
    range->view = (struct record_view){0};
    range->decoded = NULL;
    gradient_mean_add(adder->mean, &gradient);
}

static enum error_code add_input(void *context, size_t index, struct gradient_range *range,
                                 struct error *err)
{
    struct summing *summing = context;
    const struct gradient_adder *adder = summing->adder;
    const bool is_sum = summing->sum.level > 0;
    const enum error_code rc =
        check_range(summing, range, is_sum, is_sum ? statistics_of(summing) : 0, err);
    (void)index;
    if (rc != ERROR_NONE)
        return rc;
    stage_times_add_encoding(adder->context->times,
                             &(struct encoding_work){.seconds = range->decode_seconds});
    stage_times_enter(adder->context->times, TIME_COMPUTE);
    if (!is_sum) {
        add_slot(summing, range);
    } else {
        gradient_mean_add_sum(adder->mean, range);
        if (summing->statistics)
            running_statistics_merge(adder->model, summing->statistics, range->statistics);
    }
    stage_times_enter(adder->context->times, TIME_READ);
    return ERROR_NONE;
}

static enum error_code add_inputs(struct summing *summing, struct error *err)
{
    const struct gradient_adder *adder = summing->adder;
    const struct gradient_range_series series = {.count = (size_t)summing->sum.count,
                                                 .together = adder->together,
                                                 .key = key_of_input,
                                                 .visit = add_input,
                                                 .context = summing};
    gradient_mean_reset_to(adder->mean, summing->end - summing->first);
    if (summing->statistics)
        running_statistics_reset(adder->model, summing->statistics);
    stage_times_enter(adder->context->times, TIME_READ);
    return gradient_range_get_each(adder->context->store, adder->context->run_id, &series, err);
}

static enum error_code put_sum(const struct summing *summing, int32_t number, struct error *err)
{
    const struct gradient_adder *adder = summing->adder;
    const struct gradient_mean *mean = adder->mean;
    const struct key key = key_gradient_sum(adder->context->run_id, adder->round, number);
    const struct gradient_range range = {.weights_version = (uint64_t)adder->base,
                                         .first = summing->first,
                                         .count = summing->end - summing->first,
                                         .value_count = adder->model->value_count,
                                         .value = summing->sum.is_mean ? mean->value : NULL,
                                         .sum = summing->sum.is_mean ? NULL : mean->sum,
                                         .statistics_count = statistics_of(summing),
                                         .statistics = summing->statistics,
                                         .seed_count = mean->seed_count,
                                         .correct_count = mean->correct_count,
                                         .loss_sum = mean->loss_sum,
                                         .squared_error = mean->squared_error,
                                         .squared_norm = mean->squared_norm};
    stage_times_enter(adder->context->times, TIME_WRITE);
    return gradient_range_put(adder->context->store, adder->context->run_id, &key, &range, err);
}

enum error_code gradient_sum_make(const struct gradient_adder *adder, int32_t number,
                                  struct error *err)
{
    struct summing summing = {
        .adder = adder, .sum = gradient_sum_at(adder->context->schedule, adder->round, number)};
    set_range(&summing, summing.sum.range);
    const enum error_code rc = add_inputs(&summing, err);
    stage_times_enter(adder->context->times, TIME_COMPUTE);
    if (rc == ERROR_NONE && summing.sum.is_mean)
        gradient_mean_finish(adder->mean);
    else
        gradient_mean_finish_sum(adder->mean);
    return rc == ERROR_NONE ? put_sum(&summing, number, err) : rc;
}

/* --- all ranges --- */

static struct key key_of_mean(const void *context, size_t index)
{
    const struct summing *summing = context;
    const struct gradient_adder *adder = summing->adder;
    const int32_t first = gradient_sum_first_mean(adder->context->schedule, adder->round);
    return key_gradient_sum(adder->context->run_id, adder->round, first + (int32_t)index);
}

static enum error_code take_mean(void *context, size_t index, struct gradient_range *range,
                                 struct error *err)
{
    struct summing *summing = context;
    const struct gradient_adder *adder = summing->adder;
    struct gradient_mean *mean = adder->mean;
    set_range(summing, (int)index);
    const enum error_code rc = check_range(summing, range, false, statistics_of(summing), err);
    if (rc != ERROR_NONE)
        return rc;
    if (range->count)
        memcpy(mean->value + range->first, range->value, range->count * sizeof *mean->value);
    if (summing->statistics)
        memcpy(summing->statistics, range->statistics,
               range->statistics_count * sizeof *range->statistics);
    mean->seed_count = range->seed_count;
    mean->correct_count = range->correct_count;
    mean->loss_sum = range->loss_sum;
    mean->squared_error = range->squared_error;
    mean->squared_norm = range->squared_norm;
    return ERROR_NONE;
}

enum error_code gradient_sum_join(const struct gradient_adder *adder, struct error *err)
{
    struct summing summing = {.adder = adder};
    const struct gradient_range_series series = {.count = (size_t)range_count(adder),
                                                 .key = key_of_mean,
                                                 .visit = take_mean,
                                                 .context = &summing};
    gradient_mean_reset_to(adder->mean, adder->model->value_count);
    const enum error_code rc =
        gradient_range_get_each(adder->context->store, adder->context->run_id, &series, err);
    if (rc == ERROR_NONE)
        gradient_mean_set_loss(adder->mean);
    return rc;
}
