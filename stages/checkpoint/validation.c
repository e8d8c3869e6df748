#include "stages/checkpoint/validation.h"

#include "store/records/round/parameters.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static enum error_code add_slot(void *context, int slot, const struct evaluation *e,
                                struct error *err)
{
    struct tally *tally = context;
    const struct loss_result loss = {
        .sum = e->loss_sum, .label_count = e->seed_count, .correct_count = e->correct_count};
    (void)slot;
    if (e->tally_size != tally->count_size)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section tally has %" PRIu64 " counts, expected %zu",
                         e->view.key, e->tally_size, tally->count_size);
    if (!task_row_has(tally->task, TASK_RANKS) &&
        e->score_count != e->seed_count * tally->column_count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section score has %" PRIu64 " values, expected %" PRIu64
                         " for each of %" PRIu64 " seeds",
                         e->view.key, e->score_count, (uint64_t)tally->column_count, e->seed_count);
    return tally_merge(tally, &loss, e->tally, e->score, e->truth, e->score_count, err);
}

enum error_code validation_check(const struct pipeline_settings *settings,
                                 const struct partition_book *book, struct error *err)
{
    const struct task *task = task_of(book->task);
    const enum metric metric = validation_metric(settings, book);
    char names[256] = "";
    if (task_has_metric(task, metric, book->class_count))
        return ERROR_NONE;
    for (enum metric m = 0; m < METRIC_COUNT; m++)
        if (task_has_metric(task, m, book->class_count))
            (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                           names[0] ? ", " : "", metric_table[m].name);
    return error_set(err, ERROR_INVALID,
                     "checkpoint.metric is %s, which %s with %" PRIu32
                     " classes does not have: " ADVICE "choose one of %s",
                     metric_table[metric].name, task->name, book->class_count, names);
}

static enum error_code measure(const struct tally *tally, enum metric metric,
                               struct validation *out, struct error *err)
{
    enum error_code rc = tally_measure(tally, METRIC_LOSS, &out->loss, err);
    if (rc == ERROR_NONE)
        rc = tally_measure(tally, METRIC_ACCURACY, &out->accuracy, err);
    return rc == ERROR_NONE ? tally_measure(tally, metric, &out->metric, err) : rc;
}

enum error_code validation_read(const struct stage_context *context, const struct run_loss *loss,
                                int64_t version, struct validation *out, struct error *err)
{
    const double none = (double)NAN;
    struct tally tally = {0};
    *out = (struct validation){.loss = none, .accuracy = none, .metric = none};
    if (context->schedule->evaluation_slot_count == 0)
        return ERROR_NONE;
    const enum metric metric = validation_metric(context->settings, context->book);
    const bool all = task_metric_needs_all(task_of(context->book->task), metric);
    const struct tally_form form = run_loss_tally(loss, context->book, all);
    enum error_code rc = tally_init(&tally, &form, err);
    if (rc == ERROR_NONE)
        rc = evaluation_get_each(context->store, context->run_id, version,
                                 context->schedule->evaluation_slot_count, add_slot, &tally, err);
    if (rc == ERROR_NONE)
        rc = measure(&tally, metric, out, err);
    tally_release(&tally);
    return rc;
}
