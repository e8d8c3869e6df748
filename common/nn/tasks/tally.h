/*
 * tally - predictions beside the truth, counted: over rows, slots and parts, and what metrics come of it.
 *
 * Areas under curves need each row's scores. A tally keeps those of a range of columns, which takes five bytes a row and
 * column; where all columns are too many, they are taken range by range, each in a pass over the rows (tally_fold()).
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
    bool all; /* counts what every metric is made of, and not what most are */
};

/* Of the columns that are measured by now. */
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
    double *
        count; /* [count_size], owned, as the task counts; where classes have weights, last the sum of those of rows */
    size_t count_size;
    uint32_t first_column, column_count; /* of scores, those that are kept */
    float *score;                        /* [score_count]: rows of column_count, owned */
    uint8_t *truth;                      /* [score_count] */
    size_t score_count, score_capacity, truth_capacity;
    struct column_sum roc_auc, average_precision; /* of columns that tally_fold() took */
};

/* Keeps all columns of scores: of two classes (single label), or where it counts all. Class weights are borrowed. */
MUST_CHECK enum error_code tally_init(struct tally *tally, const struct tally_form *form,
                                      struct error *err);
/* An empty one that counts the same. */
MUST_CHECK enum error_code tally_init_like(struct tally *tally, const struct tally *of,
                                           struct error *err);
/* Keeps those columns alone, from now on; none are kept yet. */
void tally_keep_columns(struct tally *tally, uint32_t first, uint32_t count);
/* Measures the columns that `tally` keeps, for `into`, which may be the same, and gives up their scores. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_fold(struct tally *tally, struct tally *into, struct error *err);
/* Nothing counted, memory kept. */
void tally_reset(struct tally *tally);
void tally_release(struct tally *tally);
/* Adds rows: output [rows, class_count], labels as the task has them. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_add(struct tally *tally, const float *output, const void *label,
                                     size_t rows, struct error *err);
/* Adds what others counted. count [tally->count_size], score and truth [score_count]. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_merge(struct tally *tally, const struct loss_result *loss,
                                       const double *count, const float *score,
                                       const uint8_t *truth, size_t score_count, struct error *err);
/* What a tally of a task of pairs counts. */
enum link_count {
    LINK_COUNT_RANKED,     /* edges that were ranked */
    LINK_COUNT_RECIPROCAL, /* sum of 1 / rank */
    LINK_COUNT_HITS_1,     /* ranks up to 1, 3, 10 */
    LINK_COUNT_HITS_3,
    LINK_COUNT_HITS_10,
    LINK_COUNT_COUNT
};
/* Adds pairs and what their loss is: score [count], truth [count], 1 for an edge. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_add_pairs(struct tally *tally, const struct loss_result *loss,
                                           const float *score, const uint8_t *truth, size_t count,
                                           struct error *err);
/* Adds an edge of which `above` candidates have a higher score and `equal` ones the same. */
void tally_add_rank(struct tally *tally, uint64_t above, uint64_t equal);

/* NaN where it is not defined, as of no rows, or where the task has no such metric. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code tally_measure(const struct tally *tally, enum metric metric, double *out,
                                         struct error *err);
/* Writes {"nodes":..,"loss":..,...} under `name`: the task's metrics. */
MUST_CHECK enum error_code tally_put_json(const struct tally *tally, const char *name,
                                          struct json_writer *json, struct error *err);

/* The same members without the object around them. */
MUST_CHECK enum error_code tally_put_members(const struct tally *tally, struct json_writer *json,
                                             struct error *err);

/* The mean loss, which every task has. */
enum error_code tally_mean_loss(const struct tally *tally, double *out, struct error *err);
/* The means over the columns that have both, ones and zeros; of the one there is, that. NaN for none. */
enum error_code tally_roc_auc(const struct tally *tally, double *out, struct error *err);
enum error_code tally_average_precision(const struct tally *tally, double *out, struct error *err);

#endif
