/*
 * node_regression - a number or several a node: the mean square of the differences, as torch's MSELoss (over rows and
 * columns).
 *
 *   loss of an output z with label y   (z - y)^2
 *   its gradient                       2 (z - y)
 *
 * Labels are float32, a row of NaN has none. Metrics are over rows and columns: the root of the mean square (rmse), and
 * the mean of |z - y| (mae), which is what is counted.
 */
#include "common/nn/tasks/float_labels.h"
#include "common/nn/tasks/tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Infinities are no numbers to learn, and NaN stands for no label. */
static bool is_number(double value)
{
    return isfinite((float)value);
}

static const struct float_label_rule rule = {is_number, "a number of single precision"};

static enum error_code take(const double *column, uint32_t columns, uint32_t class_limit, void *row,
                            struct error *err)
{
    (void)class_limit;
    return float_labels_take(&rule, column, columns, row, err);
}

static enum error_code check(const void *row, uint32_t class_count, struct error *err)
{
    return float_labels_check(&rule, row, class_count, err);
}

static void describe(uint32_t class_count, char *text, size_t size)
{
    (void)snprintf(text, size, "a number in each of %" PRIu32 " columns", class_count);
}

/* None is correct or wrong. */
static struct loss_result square_loss(const float *output, const void *labels, size_t rows,
                                      uint32_t class_count, float *gradient)
{
    const float *label = labels;
    struct loss_result result = {0};
    const double share = float_labels_share(label, rows, class_count, &result.label_count);
    for (size_t row = 0; row < rows; row++) {
        const bool labelled = float_labels_has_label(label + row * class_count);
        double sum = 0;
        for (size_t at = row * class_count; at < (row + 1) * class_count; at++) {
            const double off = labelled ? (double)output[at] - (double)label[at] : 0;
            if (gradient)
                gradient[at] = (float)(2 * off * share);
            sum += off * off;
        }
        result.sum += sum / (double)class_count;
    }
    return result;
}

static size_t one_count(uint32_t class_count)
{
    (void)class_count;
    return 1;
}

/* The sum over rows of the mean of |z - y|. */
static void count(const float *output, const void *labels, size_t rows, uint32_t class_count,
                  double *absolute)
{
    for (size_t row = 0; row < rows; row++) {
        const float *truth = (const float *)labels + row * class_count;
        double sum = 0;
        for (size_t c = 0; float_labels_has_label(truth) && c < class_count; c++)
            sum += fabs((double)output[row * class_count + c] - (double)truth[c]);
        *absolute += sum / (double)class_count;
    }
}

static enum error_code rmse(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = sqrt(tally->loss.sum / (double)tally->loss.label_count);
    return ERROR_NONE;
}

static enum error_code mae(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = tally->count[0] / (double)tally->loss.label_count;
    return ERROR_NONE;
}

/* Nine digits say a float exactly. */
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

static size_t print(char *out, const float *output, const void *label, uint32_t class_count)
{
    size_t size = float_labels_has_label(label) ? print_numbers(out, label, class_count) : 0;
    out[size++] = ',';
    size += print_numbers(out + size, output, class_count);
    out[size++] = ',';
    return size;
}

static const struct task_metric metrics[] = {
    {METRIC_LOSS, false, tally_mean_loss},
    {METRIC_RMSE, false, rmse},
    {METRIC_MAE, false, mae},
};

const struct task task_node_regression = {
    .name = "node_regression",
    .takes_columns = float_labels_takes_columns,
    .label_take = take,
    .label_width = float_labels_width,
    .label_check = check,
    .has_label = float_labels_has_label,
    .class_count = float_labels_class_count,
    .describe = describe,
    .loss = square_loss,
    .count_size = one_count,
    .count = count,
    .metric = metrics,
    .metric_count = sizeof metrics / sizeof *metrics,
    .print = print,
};
