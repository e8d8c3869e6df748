/*
 * checkpoint - a restorable snapshot of a version of the weights, under one atomic switch.
 *
 *        weights u+1 .. v ─────┐  (u: the snapshot before; their progress makes the log)
 *        optimizer_state v ────┤
 *        evaluation v/0 .. ────┼──> snapshot v ──> metrics.jsonl ──> switch ──> retention
 *        snapshot u ───────────┘      durable        replaced         the commit   old records go
 *
 * The order of the four steps is what makes a kill between any two of them harmless. Until the switch names
 * v, all that snapshot u needs is there, so the unit can be done again, and gives the same bytes; the file of
 * metrics is the same when it is updated twice; and retention, once the switch names v, is made good by the
 * next checkpoint.
 *
 * The switch never goes back: a slow worker that ends after others have made later snapshots moves it on to
 * the newest there is.
 */
#include "common/base/json.h"
#include "stages/checkpoint/best_rule.h"
#include "stages/checkpoint/metrics_log.h"
#include "stages/checkpoint/record_pruner.h"
#include "stages/checkpoint/retention_rule.h"
#include "stages/checkpoint/validation.h"
#include "stages/stage.h"
#include "store/keys.h"
#include "store/records/parameters.h"
#include "store/records/snapshot.h"

#include <inttypes.h>
#include <math.h>

/* --- what is read --- */

/* Sums over the rounds since the snapshot before. */
struct train_tally {
    double loss_sum, right_count, seed_count;
};

struct inputs { /* {0} is releasable */
    struct weights weights;
    struct optimizer_state state;
    struct snapshot previous; /* version 0 when there is none */
    struct validation validation;
    struct train_tally train;
    struct json_writer log;
};

static void release_inputs(struct inputs *in)
{
    store_release_record(&in->weights.view);
    store_release_record(&in->state.view);
    store_release_record(&in->previous.view);
    json_writer_release(&in->log);
}

static void add_round(const struct stage_context *context, struct inputs *in, int64_t round,
                      const double progress[PROGRESS_COUNT])
{
    in->train.loss_sum += progress[PROGRESS_LOSS] * progress[PROGRESS_SEEDS];
    in->train.right_count += progress[PROGRESS_RIGHT];
    in->train.seed_count += progress[PROGRESS_SEEDS];
    metrics_log_add_round(&in->log, context->schedule, round, progress);
}

/* The weights tell how the round went that made them. */
static enum error_code read_rounds(const struct stage_context *context, int64_t version,
                                   struct inputs *in, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int64_t v = in->previous.version + 1; v < version && rc == ERROR_NONE; v++) {
        struct weights weights = {0};
        rc = weights_get(context->store, context->run_id, v, &weights, err);
        if (rc == ERROR_NONE)
            add_round(context, in, v - 1, weights.progress);
        store_release_record(&weights.view);
    }
    if (rc == ERROR_NONE)
        add_round(context, in, version - 1, in->weights.progress);
    return rc;
}

static enum error_code read_inputs(const struct stage_context *context, int64_t version,
                                   struct inputs *in, struct error *err)
{
    const int64_t previous = schedule_snapshot_before(context->schedule, version);
    enum error_code rc = weights_get(context->store, context->run_id, version, &in->weights, err);
    if (rc == ERROR_NONE)
        rc = optimizer_state_get(context->store, context->run_id, version, &in->state, err);
    if (rc == ERROR_NONE && in->state.value_count != in->weights.value_count)
        rc = error_set(err, ERROR_CORRUPT, "record %s: %" PRIu64 " values, expected %" PRIu64,
                       in->state.view.key, in->state.value_count, in->weights.value_count);
    if (rc == ERROR_NONE && previous > 0)
        rc = snapshot_get(context->store, context->run_id, previous, &in->previous, err);
    if (rc == ERROR_NONE && previous > 0 && in->previous.value_count != in->weights.value_count)
        rc = error_set(err, ERROR_CORRUPT, "record %s: %" PRIu64 " values, expected %" PRIu64,
                       in->previous.view.key, in->previous.value_count, in->weights.value_count);
    if (rc == ERROR_NONE)
        rc = validation_read(context, version, &in->validation, err);
    return rc == ERROR_NONE ? read_rounds(context, version, in, err) : rc;
}

/* --- the snapshot --- */

static struct best_rule best_rule_of(const struct stage_context *context)
{
    return (struct best_rule){.lower_is_better =
                                  context->settings->checkpoint.metric == METRIC_LOSS,
                              .patience = context->settings->checkpoint.patience,
                              .last_version = context->schedule->round_count};
}

static void judge(const struct stage_context *context, const struct inputs *in,
                  struct snapshot *out)
{
    const struct best_rule rule = best_rule_of(context);
    struct best_so_far best = {.version = -1, .metric = (double)NAN};
    if (in->previous.version > 0)
        best = (struct best_so_far){.version = in->previous.best_version,
                                    .since = in->previous.since_best,
                                    .metric = in->previous.best_metric};
    best = best_rule_after(&rule, &best, out->version, in->validation.metric);
    out->best_version = best.version;
    out->since_best = best.since;
    out->best_metric = best.metric;
    out->best_value = best.version == out->version ? in->weights.value : in->previous.best_value;
    out->stop = best_rule_stops(&rule, &best, out->version);
}

