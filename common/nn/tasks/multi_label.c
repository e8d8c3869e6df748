/*
 * multi_label - any number of labels for a node, with the binary cross-entropy of each label as in
 * torch's BCEWithLogitsLoss (the mean over rows and labels).
 *
 *   loss of a logit z with label y   max(z, 0) - z y + log(1 + e^-|z|), which neither overflows nor
 *                                    cancels
 *   its gradient                     sigmoid(z) - y
 *
 * A class weight w (torch's pos_weight) multiplies the loss of labels that are set: w y log(1 +
 * e^-z) + (1 - y) log(1 + e^z).
 *
 * ROC AUC and average precision are computed for each label. The result is their mean over the
 * labels that some rows have and others do not, as in OGB's evaluators. If that holds for all
 * labels, it equals scikit-learn's average="macro".
 *
 * Accuracy counts single labels, 1 - Hamming loss. Subset accuracy is the share of rows with every
 * label right (scikit-learn's accuracy_score with several labels).
 *
 * Labels are float32 values 0 and 1; a row of NaN has no labels. The code uses expf and log1pf
 * instead of exp and log1p, because glibc's single-precision functions give the same bits with and
 * without fused multiply-add.
 */
#include "common/base/text.h"
#include "common/nn/tasks/float_labels.h"
#include "common/nn/tasks/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static bool is_bit(double value)
{
    return (value <= 0 && value >= 0) || (value <= 1 && value >= 1);
}

static const struct float_label_rule label_rule = {is_bit, "0 or 1"};

static enum error_code take(const double *column, uint32_t columns, uint32_t class_limit, void *row,
                            struct error *err)
{
    (void)class_limit;
    return float_labels_take(&label_rule, column, columns, row, err);
}

static enum error_code check(const void *row, uint32_t class_count, struct error *err)
{
    return float_labels_check(&label_rule, row, class_count, err);
}

static void describe(uint32_t class_count, char *text, size_t size)
{
    (void)snprintf(text, size, "several labels each of %" PRIu32 " classes", class_count);
}

static bool is_in_class(const void *row, uint32_t class)
{
    return ((const float *)row)[class] > 0.5F;
}

static double binary_element(float logit, float label, double share, float *gradient)
{
    const float small = expf(-fabsf(logit));
    if (gradient) {
        const double above = 1 / (1 + (double)small);
        const double probability = logit >= 0 ? above : 1 - above;
        *gradient = (float)((probability - (double)label) * share);
    }
    const double positive = logit < 0 ? 0 : (double)logit;
    return positive - (double)logit * (double)label + (double)log1pf(small);
}

static double weighted_element(float logit, float label, double weight, double share,
                               float *gradient)
{
    const double times = label > 0.5F ? weight : 1;
    const double loss = times * binary_element(logit, label, share, gradient);
    if (gradient)
        *gradient = (float)(times * (double)*gradient);
    return loss;
}

/* Computes the loss. correct_count is the share of right labels, rounded down to rows. */
static struct loss_result binary_loss(const struct loss_rule *rule, const float *output,
                                      const void *labels, size_t rows, uint32_t class_count,
                                      float *gradient)
{
    const float *label = labels;
    struct loss_result result = {0};
    uint64_t correct_bits = 0;
    must(class_count > 0);
    const double share = float_labels_share(label, rows, class_count, &result.label_count);
    for (size_t row = 0; row < rows; row++) {
        const bool labelled = float_labels_has_label(label + row * class_count);
        double sum = 0;
        for (size_t at = row * class_count; at < (row + 1) * class_count; at++) {
            float *slope = gradient ? gradient + at : NULL;
            if (!labelled && slope)
                *slope = 0;
            if (!labelled)
                continue;
            sum += rule->class_weight
                       ? weighted_element(output[at], label[at],
                                          rule->class_weight[at - row * class_count], share, slope)
                       : binary_element(output[at], label[at], share, slope);
            correct_bits += (output[at] > 0) == (label[at] > 0.5F);
        }
        result.sum += sum / (double)class_count;
    }
    result.correct_count = correct_bits / class_count;
    return result;
}

