/*
 * single_label - at most one class for a node: softmax cross-entropy, argmax.
 *
 *   loss of a row z with class y   -log softmax(z)[y] = log(sum over c of e^(z_c - z_y))
 *   its gradient                   softmax(z) - onehot(y)
 *
 * With class weights w and label smoothing e, as torch's CrossEntropyLoss(weight=w,
 * label_smoothing=e):
 *
 *   loss of a row     sum over c of a_c (-log softmax(z)[c])
 *                     with a_c = (1 - e) w_y onehot(y)_c + e / C w_c
 *   its gradient      (sum over c of a_c) softmax(z) - a
 *   mean over rows    their sum divided by the sum of w_y; if that is 0, the mean is undefined (NaN
 *                     in torch) and the rows have no gradient
 *
 * A label is an int32; -1 means none. The code uses logf instead of log: glibc's single-precision
 * function gives the same bits with and without fused multiply-add, the double one does not.
 */
#include "common/nn/tasks/single_label.h"

#include "common/base/text.h"
#include "common/nn/tasks/metrics.h"
#include "common/nn/tasks/softmax_terms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Each class needs weights in the model. A larger number in the label file is probably an id by
 * mistake. */
enum { CLASS_MAX = (1 << 20) - 1 };

static bool is_one_column(uint32_t columns)
{
    return columns == 1;
}

enum error_code single_label_take(const double *column, uint32_t columns, uint32_t class_limit,
                                  void *row, struct error *err)
{
    const double value = column[0];
    const double most = class_limit ? (double)class_limit - 1 : (double)CLASS_MAX;
    int32_t label = -1;
    (void)columns;
    if (!isnan(value) && (!(value >= -1.0 && value <= most) || floor(value) < value))
        return error_set(err, ERROR_INPUT,
                         "label: expected a class from 0 to %.0f, or -1 for none, found %.15g",
                         most, value);
    if (!isnan(value))
        label = (int32_t)value;
    memcpy(row, &label, sizeof label);
    return ERROR_NONE;
}

uint32_t single_label_width(uint32_t class_count)
{
    (void)class_count;
    return 1;
}

static int32_t class_of(const void *row)
{
    int32_t label = 0;
    memcpy(&label, row, sizeof label);
    return label;
}

enum error_code single_label_check(const void *row, uint32_t class_count, struct error *err)
{
    const int32_t label = class_of(row);
    if (label >= -1 && label < (int64_t)class_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "expected -1 to %" PRId64 ", found %" PRId32,
                     (int64_t)class_count - 1, label);
}

bool single_label_has_label(const void *row)
{
    return class_of(row) >= 0;
}

uint32_t single_label_class_count(const void *row, uint64_t rows, uint32_t columns)
{
    const int32_t *label = row;
    int32_t largest = -1;
    (void)columns;
    for (uint64_t i = 0; i < rows; i++)
        largest = label[i] > largest ? label[i] : largest;
    return (uint32_t)(largest + 1);
}

void single_label_describe(uint32_t class_count, char *text, size_t size)
{
    (void)snprintf(text, size, "one of %" PRIu32 " classes", class_count);
}

bool single_label_is_in_class(const void *row, uint32_t class)
{
    return class_of(row) == (int32_t) class;
}

static size_t largest_of(const float *logit, uint32_t class_count)
{
    size_t best = 0;
    for (size_t c = 1; c < class_count; c++)
        if (logit[c] > logit[best])
            best = c;
    return best;
}

/* Returns -log softmax(logit)[label] and writes its gradient, times `share`, to `gradient`. */
static double softmax_row(const float *logit, size_t label, size_t class_count, size_t best,
                          double share, float *gradient)
{
    const double sum = softmax_terms(logit, class_count, logit[best], gradient);
    for (size_t c = 0; gradient && c < class_count; c++)
        gradient[c] = (float)(((double)gradient[c] / sum - (c == label)) * share);
    return (double)logf((float)sum) - ((double)logit[label] - (double)logit[best]);
}

static double weight_of(const struct loss_rule *rule, size_t class)
{
    return rule->class_weight ? rule->class_weight[class] : 1;
}

/* Does the same for a row with class weights and label smoothing. */
static double weighted_row(const struct loss_rule *rule, const float *logit, size_t label,
                           size_t class_count, size_t best, double share, float *gradient)
{
    const double even = rule->label_smoothing / (double)class_count;
    const double own = (1 - rule->label_smoothing) * weight_of(rule, label);
    const double sum = softmax_terms(logit, class_count, logit[best], gradient);
    double part_sum = 0, loss = 0;
    const double log_sum = (double)logf((float)sum);
    for (size_t c = 0; c < class_count; c++) {
        const double part = even * weight_of(rule, c) + (c == label ? own : 0);
        part_sum += part;
        /* 0 x infinity: a class with probability 0 adds nothing if its part of the target is 0 */
        if (part > 0 || isnan(logit[c]))
            loss += part * (log_sum - ((double)logit[c] - (double)logit[best]));
    }
    for (size_t c = 0; gradient && c < class_count; c++) {
        const double part = even * weight_of(rule, c) + (c == label ? own : 0);
        gradient[c] = (float)((part_sum * ((double)gradient[c] / sum) - part) * share);
    }
    return loss;
}

