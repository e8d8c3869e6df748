#include "common/nn/tasks/tally.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum error_code tally_init(struct tally *tally, const struct task *task, uint32_t class_count,
                           struct error *err)
{
    *tally = (struct tally){
        .task = task, .class_count = class_count, .count_size = task->count_size(class_count)};
    return memory_new(&tally->count, tally->count_size, "counts of predictions", err);
}

void tally_reset(struct tally *tally)
{
    tally->loss = (struct loss_result){0};
    tally->score_count = 0;
    memset(tally->count, 0, tally->count_size * sizeof *tally->count);
}

void tally_release(struct tally *tally)
{
    memory_free(tally->count);
    memory_free(tally->score);
    memory_free(tally->truth);
    *tally = (struct tally){0};
}

static bool keeps_scores(const struct tally *tally)
{
    return tally->task->score && tally->class_count == 2;
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
    const size_t row_bytes = tally->task->label_width(2) * sizeof(float);
    for (size_t i = 0; i < rows; i++) {
        if (!tally->task->has_label(label + i * row_bytes))
            continue;
        tally->task->score(output + 2 * i, label + i * row_bytes, &tally->score[tally->score_count],
                           &tally->truth[tally->score_count]);
        tally->score_count++;
    }
}

enum error_code tally_add(struct tally *tally, const float *output, const void *label, size_t rows,
                          struct error *err)
{
    const struct task *task = tally->task;
    const enum error_code rc = keeps_scores(tally) ? reserve_scores(tally, rows, err) : ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    const struct loss_result loss = task->loss(output, label, rows, tally->class_count, NULL);
    add_loss(&tally->loss, &loss);
    task->count(output, label, rows, tally->class_count, tally->count);
    if (keeps_scores(tally))
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
    (void)err;
    *out = tally->loss.sum / (double)tally->loss.label_count;
    return ERROR_NONE;
}

static enum error_code measure(const struct tally *tally, const struct task_metric *metric,
                               double *out, struct error *err)
{
    *out = (double)NAN;
    return tally->loss.label_count ? metric->measure(tally, out, err) : ERROR_NONE;
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

enum error_code tally_put_json(const struct tally *tally, const char *name,
                               struct json_writer *json, struct error *err)
{
    const struct task *task = tally->task;
    enum error_code rc = ERROR_NONE;
    json_open_object(json, name);
    json_put_int64(
        json, task->example == EXAMPLE_PAIR ? "pairs" : "nodes",
        (int64_t)(task->example == EXAMPLE_PAIR ? tally->score_count : tally->loss.label_count));
    for (int i = 0; i < task->metric_count && rc == ERROR_NONE; i++) {
        double value = 0;
        if (task->metric[i].needs_scores && tally->class_count != 2)
            continue;
        rc = measure(tally, &task->metric[i], &value, err);
        json_put_double(json, metric_table[task->metric[i].metric].name, value);
    }
    json_close_object(json);
    return rc;
}