/* The counts are a confusion and, last, the number of rows with every label right. */
static size_t count_size(uint32_t class_count, bool all)
{
    return metrics_confusion_size(class_count, all) + 1;
}

/* A logit above 0 predicts the label. */
static void count(const float *output, const void *labels, size_t rows, uint32_t class_count,
                  bool all, double *confusion)
{
    double *right_rows = confusion + metrics_confusion_size(class_count, all);
    for (size_t row = 0; row < rows; row++) {
        const float *logit = output + row * class_count;
        const float *truth = (const float *)labels + row * class_count;
        bool is_right = float_labels_has_label(truth);
        for (size_t c = 0; float_labels_has_label(truth) && c < class_count; c++) {
            metrics_count(confusion, class_count, c, logit[c] > 0, truth[c] > 0.5F);
            is_right = is_right && (logit[c] > 0) == (truth[c] > 0.5F);
        }
        *right_rows += is_right;
    }
}

static uint32_t each(uint32_t class_count)
{
    return class_count;
}

static void score(const float *output, const void *label, uint32_t column, float *out,
                  uint8_t *truth)
{
    *out = output[column];
    *truth = is_in_class(label, column);
}

/* Computes the share of single labels that are right. */
static enum error_code accuracy(const struct tally *tally, double *out, struct error *err)
{
    double wrong = 0;
    (void)err;
    for (size_t i = tally->class_count; i < metrics_confusion_size(tally->class_count, true); i++)
        wrong += tally->count[i];
    *out = 1 - wrong / ((double)tally->loss.label_count * tally->class_count);
    return ERROR_NONE;
}

static enum error_code subset_accuracy(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = tally->count[metrics_confusion_size(tally->class_count, true)] /
           (double)tally->loss.label_count;
    return ERROR_NONE;
}

static enum error_code macro_f1(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    *out = metrics_macro_f1(tally->count, tally->class_count, true);
    return ERROR_NONE;
}

/* Writes the indices of the values above `above`, separated by spaces. */
static size_t print_bits(char *out, const float *value, uint32_t class_count, float above)
{
    size_t size = 0;
    for (uint32_t c = 0; c < class_count; c++)
        if (value[c] > above) {
            if (size)
                out[size++] = ' ';
            size += text_put_number(out + size, c);
        }
    return size;
}

static size_t print(char *out, const float *logit, const void *label, uint32_t class_count)
{
    size_t size = print_bits(out, label, class_count, 0.5F);
    out[size++] = ',';
    size += print_bits(out + size, logit, class_count, 0.0F);
    out[size++] = ',';
    return size;
}

static const struct task_metric metrics[] = {
    {METRIC_LOSS, false, false, tally_mean_loss},
    {METRIC_ACCURACY, false, false, accuracy},
    {METRIC_SUBSET_ACCURACY, false, false, subset_accuracy},
    {METRIC_MICRO_F1, false, false, metrics_tally_micro_f1},
    {METRIC_MACRO_F1, false, false, macro_f1},
    {METRIC_ROC_AUC, true, true, tally_roc_auc},
    {METRIC_AVERAGE_PRECISION, true, true, tally_average_precision},
};

static const enum loss losses[] = {LOSS_BINARY};

const struct task task_multi_label = {
    .name = "multi_label",
    .takes_columns = float_labels_takes_columns,
    .label_take = take,
    .label_width = float_labels_width,
    .label_check = check,
    .has_label = float_labels_has_label,
    .class_count = float_labels_class_count,
    .describe = describe,
    .is_in_class = is_in_class,
    .losses = losses,
    .loss_count = sizeof losses / sizeof *losses,
    .takes_class_weights = true,
    .loss = binary_loss,
    .count_size = count_size,
    .count = count,
    .score_columns = each,
    .score = score,
    .metric = metrics,
    .metric_count = sizeof metrics / sizeof *metrics,
    .print = print,
};
