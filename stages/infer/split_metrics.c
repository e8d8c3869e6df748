#include "stages/infer/split_metrics.h"

#include "common/base/memory.h"
#include "common/nn/tasks/metrics.h"

#include <math.h>

enum error_code split_metrics_init(struct split_metrics *metrics, enum dataset_task task,
                                   uint32_t class_count, uint64_t node_count, struct error *err)
{
    *metrics = (struct split_metrics){.task = task, .class_count = class_count};
    enum error_code rc =
        memory_new(&metrics->confusion, 3 * (size_t)class_count, "a confusion table", err);
    if (rc == ERROR_NONE && task == TASK_SINGLE_LABEL && class_count == 2) {
        metrics->score_capacity = node_count;
        rc = memory_new(&metrics->score, node_count, "scores", err);
        if (rc == ERROR_NONE)
            rc = memory_new(&metrics->truth, node_count, "scores", err);
    }
    return rc;
}

void split_metrics_release(struct split_metrics *metrics)
{
    memory_free(metrics->confusion);
    memory_free(metrics->score);
    memory_free(metrics->truth);
    *metrics = (struct split_metrics){0};
}

static void add_scores(struct split_metrics *metrics, const float *logits, const int32_t *label,
                       size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        if (label[i] < 0)
            continue;
        must(metrics->score_count < metrics->score_capacity);
        metrics->score[metrics->score_count] = logits[2 * i + 1] - logits[2 * i];
        metrics->truth[metrics->score_count++] = label[i] == 1;
    }
}

static void add_loss(struct loss_result *total, struct loss_result part)
{
    total->sum += part.sum;
    total->label_count += part.label_count;
    total->correct_count += part.correct_count;
}

void split_metrics_add(struct split_metrics *metrics, const float *logits, const void *label,
                       size_t rows)
{
    const uint32_t classes = metrics->class_count;
    if (metrics->task == TASK_MULTI_LABEL) {
        metrics_add_multi(logits, label, rows, classes, metrics->confusion);
        add_loss(&metrics->loss, loss_binary(logits, label, rows, classes, NULL));
        return;
    }
    metrics_add_single(logits, label, rows, classes, metrics->confusion);
    add_loss(&metrics->loss, loss_softmax(logits, label, rows, classes, NULL));
    if (metrics->score)
        add_scores(metrics, logits, label, rows);
}

/* Of several labels a node: the share of bits that are right. */
static double accuracy(const struct split_metrics *metrics)
{
    const double count = (double)metrics->loss.label_count;
    uint64_t wrong = 0;
    if (metrics->task != TASK_MULTI_LABEL)
        return (double)metrics->loss.correct_count / count;
    for (size_t i = metrics->class_count; i < 3 * (size_t)metrics->class_count; i++)
        wrong += metrics->confusion[i];
    return 1 - (double)wrong / (count * metrics->class_count);
}

enum error_code split_metrics_write(const struct split_metrics *metrics, const char *name,
                                    struct json_writer *json, struct error *err)
{
    const double count = (double)metrics->loss.label_count;
    double area = (double)NAN;
    enum error_code rc = ERROR_NONE;
    if (metrics->score)
        rc = metrics_roc_auc(metrics->score, metrics->truth, metrics->score_count, &area, err);
    if (rc != ERROR_NONE)
        return rc;
    json_open_object(json, name);
    json_put_int64(json, "nodes", (int64_t)metrics->loss.label_count);
    json_put_double(json, "loss", metrics->loss.sum / count);
    json_put_double(json, "accuracy", accuracy(metrics));
    json_put_double(json, "micro_f1", metrics_micro_f1(metrics->confusion, metrics->class_count));
    json_put_double(json, "macro_f1",
                    metrics_macro_f1(metrics->confusion, metrics->class_count,
                                     metrics->task == TASK_MULTI_LABEL));
    if (metrics->score)
        json_put_double(json, "roc_auc", area);
    json_close_object(json);
    return ERROR_NONE;
}
