/*
 * prediction_table - predictions.csv, one line a node, in the user's ids.
 */
#ifndef STAGES_INFER_PREDICTION_TABLE_H
#define STAGES_INFER_PREDICTION_TABLE_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "common/nn/tasks/task.h"
#include "store/records/node_ids.h"

#include <stdint.h>
#include <stdio.h>

struct prediction_table { /* {0} is closed */
    FILE *file;
    char path[FILE_PATH_SIZE];
    enum task_kind task;
    uint32_t class_count;
    int failure;                /* errno of the first write that failed */
    const struct node_ids *ids; /* borrowed; without arrays: 0 .. N-1 */
};

MUST_CHECK enum error_code prediction_table_open(struct prediction_table *table, const char *path,
                                                 enum task_kind task, uint32_t class_count,
                                                 const struct node_ids *ids, struct error *err);
/* The line of dataset node `node`. `label`: a row as the task has it. */
MUST_CHECK enum error_code prediction_table_add(struct prediction_table *table, uint32_t node,
                                                const char *split, const float *logit,
                                                const void *label, struct error *err);
MUST_CHECK enum error_code prediction_table_finish(struct prediction_table *table,
                                                   struct error *err);
/* node_ids.csv: the header "node", then the id of each dataset node, for rows of embeddings.npy that no
 * predictions.csv names. */
MUST_CHECK enum error_code prediction_table_write_ids(const char *path, const struct node_ids *ids,
                                                      uint32_t node_count, struct error *err);
void prediction_table_close(struct prediction_table *table);

#endif
