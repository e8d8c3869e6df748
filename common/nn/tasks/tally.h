/*
 * tally - counts predictions against the truth, over rows, slots and parts, and computes metrics
 * from the counts.
 *
 * Areas under curves need the scores of each row. A tally keeps the scores of a range of columns,
 * which takes five bytes for each row and column. If all columns are too many, they are measured
 * range by range, each in one pass over the rows (tally_fold()).
 */
#ifndef COMMON_NN_TASKS_TALLY_H
#define COMMON_NN_TASKS_TALLY_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "common/nn/tasks/task.h"

#include <stddef.h>
#include <stdint.h>

struct tally_form {
    const struct task *task;
    uint32_t class_count;
    struct loss_rule loss;
    bool all; /* also counts what only some metrics need, so that every metric is available */
};

/* The sum of a metric over the columns that have been measured so far. */
struct column_sum {
    double sum;
    uint32_t count;
};

struct tally { /* {0} is empty and releasable */
    const struct task *task;
    uint32_t class_count;
    struct loss_rule rule;
    bool all, is_weighted;
    struct loss_result loss;
    /* [count_size], owned, laid out by the task; if classes have weights, the last is the
     * sum of the row weights */
    double *count;
    size_t count_size;
    uint32_t first_column, column_count; /* the range of columns whose scores are kept */
    float *score;                        /* [score_count]: rows of column_count, owned */
    uint8_t *truth;                      /* [score_count] */
    size_t score_count, score_capacity, truth_capacity;
    /* over the columns that tally_fold() has measured */
    struct column_sum roc_auc, average_precision;
};

/* Initialises a tally. It keeps all columns of scores if there are two classes (single label) or
 * if the form says `all`. Class weights are borrowed. */
MUST_CHECK enum error_code tally_init(struct tally *tally, const struct tally_form *form,
                                      struct error *err);
/* Initialises an empty tally that counts the same as `of`. */
MUST_CHECK enum error_code tally_init_like(struct tally *tally, const struct tally *of,
                                           struct error *err);
/* Restricts the scores that are kept to those columns. No scores may be kept yet. */
void tally_keep_columns(struct tally *tally, uint32_t first, uint32_t count);
/* Measures the columns whose scores `tally` keeps, adds the results to `into` (which may be
 * `tally`), and discards the scores. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_fold(struct tally *tally, struct tally *into, struct error *err);
/* Clears all counts and keeps the memory. */
void tally_reset(struct tally *tally);
void tally_release(struct tally *tally);
/* Adds rows: output [rows, class_count], and labels in the task's form. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_add(struct tally *tally, const float *output, const void *label,
                                     size_t rows, struct error *err);
/* Adds the counts of another tally: count [tally->count_size], score and truth [score_count].
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_merge(struct tally *tally, const struct loss_result *loss,
                                       const double *count, const float *score,
                                       const uint8_t *truth, size_t score_count, struct error *err);
/* The counts of a tally for a task of pairs. */
enum link_count {
    LINK_COUNT_RANKED,     /* edges that were ranked */
    LINK_COUNT_RECIPROCAL, /* sum of 1 / rank */
    LINK_COUNT_HITS_1,     /* edges of rank 1; below, up to 3 and up to 10 */
    LINK_COUNT_HITS_3,
    LINK_COUNT_HITS_10,
    LINK_COUNT_COUNT
};
/* Adds pairs and their loss: score [count], and truth [count], which is 1 for an edge. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_add_pairs(struct tally *tally, const struct loss_result *loss,
                                           const float *score, const uint8_t *truth, size_t count,
                                           struct error *err);
/* Adds an edge for which `above` candidates have a higher score and `equal` candidates the same
 * score. */
void tally_add_rank(struct tally *tally, uint64_t above, uint64_t equal);

/* Computes a metric. It is NaN if it is undefined, for example without rows, or if the task does
 * not have the metric. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_measure(const struct tally *tally, enum metric metric, double *out,
                                         struct error *err);
/* Writes the task's metrics under `name`: {"nodes":..,"loss":..,...}. */
MUST_CHECK enum error_code tally_put_json(const struct tally *tally, const char *name,
                                          struct json_writer *json, struct error *err);

/* Writes the same members without an object around them. */
MUST_CHECK enum error_code tally_put_members(const struct tally *tally, struct json_writer *json,
                                             struct error *err);

/* Computes the mean loss, which every task has. */
enum error_code tally_mean_loss(const struct tally *tally, double *out, struct error *err);
/* Compute the means over the columns that have both ones and zeros. NaN if there is no such
 * column. */
enum error_code tally_roc_auc(const struct tally *tally, double *out, struct error *err);
enum error_code tally_average_precision(const struct tally *tally, double *out, struct error *err);

#endif
