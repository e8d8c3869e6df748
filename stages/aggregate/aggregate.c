/*
 * aggregate - one optimizer step: the gradients of a round turn weights r into weights r + 1.
 *
 *        weights r ───────────┐
 *        optimizer_state r ───┤
 *        gradient r/0 ──┐     ├── optimizer step ──> optimizer_state r + 1, then weights r + 1
 *        gradient r/1 ──┼─ mean                          (the weights are the commit)
 *        gradient r/k ──┘
 *
 * If weights r + 1 get a snapshot, the state also has the progress of each round since the last
 * snapshot. This worker knows its own rounds from memory, and reads those of others from their
 * weights.
 *
 *   sum-gradients/r/n   gradients by range, if sums come before the step (gradient_sum.h);
 *                       aggregate then reads the sums
 *   initialise          settings and seed  ->  optimizer_state 0 (zeros), weights 0
 *   aggregate/r         the records drawn above
 *
 * Weights and state of the last version stay in memory, so that a worker that does round after
 * round does not read back what it wrote itself. They are used only for exactly that version:
 * another worker may have done the rounds between, and then they are read.
 *
 * Running statistics of batch norms are stored with the weights. The statistics of the slots move
 * them; the optimizer, weight decay and clipping do not touch them.
 *
 * A run that diverges ends here, at the first number that is not finite, and with the name of the
 * parameter: no record of weights ever holds a NaN.
 */
#include "common/base/memory.h"
#include "common/nn/optimizer.h"
#include "common/nn/running_statistics.h"
#include "stages/aggregate/delay_compensation.h"
#include "stages/aggregate/gradient_mean.h"
#include "stages/aggregate/gradient_sum.h"
#include "stages/aggregate/round_window.h"
#include "stages/engine/stage.h"
#include "stages/plan/chain/chosen_base.h"
#include "stages/plan/chain/gradient_sums.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/model/run_origin.h"
#include "stages/plan/model/run_rate.h"
#include "stages/plan/run/run_initial.h"
#include "store/objects/keys.h"
#include "store/records/parameter_values.h"
#include "store/records/round/parameters.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NO_VERSION = -1, PIECE_VALUES = 1024, GRADIENT_BYTES = 64 << 20 };

struct aggregate {
    struct model model;
    char table[RUN_MODEL_TABLE_SIZE]; /* the model as text, in the form that weights have */
    struct optimizer_config optimizer;
    struct rate_config rate;
    /* The version in the three arrays below, or NO_VERSION. */
    int64_t held_version;
    float *value; /* [model.value_count]; and so are the next */
    float *first;
    float *second; /* NULL if the rule has no second moment */
    struct gradient_mean mean;
    /* Statistics of batch norms, over the slots (running_statistics.h); NULL if there are none. */
    double *statistics;
    struct round_window window; /* progress of the rounds since the last snapshot */
};

/* --- settings --- */

static struct optimizer_config optimizer_config_of(const struct pipeline_settings *s)
{
    return (struct optimizer_config){.rule = (enum optimizer_rule)s->aggregate.optimizer,
                                     .momentum = s->aggregate.momentum,
                                     .beta1 = s->aggregate.beta1,
                                     .beta2 = s->aggregate.beta2,
                                     .epsilon = s->aggregate.epsilon,
                                     .weight_decay = s->aggregate.weight_decay,
                                     .clip_norm = s->aggregate.clip_norm};
}

/* --- the version in memory --- */

static enum error_code copy_state(struct aggregate *a, const struct optimizer_state *state,
                                  struct error *err)
{
    if (state->value_count != a->model.value_count || !state->second != !a->second)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: %" PRIu64 " values %s second moment, expected %" PRIu64 " %s",
                         state->view.key, state->value_count, state->second ? "with" : "without",
                         a->model.value_count, a->second ? "with" : "without");
    if (state->step != state->version)
        return error_set(err, ERROR_CORRUPT, "record %s: step is %" PRIu64 ", expected %" PRIu64,
                         state->view.key, state->step, state->version);
    memcpy(a->first, state->first, state->value_count * sizeof *a->first);
    if (a->second)
        memcpy(a->second, state->second, state->value_count * sizeof *a->second);
    return ERROR_NONE;
}

