/*
 * split_metrics - accuracy, F1 and area under the ROC of train, valid and test, over whole splits.
 */
#ifndef STAGES_INFER_SPLIT_METRICS_H
#define STAGES_INFER_SPLIT_METRICS_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "common/nn/tasks/loss.h"
#include "store/records/dataset_schema.h"

#include <stddef.h>
#include <stdint.h>

struct split_metrics { /* {0} is empty; one for each split */
    enum dataset_task task;
    uint32_t class_count;
    struct loss_result loss;
    uint64_t *confusion; /* [3, class_count], owned */
    float *score;        /* two classes only: [score_count], owned */
    uint8_t *truth;
    size_t score_count, score_capacity;
};

MUST_CHECK enum error_code split_metrics_init(struct split_metrics *metrics, enum dataset_task task,
                                              uint32_t class_count, uint64_t node_count,
                                              struct error *err);
void split_metrics_release(struct split_metrics *metrics);
/* Adds rows: logits [rows, class_count]; `label` as the shards hold them: int32 [rows] or float32
 * [rows, class_count]. */
void split_metrics_add(struct split_metrics *metrics, const float *logits, const void *label,
                       size_t rows);
/* Writes {"nodes":..,"loss":..,"accuracy":..,"micro_f1":..,"macro_f1":..[,"roc_auc":..]} under `name`. */
MUST_CHECK enum error_code split_metrics_write(const struct split_metrics *metrics,
                                               const char *name, struct json_writer *json,
                                               struct error *err);

#endif
