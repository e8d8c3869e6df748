/*
 * expf and logf, not exp and log: glibc's single-precision ones give the same bits with and without
 * fused multiply-add, the double ones do not.
 */
#include "common/nn/tasks/loss.h"

#include "common/base/error.h"

#include <math.h>
#include <stdbool.h>

static size_t largest(const float *logit, uint32_t class_count)
{
    size_t best = 0;
    for (size_t c = 1; c < class_count; c++)
        if (logit[c] > logit[best])
            best = c;
    return best;
}

/* -log softmax(logit)[label]; the gradient of that, times `share`, into `gradient`. */
static double softmax_row(const float *logit, size_t label, size_t class_count, size_t best,
                          double share, float *gradient)
{
    double sum = 0;
    for (size_t c = 0; c < class_count; c++)
        sum += (double)expf(logit[c] - logit[best]);
    for (size_t c = 0; gradient && c < class_count; c++) {
        const double probability = (double)expf(logit[c] - logit[best]) / sum;
        gradient[c] = (float)((probability - (c == label)) * share);
    }
    return (double)logf((float)sum) - ((double)logit[label] - (double)logit[best]);
}

struct loss_result loss_softmax(const float *logits, const int32_t *label, size_t rows,
                                uint32_t class_count, float *gradient)
{
    struct loss_result result = {0};
    for (size_t row = 0; row < rows; row++)
        result.label_count += label[row] >= 0;
    const double share = result.label_count ? 1 / (double)result.label_count : 0;
    for (size_t row = 0; row < rows; row++) {
        const float *logit = logits + row * class_count;
        float *slope = gradient ? gradient + row * class_count : NULL;
        if (label[row] < 0) {
            for (size_t c = 0; slope && c < class_count; c++)
                slope[c] = 0;
            continue;
        }
        const size_t best = largest(logit, class_count);
        result.sum += softmax_row(logit, (size_t)label[row], class_count, best, share, slope);
        result.correct_count += best == (size_t)label[row];
    }
    return result;
}

/* max(z, 0) - z y + log(1 + exp(-|z|)), which neither overflows nor cancels. */
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

struct loss_result loss_binary(const float *logits, const float *label, size_t rows,
                               uint32_t class_count, float *gradient)
{
    struct loss_result result = {0};
    uint64_t right_bits = 0;
    must(class_count > 0);
    for (size_t row = 0; row < rows; row++)
        if (!isnan(label[row * class_count]))
            result.label_count++;
    const double share =
        result.label_count ? 1 / ((double)result.label_count * (double)class_count) : 0;
    for (size_t row = 0; row < rows; row++) {
        const bool labelled = !isnan(label[row * class_count]);
        double sum = 0;
        for (size_t at = row * class_count; at < (row + 1) * class_count; at++) {
            float *slope = gradient ? gradient + at : NULL;
            if (!labelled && slope)
                *slope = 0;
            if (!labelled)
                continue;
            sum += binary_element(logits[at], label[at], share, slope);
            if ((logits[at] > 0) == (label[at] > 0.5F))
                right_bits++;
        }
        result.sum += sum / (double)class_count;
    }
    result.correct_count = right_bits / class_count;
    return result;
}