static enum error_code read_version(const struct stage_context *context, struct aggregate *a,
                                    int64_t version, struct error *err)
{
    struct weights weights = {0};
    struct optimizer_state state = {0};
    enum error_code rc =
        parameters_get(context->store, context->run_id, version, &weights, &state, err);
    if (rc == ERROR_NONE) {
        rc = run_model_check_weights(&a->model, &weights, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "record %s", weights.view.key);
    }
    if (rc == ERROR_NONE)
        rc = copy_state(a, &state, err);
    if (rc == ERROR_NONE)
        rc = round_window_note(&a->window, context->schedule, version, weights.progress, err);
    if (rc == ERROR_NONE)
        memcpy(a->value, weights.value, weights.value_count * sizeof *a->value);
    store_release_record(&weights.view);
    store_release_record(&state.view);
    return rc;
}

/* Adds the progress of each round since the last snapshot, if `version` gets a snapshot. */
static enum error_code add_rounds(const struct stage_context *context, struct aggregate *a,
                                  int64_t version, struct optimizer_state *state, struct error *err)
{
    int64_t unknown = -1;
    enum error_code rc = ERROR_NONE;
    if (!schedule_has_snapshot(context->schedule, version))
        return ERROR_NONE;
    while (rc == ERROR_NONE && (unknown = round_window_unknown(&a->window, version)) >= 0) {
        struct weights weights = {0};
        rc = weights_get(context->store, context->run_id, unknown, &weights, err);
        if (rc == ERROR_NONE)
            rc = round_window_note(&a->window, context->schedule, unknown, weights.progress, err);
        store_release_record(&weights.view);
    }
    state->rounds = round_window_progress(&a->window, version, &state->round_count);
    return rc;
}

/* Publishes the arrays in memory as `version`. The weights go last, because they are the commit:
 * after a crash between the two records the round is done again. */
static enum error_code put_version(const struct stage_context *context, struct aggregate *a,
                                   int64_t version, const double progress[PROGRESS_COUNT],
                                   struct error *err)
{
    struct optimizer_state state = {.version = (uint64_t)version,
                                    .step = (uint64_t)version,
                                    .value_count = a->model.value_count,
                                    .first = a->first,
                                    .second = a->second};
    struct weights weights = {.version = (uint64_t)version,
                              .value_count = a->model.value_count,
                              .value = a->value,
                              .table = a->table,
                              .table_size = strlen(a->table)};
    memcpy(weights.progress, progress, sizeof weights.progress);
    stage_times_enter(context->times, TIME_WRITE);
    enum error_code rc = round_window_note(&a->window, context->schedule, version, progress, err);
    if (rc == ERROR_NONE)
        rc = add_rounds(context, a, version, &state, err);
    if (rc == ERROR_NONE)
        rc = optimizer_state_put(context->store, context->run_id, &state, err);
    if (rc == ERROR_NONE)
        rc = weights_put(context->store, context->run_id, &weights, err);
    /* a replay stores nothing, and its result may differ from the record that the next unit should
     * read */
    if (rc == ERROR_NONE && !context->is_replay)
        a->held_version = version;
    return rc;
}

/* --- a round --- */

/* The round whose gradients are added. */
struct round_in_hand {
    const struct stage_context *context;
    struct aggregate *aggregate;
    int64_t base; /* the version of the weights that they are made from */
};

static enum error_code add_slot(void *opaque, int slot, struct gradient *gradient,
                                struct error *err)
{
    const struct round_in_hand *in_hand = opaque;
    struct aggregate *a = in_hand->aggregate;
    (void)slot;
    if (gradient->weights_version != (uint64_t)in_hand->base)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: made from weights version %" PRIu64 ", expected %" PRId64,
                         gradient->view.key, gradient->weights_version, in_hand->base);
    if (gradient->value_count != a->model.value_count || !gradient->value)
        return error_set(err, ERROR_CORRUPT, "record %s: %" PRIu64 " values%s, expected %" PRIu64,
                         gradient->view.key, gradient->value_count,
                         gradient->value ? "" : " beside it", a->model.value_count);
    stage_times_add_encoding(in_hand->context->times,
                             &(struct encoding_work){.seconds = gradient->decode_seconds});
    stage_times_enter(in_hand->context->times, TIME_COMPUTE);
    if (a->statistics)
        running_statistics_add(&a->model, a->statistics, gradient->value + a->model.trained_count);
    gradient_mean_add(&a->mean, gradient); /* which takes ownership of it */
    stage_times_enter(in_hand->context->times, TIME_READ);
    return ERROR_NONE;
}

