#include "common/nn/tasks/metrics.h"

#include "common/base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

void metrics_count(double *confusion, size_t class_count, size_t class, bool predicted,
                   bool true_label)
{
    if (predicted && true_label)
        confusion[class]++;
    else if (predicted)
        confusion[class_count + class]++;
    else if (true_label)
        confusion[2 * class_count + class]++;
}

size_t metrics_confusion_size(uint32_t class_count, bool all)
{
    (void)all;
    return 3 * (size_t)class_count;
}

/* Returns the harmonic mean of precision and recall; 0 if there is neither truth nor prediction. */
static double f1(double true_positive, double false_positive, double false_negative)
{
    const double all = 2 * true_positive + false_positive + false_negative;
    return all > 0 ? 2 * true_positive / all : 0;
}

double metrics_micro_f1(const double *confusion, uint32_t class_count)
{
    double sum[3] = {0};
    for (size_t kind = 0; kind < 3; kind++)
        for (size_t c = 0; c < class_count; c++)
            sum[kind] += confusion[kind * class_count + c];
    return f1(sum[0], sum[1], sum[2]);
}

double metrics_macro_f1(const double *confusion, uint32_t class_count, bool is_multi)
{
    double sum = 0;
    size_t counted = 0;
    for (size_t c = 0; c < class_count; c++) {
        const double true_positive = confusion[c], false_positive = confusion[class_count + c],
                     false_negative = confusion[2 * (size_t)class_count + c];
        sum += f1(true_positive, false_positive, false_negative);
        counted += is_multi || true_positive + false_positive + false_negative > 0;
    }
    return counted ? sum / (double)counted : 0;
}

enum error_code metrics_tally_micro_f1(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = metrics_micro_f1(tally->count, tally->class_count);
    return ERROR_NONE;
}

struct scored {
    float score;
    uint8_t truth;
};

static int by_score(const void *a, const void *b)
{
    const float x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
    return (x > y) - (x < y);
}

/* Returns how often a positive is above a negative. It adds the rank of each positive among all,
 * from 1, with the mean rank for equal scores, and subtracts the ranks that the positives would
 * have among themselves. */
static double area(const struct scored *item, size_t count)
{
    double rank_sum = 0;
    size_t positives = 0;
    for (size_t first = 0, end; first < count; first = end) {
        size_t tied_positives = 0;
        for (end = first; end < count && item[end].score <= item[first].score; end++)
            tied_positives += item[end].truth != 0;
        rank_sum += (double)tied_positives * ((double)(first + 1 + end) / 2);
        positives += tied_positives;
    }
    const double p = (double)positives, n = (double)(count - positives);
    return p > 0 && n > 0 ? (rank_sum - p * (p + 1) / 2) / (p * n) : (double)NAN;
}

/* Goes through the scores from the highest down, all equal scores in one step. */
static double mean_precision(const struct scored *item, size_t count)
{
    double sum = 0;
    size_t positives = 0;
    for (size_t end = count, first; end > 0; end = first) {
        size_t found = 0;
        for (first = end; first > 0 && item[first - 1].score >= item[end - 1].score; first--)
            found += item[first - 1].truth != 0;
        positives += found;
        sum += (double)found * (double)positives / (double)(count - first);
    }
    return positives ? sum / (double)positives : (double)NAN;
}

enum error_code metrics_column(const float *score, const uint8_t *truth, size_t count,
                               size_t stride, struct column_metrics *out, struct error *err)
{
    struct scored *item = NULL;
    *out = (struct column_metrics){(double)NAN, (double)NAN};
    const enum error_code rc = memory_new(&item, count, "sorted scores", err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < count; i++) {
        const float value = score[i * stride];
        item[i] = (struct scored){isnan(value) ? -INFINITY : value, truth[i * stride]};
    }
    qsort(item, count, sizeof *item, by_score);
    *out = (struct column_metrics){area(item, count), mean_precision(item, count)};
    memory_free(item);
    return ERROR_NONE;
}

enum error_code metrics_roc_auc(const float *score, const uint8_t *truth, size_t count, double *out,
                                struct error *err)
{
    struct column_metrics column;
    const enum error_code rc = metrics_column(score, truth, count, 1, &column, err);
    *out = column.roc_auc;
    return rc;
}

enum error_code metrics_average_precision(const float *score, const uint8_t *truth, size_t count,
                                          double *out, struct error *err)
{
    struct column_metrics column;
    const enum error_code rc = metrics_column(score, truth, count, 1, &column, err);
    *out = column.average_precision;
    return rc;
}
