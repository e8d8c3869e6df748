/*
 * checkpoint - writes a restorable snapshot of a version of the weights, and commits it by one
 * atomic ref.
 *
 *     weights v ────────────┐
 *     optimizer_state v ────┤  (with the progress of the rounds since snapshot u, for the log)
 *     evaluation v/0 .. ────┼──> snapshot v ──> flush ──> metrics.jsonl ──> ref ──> retention
 *     snapshot u ───────────┘                  └─ snapshot_commit: now and then, for all so far ─┘
 *
 * The worker keeps in memory what snapshot v takes from snapshot u, so that it does not read back
 * what it wrote itself. It is used for exactly that version only.
 */
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/tasks/regression.h"
#include "stages/checkpoint/best_rule.h"
#include "stages/checkpoint/snapshot_commit.h"
#include "stages/checkpoint/validation.h"
#include "stages/engine/stage.h"
#include "stages/plan/chain/metrics_log.h"
#include "stages/plan/model/loss_warning.h"
#include "store/objects/keys.h"
#include "store/records/round/parameters.h"
#include "store/records/round/snapshot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NEW_WARNINGS_SIZE = LOSS_WARNING_COUNT * (LOSS_WARNING_SIZE + 2) };

/* The facts of a snapshot that the next snapshot needs. */
struct predecessor {
    int64_t version;       /* 0: there is none */
    double train_loss;     /* NaN: there is none */
    int64_t loss_warnings; /* the warnings given so far */
    struct best_so_far best;
    const float *best_value; /* [value_count] */
    uint64_t value_count;
};

struct checkpoint {
    struct run_loss loss;
    struct snapshot_commit commit;
    struct predecessor held; /* the snapshot that this worker made last */
    float *held_value;       /* [held.value_count] or NULL; held.best_value points to it */
};

/* --- what is read --- */

/* Sums over the rounds since the last snapshot. */
struct train_tally {
    double loss_sum, correct_count, seed_count;
};

struct inputs { /* {0} is releasable */
    struct weights weights;
    struct optimizer_state state;
    struct snapshot previous_record; /* set if `previous` was read from it */
    struct predecessor previous;
    struct validation validation;
    struct train_tally train;
    struct json_writer log;
};

static void release_inputs(struct inputs *in)
{
    store_release_record(&in->weights.view);
    store_release_record(&in->state.view);
    store_release_record(&in->previous_record.view);
    json_writer_release(&in->log);
}

static bool has_accuracy(const struct stage_context *context)
{
    return task_has_metric(task_of(context->book->task), METRIC_ACCURACY,
                           context->book->class_count);
}

static void add_round(const struct stage_context *context, struct inputs *in, int64_t round,
                      const double progress[PROGRESS_COUNT])
{
    in->train.loss_sum += progress[PROGRESS_LOSS] * progress[PROGRESS_SEEDS];
    in->train.correct_count += progress[PROGRESS_CORRECT];
    in->train.seed_count += progress[PROGRESS_SEEDS];
    metrics_log_add_round(&in->log, context->schedule, has_accuracy(context), round, progress);
}

static enum error_code read_rounds(const struct stage_context *context, int64_t version,
                                   struct inputs *in, struct error *err)
{
    const int64_t first = in->previous.version; /* the first round after that snapshot */
    const uint64_t expected = (uint64_t)(version - first);
    if (in->state.round_count != expected)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: the progress of %" PRIu64 " rounds, expected %" PRIu64,
                         in->state.view.key, in->state.round_count, expected);
    for (uint64_t i = 0; i < expected; i++)
        add_round(context, in, first + (int64_t)i, in->state.rounds + i * PROGRESS_COUNT);
    return ERROR_NONE;
}

/* Finds the last snapshot before `version`, in memory or in its record. It stays empty for the
 * first snapshot. */
static enum error_code find_previous(const struct stage_context *context,
                                     const struct checkpoint *c, int64_t version, struct inputs *in,
                                     struct error *err)
{
    const int64_t previous = schedule_snapshot_before(context->schedule, version);
    struct snapshot *record = &in->previous_record;
    if (previous <= 0)
        return ERROR_NONE;
    if (c->held.version == previous && c->held.value_count == in->weights.value_count) {
        in->previous = c->held;
        return ERROR_NONE;
    }
    const enum error_code rc = snapshot_get(context->store, context->run_id, previous, record, err);
    if (rc != ERROR_NONE)
        return rc;
    in->previous = (struct predecessor){.version = previous,
                                        .train_loss = record->train_loss,
                                        .loss_warnings = record->loss_warnings,
                                        .best = {.version = record->best_version,
                                                 .since = record->since_best,
                                                 .metric = record->best_metric},
                                        .best_value = record->best_value,
                                        .value_count = record->value_count};
    if (record->value_count == in->weights.value_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "record %s: %" PRIu64 " values, expected %" PRIu64,
                     record->view.key, record->value_count, in->weights.value_count);
}