/* Says NaN in one way: that of 0 / 0 has a sign that depends on the processor. */
static double share(double part, double all)
{
    return all > 0 ? part / all : (double)NAN;
}

static struct snapshot snapshot_of(const struct stage_context *context, const struct inputs *in,
                                   int64_t version)
{
    const double seeds = in->train.seed_count;
    struct snapshot snapshot = {
        .version = version,
        .previous_version = in->previous.version > 0 ? in->previous.version : -1,
        .epoch = schedule_epoch(context->schedule, version),
        .train_loss = share(in->train.loss_sum, seeds),
        .train_accuracy = share(in->train.right_count, seeds),
        .valid_loss = in->validation.loss,
        .valid_accuracy = in->validation.accuracy,
        .valid_metric = in->validation.metric,
        .learning_rate = in->weights.progress[PROGRESS_LEARNING_RATE],
        .step = in->state.step,
        .value_count = in->weights.value_count,
        .value = in->weights.value,
        .first = in->state.first,
        .second = in->state.second,
        .table = in->weights.table,
        .table_size = in->weights.table_size,
    };
    for (int i = 0; i < PROGRESS_COUNT; i++)
        snapshot.progress[i] = in->weights.progress[i];
    judge(context, in, &snapshot);
    return snapshot;
}

/* --- what follows it --- */

static enum error_code advance_switch(const struct stage_context *context, int64_t version,
                                      struct error *err)
{
    const struct schedule *schedule = context->schedule;
    int64_t current = -1;
    enum error_code rc = snapshot_current_version(context->store, context->run_id, &current, err);
    if (rc == ERROR_NOT_FOUND)
        rc = ERROR_NONE;
    if (rc == ERROR_NONE && current < version)
        rc = snapshot_switch(context->store, context->run_id, version, err);
    /* were there later ones in the meantime? */
    bool found = current < version;
    for (int64_t v = version; rc == ERROR_NONE && found && v < schedule->round_count;) {
        v = schedule_snapshot_at_or_after(schedule, v + 1);
        rc = store_has(context->store, key_snapshot(context->run_id, v).text, &found, err);
        if (rc == ERROR_NONE && found)
            rc = snapshot_switch(context->store, context->run_id, v, err);
    }
    return rc;
}

static enum error_code publish(const struct stage_context *context, const struct snapshot *snapshot,
                               struct error *err)
{
    const int64_t version = snapshot->version, keep = context->settings->checkpoint.keep;
    enum error_code rc = snapshot_put(context->store, context->run_id, snapshot, err);
    if (rc != ERROR_NONE || context->is_replay)
        return rc;
    rc = metrics_log_update(context->store, context->run_id, version, err);
    if (rc == ERROR_NONE)
        rc = advance_switch(context, version, err);
    if (rc != ERROR_NONE || keep == 0)
        return rc;
    const struct retention retention =
        retention_rule_of(context->schedule, version, keep, snapshot->best_version);
    return record_pruner_run(context, &retention, err);
}

/* --- the stage --- */

static enum error_code open_checkpoint(const struct stage_context *context, void **state,
                                       struct error *err)
{
    *state = NULL;
    if (context->settings->checkpoint.metric == METRIC_ROC_AUC && context->book->class_count > 2 &&
        context->schedule->evaluation_slot_count > 0)
        return error_set(err, ERROR_INVALID,
                         "checkpoint.metric is roc_auc, which is for two classes; the dataset has "
                         "%" PRIu32 ": choose accuracy, loss, macro_f1 or micro_f1",
                         context->book->class_count);
    return ERROR_NONE;
}

static enum error_code work_checkpoint(const struct stage_context *context, void *state,
                                       const struct unit *unit, struct error *err)
{
    const int64_t version = unit->round;
    struct inputs in = {0};
    (void)state;
    must(unit->kind == UNIT_CHECKPOINT);
    if (version > context->schedule->round_count ||
        !schedule_has_snapshot(context->schedule, version))
        return error_set(err, ERROR_INVALID, "no snapshot is made of weights %" PRId64, version);
    enum error_code rc = read_inputs(context, version, &in, err);
    if (rc == ERROR_NONE) {
        const enum metric_choice metric = (enum metric_choice)context->settings->checkpoint.metric;
        struct snapshot snapshot = snapshot_of(context, &in, version);
        metrics_log_add_snapshot(&in.log, &snapshot, validation_metric_name(metric));
        rc = json_writer_finish(&in.log, err);
        snapshot.log = in.log.text;
        snapshot.log_size = in.log.size;
        if (rc == ERROR_NONE)
            rc = publish(context, &snapshot, err);
    }
    release_inputs(&in);
    return rc;
}

static void close_checkpoint(void *state)
{
    (void)state; /* a unit leaves nothing behind */
}

const struct stage stage = {
    .name = "checkpoint",
    .summary = "make a restorable snapshot, and let old records go",
    .reads = "weights, optimizer_state, evaluation, snapshot",
    .writes = "snapshot",
    .form = STAGE_LOOP,
    .open = open_checkpoint,
    .work = work_checkpoint,
    .close = close_checkpoint,
};
