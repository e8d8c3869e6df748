#include "common/nn/tasks/tally.h"

#include "common/base/memory.h"
#include "common/nn/tasks/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum error_code tally_init(struct tally *tally, const struct tally_form *form, struct error *err)
{
    const struct task *task = form->task;
    *tally = (struct tally){
        .task = task,
        .class_count = form->class_count,
        .rule = form->loss,
        .all = form->all,
        .is_weighted = task->is_class_number && form->loss.class_weight,
        .count_size = task->count_size(form->class_count, form->all),
    };
    tally->count_size += tally->is_weighted;
    if (form->all || task_score_columns(task, form->class_count) == 1)
        tally->column_count = task_score_columns(task, form->class_count);
    return memory_new(&tally->count, tally->count_size, "counts of predictions", err);
}

enum error_code tally_init_like(struct tally *tally, const struct tally *of, struct error *err)
{
    const struct tally_form form = {
        .task = of->task, .class_count = of->class_count, .loss = of->rule, .all = of->all};
    const enum error_code rc = tally_init(tally, &form, err);
    tally_keep_columns(tally, of->first_column, of->column_count);
    return rc;
}

void tally_keep_columns(struct tally *tally, uint32_t first, uint32_t count)
{
    must(tally->score_count == 0);
    tally->first_column = first;
    tally->column_count = count;
}

void tally_reset(struct tally *tally)
{
    tally->loss = (struct loss_result){0};
    tally->score_count = 0;
    tally->roc_auc = tally->average_precision = (struct column_sum){0};
    memset(tally->count, 0, tally->count_size * sizeof *tally->count);
}

void tally_release(struct tally *tally)
{
    memory_free(tally->count);
    memory_free(tally->score);
    memory_free(tally->truth);
    *tally = (struct tally){0};
}

static enum error_code reserve_scores(struct tally *tally, size_t more, struct error *err)
{
    static const char what[] = "the scores of nodes";
    const size_t wanted = tally->score_count + more;
    const enum error_code rc =
        memory_grow(&tally->score, &tally->score_capacity, wanted, what, err);
    return rc == ERROR_NONE ? memory_grow(&tally->truth, &tally->truth_capacity, wanted, what, err)
                            : rc;
}

static void add_loss(struct loss_result *total, const struct loss_result *part)
{
    total->sum += part->sum;
    total->label_count += part->label_count;
    total->correct_count += part->correct_count;
}

static void add_scores(struct tally *tally, const float *output, const char *label, size_t rows)
{
    const struct task *task = tally->task;
    const size_t row_bytes = task->label_width(tally->class_count) * sizeof(float);
    for (size_t i = 0; i < rows; i++, output += tally->class_count, label += row_bytes)
        for (uint32_t c = 0; task->has_label(label) && c < tally->column_count; c++) {
            task->score(output, label, tally->first_column + c, &tally->score[tally->score_count],
                        &tally->truth[tally->score_count]);
            tally->score_count++;
        }
}

enum error_code tally_add(struct tally *tally, const float *output, const void *label, size_t rows,
                          struct error *err)
{
    const struct task *task = tally->task;
    const enum error_code rc =
        tally->column_count ? reserve_scores(tally, rows * tally->column_count, err) : ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    const struct loss_result loss =
        task->loss(&tally->rule, output, label, rows, tally->class_count, NULL);
    add_loss(&tally->loss, &loss);
    task->count(output, label, rows, tally->class_count, tally->all, tally->count);
    if (tally->is_weighted)
        tally->count[tally->count_size - 1] += loss.weight_sum;
    add_scores(tally, output, label, rows);
    return ERROR_NONE;
}

enum error_code tally_merge(struct tally *tally, const struct loss_result *loss,
                            const double *count, const float *score, const uint8_t *truth,
                            size_t score_count, struct error *err)
{
    const enum error_code rc = reserve_scores(tally, score_count, err);
    if (rc != ERROR_NONE)
        return rc;
    add_loss(&tally->loss, loss);
    for (size_t i = 0; i < tally->count_size; i++)
        tally->count[i] += count[i];
    if (score_count) {
        memcpy(tally->score + tally->score_count, score, score_count * sizeof *score);
        memcpy(tally->truth + tally->score_count, truth, score_count);
    }
    tally->score_count += score_count;
    return ERROR_NONE;
}

enum error_code tally_add_pairs(struct tally *tally, const struct loss_result *loss,
                                const float *score, const uint8_t *truth, size_t count,
                                struct error *err)
{
    const enum error_code rc = reserve_scores(tally, count, err);
    if (rc != ERROR_NONE)
        return rc;
    add_loss(&tally->loss, loss);
    if (count) {
        memcpy(tally->score + tally->score_count, score, count * sizeof *score);
        memcpy(tally->truth + tally->score_count, truth, count);
    }
    tally->score_count += count;
    return ERROR_NONE;
}

