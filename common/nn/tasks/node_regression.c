/*
 * node_regression - one or more numbers for a node. The loss is the mean over rows and columns of
 * one of these functions of d = z - y, as in torch's MSELoss, L1Loss and HuberLoss(delta):
 *
 *   train-step.loss     l2      l1        huber
 *   loss                d^2     |d|       d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2)
 *   its gradient        2 d     sign(d)   d, limited to -delta .. delta
 *
 * Labels are float32; a row of NaN has no label. The metrics do not depend on the loss. They are
 * over rows and columns: the root of the mean square (rmse), the mean of |d| (mae), and the mean
 * over columns of 1 - sum d^2 / sum (y - mean y)^2 (r2). As in scikit-learn's r2_score, a column of
 * equal labels has r2 1 if every prediction is exact, otherwise 0.
 *
 * The counts hold the sum over rows of the mean of |d|. If the tally counts all, they also hold
 * that of d^2 and, for each column, the sums of d^2, y and y^2. The sums of y^2 lose (mean /
 * deviation)^2 of the 16 digits of a double.
 */
#include "common/nn/tasks/regression.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rejects infinities, which cannot be learnt, and NaN, which means that there is no label. */
static bool is_number(double value)
{
    return isfinite((float)value);
}

static const struct float_label_rule label_rule = {is_number, "a number of single precision"};

enum error_code regression_take(const double *column, uint32_t columns, uint32_t class_limit,
                                void *row, struct error *err)
{
    (void)class_limit;
    return float_labels_take(&label_rule, column, columns, row, err);
}

enum error_code regression_check(const void *row, uint32_t class_count, struct error *err)
{
    return float_labels_check(&label_rule, row, class_count, err);
}

void regression_describe(uint32_t class_count, char *text, size_t size)
{
    (void)snprintf(text, size, "a number in each of %" PRIu32 " columns", class_count);
}

/* The loss of one difference and its slope. */
struct element_loss {
    double (*value)(double off, double delta);
    double (*slope)(double off, double delta);
};

static double square(double off, double delta)
{
    (void)delta;
    return off * off;
}

static double square_slope(double off, double delta)
{
    (void)delta;
    return 2 * off;
}

static double absolute(double off, double delta)
{
    (void)delta;
    return fabs(off);
}

static double absolute_slope(double off, double delta)
{
    (void)delta;
    return isnan(off) ? off : (double)(off > 0) - (double)(off < 0);
}

static double huber(double off, double delta)
{
    return fabs(off) > delta ? delta * (fabs(off) - delta / 2) : off * off / 2;
}

static double huber_slope(double off, double delta)
{
    return fabs(off) > delta ? copysign(delta, off) : off;
}

static const struct element_loss element_loss[LOSS_COUNT] = {
    [LOSS_L2] = {square, square_slope},
    [LOSS_L1] = {absolute, absolute_slope},
    [LOSS_HUBER] = {huber, huber_slope},
};

const enum loss regression_losses[REGRESSION_LOSS_COUNT] = {LOSS_L2, LOSS_L1, LOSS_HUBER};

/* correct_count stays 0: a number is neither correct nor wrong. */
struct loss_result regression_loss(const struct loss_rule *rule, const float *output,
                                   const void *labels, size_t rows, uint32_t class_count,
                                   float *gradient)
{
    const struct element_loss *element =
        &element_loss[task_loss_of(&task_node_regression, rule->kind)];
    const float *label = labels;
    struct loss_result result = {0};
    const double share = float_labels_share(label, rows, class_count, &result.label_count);
    for (size_t row = 0; row < rows; row++) {
        const bool labelled = float_labels_has_label(label + row * class_count);
        double sum = 0;
        for (size_t at = row * class_count; at < (row + 1) * class_count; at++) {
            const double off = labelled ? (double)output[at] - (double)label[at] : 0;
            if (gradient)
                gradient[at] = (float)(element->slope(off, rule->huber_delta) * share);
            sum += element->value(off, rule->huber_delta);
        }
        result.sum += sum / (double)class_count;
    }
    return result;
}

/* The counts: the first mean alone or, if the tally counts all, both means and then the sums of
 * each column. */