static enum error_code read_inputs(const struct stage_context *context, const struct checkpoint *c,
                                   int64_t version, struct inputs *in, struct error *err)
{
    enum error_code rc =
        parameters_get(context->store, context->run_id, version, &in->weights, &in->state, err);
    if (rc == ERROR_NONE && in->state.value_count != in->weights.value_count)
        rc = error_set(err, ERROR_CORRUPT, "record %s: %" PRIu64 " values, expected %" PRIu64,
                       in->state.view.key, in->state.value_count, in->weights.value_count);
    if (rc == ERROR_NONE)
        rc = find_previous(context, c, version, in, err);
    if (rc == ERROR_NONE)
        rc = validation_read(context, &c->loss, version, &in->validation, err);
    return rc == ERROR_NONE ? read_rounds(context, version, in, err) : rc;
}

/* --- the snapshot --- */

static struct best_rule best_rule_of(const struct stage_context *context)
{
    const enum metric metric = validation_metric(context->settings, context->book);
    return (struct best_rule){.lower_is_better = metric_table[metric].less_is_better,
                              .patience = context->settings->checkpoint.patience,
                              .last_version = context->schedule->round_count};
}

static void judge(const struct stage_context *context, const struct inputs *in,
                  struct snapshot *out)
{
    const struct best_rule rule = best_rule_of(context);
    struct best_so_far best = {.version = -1, .metric = (double)NAN};
    if (in->previous.version > 0)
        best = in->previous.best;
    best = best_rule_after(&rule, &best, out->version, in->validation.metric);
    out->best_version = best.version;
    out->since_best = best.since;
    out->best_metric = best.metric;
    out->best_value = best.version == out->version ? in->weights.value : in->previous.best_value;
    out->stop = best_rule_stops(&rule, &best, out->version);
}

/* Returns part / all, or NAN: the NaN of 0 / 0 has a sign that depends on the processor. */
static double share(double part, double all)
{
    return all > 0 ? part / all : (double)NAN;
}

static int64_t find_warnings(const struct stage_context *context, const struct inputs *in,
                             const struct snapshot *snapshot)
{
    const struct task *task = task_of(context->book->task);
    const struct loss_record record = {
        .rounds = in->state.rounds,
        .count = in->state.round_count,
        .rounds_per_epoch = (uint64_t)context->schedule->rounds_per_epoch,
        .loss = fmax(snapshot->train_loss, snapshot->valid_loss),
        .previous = in->previous.version > 0 ? in->previous.train_loss : (double)NAN,
        .is_of_numbers = task && task->losses == regression_losses,
    };
    return loss_warning_find(&record);
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
        .train_accuracy =
            has_accuracy(context) ? share(in->train.correct_count, seeds) : (double)NAN,
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
        .rounds = in->state.rounds,
        .round_count = in->state.round_count,
    };
    for (int i = 0; i < PROGRESS_COUNT; i++)
        snapshot.progress[i] = in->weights.progress[i];
    snapshot.loss_warnings = in->previous.loss_warnings | find_warnings(context, in, &snapshot);
    judge(context, in, &snapshot);
    return snapshot;
}

/* --- what follows it --- */

/* Writes the warnings that the last snapshot has not given; "" for none. */
static const char *new_warnings(const struct inputs *in, const struct snapshot *snapshot,
                                char text[NEW_WARNINGS_SIZE])
{
    char one[LOSS_WARNING_SIZE];
    size_t at = 0;
    text[0] = '\0';
    for (unsigned bit = 1; bit < 1U << LOSS_WARNING_COUNT; bit <<= 1)
        if ((snapshot->loss_warnings & ~in->previous.loss_warnings) & bit)
            at += (size_t)snprintf(
                text + at, NEW_WARNINGS_SIZE - at, "%s%s", at ? "; " : "",
                loss_warning_text(bit, fmax(snapshot->train_loss, snapshot->valid_loss), one));
    return text;
}