/* Counts the labelled rows and returns the share of one row in the mean. */
static double share_of_row(const struct loss_rule *rule, const int32_t *label, size_t rows,
                           struct loss_result *result)
{
    for (size_t row = 0; row < rows; row++)
        if (label[row] >= 0) {
            result->label_count++;
            if (rule->class_weight)
                result->weight_sum += rule->class_weight[label[row]];
        }
    const double all = rule->class_weight ? result->weight_sum : (double)result->label_count;
    return all > 0 ? 1 / all : 0;
}

struct loss_result single_label_loss(const struct loss_rule *rule, const float *output,
                                     const void *labels, size_t rows, uint32_t class_count,
                                     float *gradient)
{
    const int32_t *label = labels;
    const bool is_plain = !rule->class_weight && !(rule->label_smoothing > 0);
    struct loss_result result = {.is_weighted = rule->class_weight};
    const double share = share_of_row(rule, label, rows, &result);
    for (size_t row = 0; row < rows; row++) {
        const float *logit = output + row * class_count;
        float *slope = gradient ? gradient + row * class_count : NULL;
        if (label[row] < 0) {
            for (size_t c = 0; slope && c < class_count; c++)
                slope[c] = 0;
            continue;
        }
        const size_t best = largest_of(logit, class_count);
        const size_t truth = (size_t)label[row];
        result.sum += is_plain ? softmax_row(logit, truth, class_count, best, share, slope)
                               : weighted_row(rule, logit, truth, class_count, best, share, slope);
        result.correct_count += best == (size_t)label[row];
    }
    return result;
}

/* Counts the argmax of each row; ties go to the lower class. */
void single_label_count(const float *output, const void *labels, size_t rows, uint32_t class_count,
                        bool all, double *confusion)
{
    const int32_t *label = labels;
    (void)all;
    for (size_t row = 0; row < rows; row++) {
        if (label[row] < 0)
            continue;
        const size_t truth = (size_t)label[row];
        const size_t best = largest_of(output + row * class_count, class_count);
        metrics_count(confusion, class_count, best, true, best == truth);
        if (best != truth)
            metrics_count(confusion, class_count, truth, false, true);
    }
}

uint32_t single_label_score_columns(uint32_t class_count)
{
    return class_count == 2;
}

/* The score is the difference of the logits. It orders nodes as the probability does, but does
 * not saturate. */
void single_label_score(const float *output, const void *label, uint32_t column, float *out,
                        uint8_t *truth)
{
    (void)column;
    *out = output[1] - output[0];
    *truth = class_of(label) == 1;
}

static enum error_code accuracy(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = (double)tally->loss.correct_count / (double)tally->loss.label_count;
    return ERROR_NONE;
}

static enum error_code macro_f1(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = metrics_macro_f1(tally->count, tally->class_count, false);
    return ERROR_NONE;
}

/* Writes a probability from 0 to 1 with six digits. */
static size_t put_probability(char *out, double probability)
{
    enum { UNIT = 1000000 };
    const uint32_t millionths = (uint32_t)(probability * UNIT + 0.5);
    size_t size = text_put_number(out, millionths / UNIT);
    out[size++] = '.';
    for (uint32_t unit = UNIT / 10; unit; unit /= 10)
        out[size++] = (char)('0' + millionths / unit % 10);
    return size;
}

size_t single_label_print(char *out, const float *logit, const void *label, uint32_t class_count)
{
    const size_t best = largest_of(logit, class_count);
    const double sum = softmax_terms(logit, class_count, logit[best], NULL);
    size_t size =
        single_label_has_label(label) ? text_put_number(out, (uint64_t)class_of(label)) : 0;
    out[size++] = ',';
    size += text_put_number(out + size, best);
    out[size++] = ',';
    if (!isnan(sum))
        return size + put_probability(out + size, 1.0 / sum);
    for (const char *c = "nan"; *c; c++)
        out[size++] = *c;
    return size;
}

const struct task_metric single_label_metrics[SINGLE_LABEL_METRIC_COUNT] = {
    {METRIC_LOSS, false, false, tally_mean_loss},
    {METRIC_ACCURACY, false, false, accuracy},
    {METRIC_MICRO_F1, false, false, metrics_tally_micro_f1},
    {METRIC_MACRO_F1, false, false, macro_f1},
    {METRIC_ROC_AUC, true, false, tally_roc_auc},
};

const enum loss single_label_losses[SINGLE_LABEL_LOSS_COUNT] = {LOSS_CROSS_ENTROPY};

const struct task task_single_label = {
    .name = "single_label",
    .takes_columns = is_one_column,
    SINGLE_LABEL_FIELDS,
};