void tally_add_rank(struct tally *tally, uint64_t above, uint64_t equal)
{
    static const double most[] = {1, 3, 10};
    const double rank = 1 + (double)above + (double)equal / 2;
    tally->count[LINK_COUNT_RANKED]++;
    tally->count[LINK_COUNT_RECIPROCAL] += 1 / rank;
    for (int i = 0; i < 3; i++)
        tally->count[LINK_COUNT_HITS_1 + i] += rank <= most[i];
}

enum error_code tally_mean_loss(const struct tally *tally, double *out, struct error *err)
{
    struct loss_result loss = tally->loss;
    (void)err;
    loss.is_weighted = tally->is_weighted;
    loss.weight_sum = tally->is_weighted ? tally->count[tally->count_size - 1] : 0;
    *out = loss_mean(&loss);
    return ERROR_NONE;
}

static void add_column(struct column_sum *sum, double value)
{
    if (isnan(value))
        return;
    sum->sum += value;
    sum->count++;
}

/* Adds the metrics of the columns whose scores are kept, one column after the other. */
static enum error_code measure_columns(const struct tally *tally, struct column_sum *roc_auc,
                                       struct column_sum *average_precision, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t c = 0; tally->score_count && rc == ERROR_NONE && c < tally->column_count; c++) {
        struct column_metrics column;
        rc = metrics_column(tally->score + c, tally->truth + c,
                            tally->score_count / tally->column_count, tally->column_count, &column,
                            err);
        /* OGB leaves such a column out */
        if (isnan(column.roc_auc) && !task_row_has(tally->task, TASK_RANKS))
            continue;
        add_column(roc_auc, column.roc_auc);
        add_column(average_precision, column.average_precision);
    }
    return rc;
}

enum error_code tally_fold(struct tally *tally, struct tally *into, struct error *err)
{
    const enum error_code rc =
        measure_columns(tally, &into->roc_auc, &into->average_precision, err);
    tally->score_count = 0;
    return rc;
}

static double mean_of(const struct column_sum *sum)
{
    return sum->count ? sum->sum / sum->count : (double)NAN;
}

enum error_code tally_roc_auc(const struct tally *tally, double *out, struct error *err)
{
    struct column_sum sum = tally->roc_auc, other = {0};
    const enum error_code rc = measure_columns(tally, &sum, &other, err);
    *out = mean_of(&sum);
    return rc;
}

enum error_code tally_average_precision(const struct tally *tally, double *out, struct error *err)
{
    struct column_sum sum = tally->average_precision, other = {0};
    const enum error_code rc = measure_columns(tally, &other, &sum, err);
    *out = mean_of(&sum);
    return rc;
}

static enum error_code measure(const struct tally *tally, const struct task_metric *metric,
                               double *out, struct error *err)
{
    *out = (double)NAN;
    if (tally->loss.label_count == 0 || (metric->needs_all && !tally->all))
        return ERROR_NONE;
    return metric->measure(tally, out, err);
}

enum error_code tally_measure(const struct tally *tally, enum metric metric, double *out,
                              struct error *err)
{
    *out = (double)NAN;
    if (!task_has_metric(tally->task, metric, tally->class_count))
        return ERROR_NONE;
    for (int i = 0; i < tally->task->metric_count; i++)
        if (tally->task->metric[i].metric == metric)
            return measure(tally, &tally->task->metric[i], out, err);
    return ERROR_NONE;
}

enum error_code tally_put_members(const struct tally *tally, struct json_writer *json,
                                  struct error *err)
{
    const struct task *task = tally->task;
    enum error_code rc = ERROR_NONE;
    json_put_int64(
        json, task_examples[task->example].plural,
        (int64_t)(task_row_has(task, TASK_RANKS) ? tally->score_count : tally->loss.label_count));
    for (int i = 0; i < task->metric_count && rc == ERROR_NONE; i++) {
        double value = 0;
        if (!task_has_metric(task, task->metric[i].metric, tally->class_count) ||
            (task->metric[i].needs_all && !tally->all))
            continue;
        rc = measure(tally, &task->metric[i], &value, err);
        json_put_double(json, metric_table[task->metric[i].metric].name, value);
    }
    return rc;
}

enum error_code tally_put_json(const struct tally *tally, const char *name,
                               struct json_writer *json, struct error *err)
{
    json_open_object(json, name);
    const enum error_code rc = tally_put_members(tally, json, err);
    json_close_object(json);
    return rc;
}