/* Keeps what the next snapshot needs of this one. Without memory the next one reads the record. */
static void hold(struct checkpoint *c, const struct snapshot *snapshot)
{
    const bool moved = c->held.version == 0 || c->held.best.version != snapshot->best_version ||
                       c->held.value_count != snapshot->value_count;
    if (moved && c->held.value_count != snapshot->value_count) {
        memory_free(c->held_value);
        c->held_value = memory_alloc(snapshot->value_count, sizeof *c->held_value);
    }
    c->held = (struct predecessor){0};
    if (!c->held_value)
        return;
    if (moved)
        memcpy(c->held_value, snapshot->best_value, snapshot->value_count * sizeof *c->held_value);
    c->held = (struct predecessor){.version = snapshot->version,
                                   .train_loss = snapshot->train_loss,
                                   .loss_warnings = snapshot->loss_warnings,
                                   .best = {.version = snapshot->best_version,
                                            .since = snapshot->since_best,
                                            .metric = snapshot->best_metric},
                                   .best_value = c->held_value,
                                   .value_count = snapshot->value_count};
}

/* Logs the snapshot, for people who follow a run by this log alone. */
static void log_snapshot(const struct stage_context *context, const struct snapshot *snapshot)
{
    char loss[32], valid[32], best[32];
    log_info("snapshot round %" PRId64 " of %" PRId64 ", epoch %" PRId64 " of %" PRId64
             ", train loss %s, validation %s, best %s%s",
             snapshot->version, context->schedule->round_count, snapshot->epoch,
             context->schedule->epochs, text_score(snapshot->train_loss, loss),
             text_score(snapshot->valid_metric, valid), text_score(snapshot->best_metric, best),
             snapshot->stop ? "; training ends here" : "");
}

static enum error_code publish(const struct stage_context *context, struct checkpoint *c,
                               const struct snapshot *snapshot, struct error *err)
{
    stage_times_enter(context->times, TIME_WRITE);
    enum error_code rc = snapshot_put(context->store, context->run_id, snapshot, err);
    if (rc != ERROR_NONE || context->is_replay)
        return rc;
    log_snapshot(context, snapshot);
    hold(c, snapshot);
    rc = snapshot_commit_note(&c->commit, snapshot, err);
    if (rc != ERROR_NONE || !snapshot_commit_is_due(&c->commit, snapshot))
        return rc;
    return snapshot_commit_run(&c->commit, context, snapshot, err);
}

/* --- the stage --- */

static enum error_code checkpoint_open(const struct stage_context *context, void **state,
                                       struct error *err)
{
    struct checkpoint *c = NULL;
    enum error_code rc = ERROR_NONE;
    if (context->schedule->evaluation_slot_count > 0)
        rc = validation_check(context->settings, context->book, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&c, 1, "the stage", err);
    *state = c;
    if (rc == ERROR_NONE && context->schedule->evaluation_slot_count > 0)
        rc = run_loss_init(&c->loss, context->store, context->settings, context->book, err);
    return rc;
}

static enum error_code checkpoint_work(const struct stage_context *context, void *state,
                                       const struct unit *unit, struct error *err)
{
    const int64_t version = unit->round;
    struct checkpoint *c = state;
    struct inputs in = {0};
    must(unit->kind == UNIT_CHECKPOINT);
    if (version > context->schedule->round_count ||
        !schedule_has_snapshot(context->schedule, version))
        return error_set(err, ERROR_INVALID, "no snapshot is made of weights %" PRId64, version);
    stage_times_enter(context->times, TIME_READ);
    enum error_code rc = read_inputs(context, c, version, &in, err);
    stage_times_enter(context->times, TIME_COMPUTE);
    if (rc == ERROR_NONE) {
        const enum metric metric = validation_metric(context->settings, context->book);
        char warnings[NEW_WARNINGS_SIZE];
        struct snapshot snapshot = snapshot_of(context, &in, version);
        metrics_log_add_snapshot(&in.log, &snapshot, has_accuracy(context), metric,
                                 new_warnings(&in, &snapshot, warnings));
        if (warnings[0] && !context->is_replay)
            log_warn("%s", warnings);
        rc = json_writer_finish(&in.log, err);
        snapshot.log = in.log.text;
        snapshot.log_size = in.log.size;
        if (rc == ERROR_NONE)
            rc = publish(context, c, &snapshot, err);
    }
    release_inputs(&in);
    return rc;
}

static void checkpoint_close(void *state)
{
    struct checkpoint *c = state;
    if (!c)
        return;
    run_loss_release(&c->loss);
    snapshot_commit_release(&c->commit);
    memory_free(c->held_value);
    memory_free(c);
}

const struct stage stage = {
    .name = "checkpoint",
    .summary = "make a restorable snapshot, and remove old records",
    .reads = "weights, optimizer_state, evaluation, snapshot, node_labels, node_splits",
    .writes = "snapshot",
    .form = STAGE_LOOP,
    .open = checkpoint_open,
    .work = checkpoint_work,
    .close = checkpoint_close,
};