/* Returns how many gradients are read at once, and so are in memory together. */
static size_t gradients_together(const struct aggregate *a)
{
    const size_t bytes = (a->model.value_count ? a->model.value_count : 1) * sizeof(float);
    return bytes < GRADIENT_BYTES ? GRADIENT_BYTES / bytes : 1;
}

static struct gradient_adder adder_of(const struct stage_context *context, struct aggregate *a,
                                      int64_t round, int64_t base)
{
    return (struct gradient_adder){.context = context,
                                   .model = &a->model,
                                   .mean = &a->mean,
                                   .statistics = a->statistics,
                                   .round = round,
                                   .base = base,
                                   .together = gradients_together(a)};
}

static enum error_code add_all_slots(const struct stage_context *context, struct aggregate *a,
                                     int64_t round, int64_t base, struct error *err)
{
    struct round_in_hand in_hand = {.context = context, .aggregate = a, .base = base};
    const struct gradient_adder adder = adder_of(context, a, round, base);
    if (gradient_sum_count(context->schedule, round) > 0) {
        stage_times_enter(context->times, TIME_READ);
        return gradient_sum_join(&adder, err);
    }
    gradient_mean_reset(&a->mean);
    if (a->statistics)
        running_statistics_reset(&a->model, a->statistics);
    stage_times_enter(context->times, TIME_READ);
    const enum error_code rc = gradient_get_each(context->store, context->run_id, round,
                                                 schedule_slot_count(context->schedule, round),
                                                 gradients_together(a), add_slot, &in_hand, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    gradient_mean_finish(&a->mean);
    return rc;
}

static const char *parameter_at(const struct model *model, size_t index)
{
    int i = 0;
    while (i + 1 < model->parameter_count && model->parameter[i + 1].offset <= index)
        i++;
    return model->parameter[i].name;
}

static enum error_code diverged(int64_t round, const char *what, const char *of, double found,
                                struct error *err)
{
    return error_set(err, ERROR_INPUT,
                     "round %" PRId64 ": the %s%s is %g, not a finite number: training diverged; a "
                     "smaller aggregate.learning_rate or an aggregate.clip_norm may help",
                     round, what, of, found);
}

static enum error_code check_values(const struct aggregate *a, int64_t round, const char *what,
                                    const float *value, struct error *err)
{
    const size_t count = a->model.value_count;
    const size_t bad = value ? parameter_values_first_bad(value, count) : count;
    if (bad == count)
        return ERROR_NONE;
    return diverged(round, what, parameter_at(&a->model, bad), (double)value[bad], err);
}

/* Checks the mean. The norm is finite exactly when all values are. */
static enum error_code check_mean(const struct aggregate *a, int64_t round, double norm,
                                  struct error *err)
{
    if (!isfinite(a->mean.mean_loss))
        return diverged(round, "loss", "", a->mean.mean_loss, err);
    return isfinite(norm) ? ERROR_NONE : check_values(a, round, "gradient of ", a->mean.value, err);
}

static enum error_code check_step(const struct aggregate *a, int64_t round, struct error *err)
{
    enum error_code rc = check_values(a, round, "new value of ", a->value, err);
    if (rc == ERROR_NONE)
        rc = check_values(a, round, "first moment of ", a->first, err);
    if (rc == ERROR_NONE)
        rc = check_values(a, round, "second moment of ", a->second, err);
    return rc;
}

/* Makes the step piece by piece, so that a piece is checked while the cache holds it. */
static enum error_code step(struct aggregate *a, int64_t round, double rate, double norm,
                            struct error *err)
{
    const struct optimizer_update update =
        optimizer_update_of(&a->optimizer, rate, (uint64_t)round + 1, norm);
    const size_t count = a->model.trained_count;
    bool finite = true;
    for (size_t at = 0; at < count; at += PIECE_VALUES) {
        const size_t n = count - at < PIECE_VALUES ? count - at : PIECE_VALUES;
        float *second = a->second ? a->second + at : NULL;
        optimizer_update_apply(&update, n, a->value + at, a->mean.value + at, a->first + at,
                               second);
        finite = finite && parameter_values_first_bad(a->value + at, n) == n &&
                 parameter_values_first_bad(a->first + at, n) == n &&
                 (!second || parameter_values_first_bad(second, n) == n);
    }
    if (a->statistics)
        running_statistics_apply(&a->model, a->statistics, a->value);
    finite = finite && parameter_values_first_bad(a->value + count, a->model.value_count - count) ==
                           a->model.value_count - count;
    return finite ? ERROR_NONE : check_step(a, round, err);
}

/* Returns the error of the encoding of gradients, as a share of their norm. */
static double encoding_error(const struct gradient_mean *mean)
{
    return mean->squared_norm > 0 ? sqrt(mean->squared_error / mean->squared_norm) : 0;
}

static enum error_code aggregate_round(const struct stage_context *context, struct aggregate *a,
                                       int64_t round, struct error *err)
{
    int64_t base = 0;
    enum error_code rc = ERROR_NONE;
    if (round >= context->schedule->round_count)
        return error_set(err, ERROR_INVALID, "there is no round %" PRId64 ", the last is %" PRId64,
                         round, context->schedule->round_count - 1);
    if (a->held_version != round)
        rc = read_version(context, a, round, err);
    a->held_version = NO_VERSION; /* until the step is published, the arrays are no version */
    if (rc == ERROR_NONE)
        rc = chosen_base_get(context->schedule, context->store, context->run_id, round, &base, err);
    if (rc == ERROR_NONE)
        rc = add_all_slots(context, a, round, base, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = delay_compensate(context, round, base, a->model.trained_count, a->value, a->mean.value,
                          err);
    if (rc != ERROR_NONE)
        return rc;
    const double norm = optimizer_norm(a->mean.value, a->model.trained_count);
    const double rate = learning_rate_of_epoch(&a->rate, schedule_epoch(context->schedule, round)) *
                        delay_rate_factor(context, round, base);
    const double progress[PROGRESS_COUNT] = {[PROGRESS_LOSS] = a->mean.mean_loss,
                                             [PROGRESS_CORRECT] = (double)a->mean.correct_count,
                                             [PROGRESS_SEEDS] = (double)a->mean.seed_count,
                                             [PROGRESS_LEARNING_RATE] = rate,
                                             [PROGRESS_GRADIENT_NORM] = norm,
                                             [PROGRESS_GRADIENT_ERROR] = encoding_error(&a->mean)};
    rc = check_mean(a, round, norm, err);
    if (rc == ERROR_NONE)
        rc = step(a, round, rate, norm, err);
    return rc == ERROR_NONE ? put_version(context, a, round + 1, progress, err) : rc;
}

static enum error_code initialise(const struct stage_context *context, struct aggregate *a,
                                  struct error *err)
{
    static const double no_progress[PROGRESS_COUNT] = {0};
    const size_t bytes = a->model.value_count * sizeof(float);
    a->held_version = NO_VERSION;
    if (run_is_warm(context->settings)) {
        const enum error_code rc = run_initial_get(context->store, context->settings,
                                                   context->run_id, &a->model, a->value, err);
        if (rc != ERROR_NONE)
            return rc;
    } else {
        model_initialise(&a->model, context->schedule->seed, a->value);
    }
    memset(a->first, 0, bytes);
    if (a->second)
        memset(a->second, 0, bytes);
    return put_version(context, a, 0, no_progress, err);
}

/* --- the stage --- */

static void aggregate_close(void *state)
{
    struct aggregate *a = state;
    if (!a)
        return;
    memory_free(a->value);
    memory_free(a->first);
    memory_free(a->second);
    memory_free(a->statistics);
    gradient_mean_release(&a->mean);
    round_window_release(&a->window);
    memory_free(a);
}

static enum error_code make_arrays(struct aggregate *a, struct error *err)
{
    const size_t count = a->model.value_count;
    enum error_code rc = memory_new(&a->value, count, "the weights", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&a->first, count, "the first moment", err);
    if (rc == ERROR_NONE && optimizer_needs_second(a->optimizer.rule))
        rc = memory_new(&a->second, count, "the second moment", err);
    if (rc == ERROR_NONE && running_statistics_size(&a->model))
        rc = memory_new(&a->statistics, running_statistics_size(&a->model), "batch norms", err);
    if (rc == ERROR_NONE)
        rc = gradient_mean_init(&a->mean, count, err);
    return rc;
}

static enum error_code aggregate_open(const struct stage_context *context, void **state,
                                      struct error *err)
{
    struct aggregate *a = NULL;
    enum error_code rc = memory_new(&a, 1, "the stage", err);
    if (rc != ERROR_NONE)
        return rc;
    a->optimizer = optimizer_config_of(context->settings);
    a->rate = run_rate_of(context->settings, context->settings->aggregate.learning_rate);
    a->held_version = NO_VERSION;
    rc = run_model_init(&a->model, context->settings, context->book, err);
    if (rc == ERROR_NONE)
        rc = model_table_text(&a->model, a->table, sizeof a->table, err);
    if (rc == ERROR_NONE)
        rc = make_arrays(a, err);
    if (rc != ERROR_NONE)
        aggregate_close(a);
    else
        *state = a;
    return rc;
}

static enum error_code sum_gradients(const struct stage_context *context, struct aggregate *a,
                                     const struct unit *unit, struct error *err)
{
    int64_t base = 0;
    const enum error_code rc = chosen_base_get(context->schedule, context->store, context->run_id,
                                               unit->round, &base, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct gradient_adder adder = adder_of(context, a, unit->round, base);
    return gradient_sum_make(&adder, unit->slot, err);
}

static enum error_code aggregate_work(const struct stage_context *context, void *state,
                                      const struct unit *unit, struct error *err)
{
    struct aggregate *a = state;
    if (unit->kind == UNIT_INITIALISE)
        return initialise(context, a, err);
    if (unit->kind == UNIT_SUM_GRADIENTS)
        return sum_gradients(context, a, unit, err);
    must(unit->kind == UNIT_AGGREGATE);
    return aggregate_round(context, a, unit->round, err);
}

static void drop_cache_of(const struct stage_context *context, enum unit_kind kind, int64_t round,
                          int32_t slot)
{
    struct key key[UNIT_KEYS_MAX];
    const struct unit unit = {.kind = kind, .round = round, .slot = slot};
    for (int i = unit_keys(context->schedule, context->run_id, &unit, key) - 1; i >= 0; i--)
        store_drop_cache(context->store, key[i].text);
}

/* Drops from the page cache the records that only the round before read: they are on disk by now,
 * and that round is over. */
static void aggregate_rest(const struct stage_context *context, void *state,
                           const struct unit *unit, int64_t done_count)
{
    (void)state;
    (void)done_count;
    const int64_t version = unit->round; /* the version that the round before made */
    if (unit->kind != UNIT_AGGREGATE || version == 0)
        return;
    for (int32_t slot = 0; slot < schedule_slot_count(context->schedule, version - 1); slot++)
        drop_cache_of(context, UNIT_TRAIN_STEP, version - 1, slot);
    for (int32_t sum = 0; sum < gradient_sum_count(context->schedule, version - 1); sum++)
        drop_cache_of(context, UNIT_SUM_GRADIENTS, version - 1, sum);
    if (schedule_has_snapshot(context->schedule, version)) /* checkpoint and validation still read
                                                            * it */
        return;
    store_drop_cache(context->store, key_optimizer_state(context->run_id, version).text);
    store_drop_cache(context->store, key_weights(context->run_id, version).text);
}

const struct stage stage = {
    .name = "aggregate",
    .summary = "turn the gradients of a round into the next weights",
    .reads = "weights, optimizer_state, gradient, gradient_range, round_base",
    .writes = "weights, optimizer_state, gradient_range",
    .form = STAGE_LOOP,
    .is_waited_for = true,
    .open = aggregate_open,
    .work = aggregate_work,
    .rest = aggregate_rest,
    .close = aggregate_close,
};