enum { MEAN_ABSOLUTE, MEAN_SQUARE, MEAN_COUNT };
enum { COLUMN_SQUARE, COLUMN_LABEL, COLUMN_LABEL_SQUARE, COLUMN_COUNT };

size_t regression_count_size(uint32_t class_count, bool all)
{
    return all ? MEAN_COUNT + COLUMN_COUNT * (size_t)class_count : 1;
}

static void count_columns(const float *output, const float *truth, uint32_t class_count,
                          double *column)
{
    for (size_t c = 0; c < class_count; c++, column += COLUMN_COUNT) {
        const double label = (double)truth[c], off = (double)output[c] - label;
        column[COLUMN_SQUARE] += off * off;
        column[COLUMN_LABEL] += label;
        column[COLUMN_LABEL_SQUARE] += label * label;
    }
}

void regression_count(const float *output, const void *labels, size_t rows, uint32_t class_count,
                      bool all, double *counts)
{
    for (size_t row = 0; row < rows; row++, output += class_count) {
        const float *truth = (const float *)labels + row * class_count;
        double sum = 0, squares = 0;
        if (!float_labels_has_label(truth))
            continue;
        for (size_t c = 0; c < class_count; c++) {
            const double off = (double)output[c] - (double)truth[c];
            sum += fabs(off);
            squares += off * off;
        }
        counts[MEAN_ABSOLUTE] += sum / (double)class_count;
        if (!all)
            continue;
        counts[MEAN_SQUARE] += squares / (double)class_count;
        count_columns(output, truth, class_count, counts + MEAN_COUNT);
    }
}

static enum error_code rmse(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = sqrt(tally->count[MEAN_SQUARE] / (double)tally->loss.label_count);
    return ERROR_NONE;
}

/* Returns which share of a column's sum of squares about its mean is explained. */
static double explained(const double *column, double rows)
{
    const double mean = column[COLUMN_LABEL] / rows;
    const double spread = column[COLUMN_LABEL_SQUARE] - column[COLUMN_LABEL] * mean;
    /* a spread below the rounding error of the sums of squares counts as none */
    if (!(spread > column[COLUMN_LABEL_SQUARE] * 1e-14))
        return column[COLUMN_SQUARE] > 0 ? 0 : 1;
    return 1 - column[COLUMN_SQUARE] / spread;
}

static enum error_code r2(const struct tally *tally, double *out, struct error *err)
{
    const double rows = (double)tally->loss.label_count;
    double sum = 0;
    (void)err;
    for (size_t c = 0; c < tally->class_count; c++)
        sum += explained(tally->count + MEAN_COUNT + c * COLUMN_COUNT, rows);
    *out = tally->loss.label_count > 1 ? sum / (double)tally->class_count : (double)NAN;
    return ERROR_NONE;
}

static enum error_code mae(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = tally->count[MEAN_ABSOLUTE] / (double)tally->loss.label_count;
    return ERROR_NONE;
}

/* Writes nine digits, which represent a float exactly. */
static size_t print_numbers(char *out, const float *value, uint32_t count_of)
{
    char text[32];
    size_t size = 0;
    for (uint32_t c = 0; c < count_of; c++) {
        const int length = snprintf(text, sizeof text, "%s%.9g", c ? " " : "", (double)value[c]);
        memcpy(out + size, text, (size_t)length);
        size += (size_t)length;
    }
    return size;
}

size_t regression_print(char *out, const float *output, const void *label, uint32_t class_count)
{
    size_t size = float_labels_has_label(label) ? print_numbers(out, label, class_count) : 0;
    out[size++] = ',';
    size += print_numbers(out + size, output, class_count);
    out[size++] = ',';
    return size;
}

const struct task_metric regression_metrics[REGRESSION_METRIC_COUNT] = {
    {METRIC_LOSS, false, false, tally_mean_loss},
    {METRIC_RMSE, false, true, rmse},
    {METRIC_MAE, false, false, mae},
    {METRIC_R2, false, true, r2},
};

const struct task task_node_regression = {
    .name = "node_regression",
    .takes_columns = float_labels_takes_columns,
    REGRESSION_FIELDS,
};
