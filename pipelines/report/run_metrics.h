/*
 * run_metrics - the lines of metrics.jsonl (stages/plan/chain/metrics_log.h) as columns of numbers.
 */
#ifndef PIPELINES_REPORT_RUN_METRICS_H
#define PIPELINES_REPORT_RUN_METRICS_H

#include "common/base/error.h"

#include <stddef.h>

enum { METRIC_NAME_SIZE = 40, METRIC_COUNT_MAX = 24 };

/* One metric over the run. */
struct metric_column {
    char name[METRIC_NAME_SIZE]; /* "loss", "valid_accuracy", as in the lines */
    double *value;               /* [count of its table], NaN if a line has no value; owned */
    size_t capacity;
};

struct metric_table {
    double *number; /* [count]: the round, or the version of the snapshot; owned */
    size_t count, capacity;
    struct metric_column column[METRIC_COUNT_MAX];
    size_t column_count;
};

struct run_metrics { /* {0} is empty */
    struct metric_table rounds, snapshots;
};

/* Parses `text` [size], which has whole lines. Messages name it by `name`. Keys beyond
 * METRIC_COUNT_MAX are skipped. Fails: ERROR_INPUT naming the line that is not a JSON object;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code run_metrics_parse(const char *text, size_t size, const char *name,
                                             struct run_metrics *out, struct error *err);
/* Returns the column, or NULL if no line has it. */
const struct metric_column *metric_table_find(const struct metric_table *table, const char *name);
void run_metrics_release(struct run_metrics *metrics);

#endif
