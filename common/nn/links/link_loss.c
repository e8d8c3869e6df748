#include "common/nn/links/link_loss.h"

#include <math.h>

/* Returns log(1 + exp(x)) for any x. expf, logf and log1pf give the same bits on all processors;
 * exp does not (multi_label.c). */
static double soft_plus(float x)
{
    return (x > 0 ? (double)x : 0) + (double)log1pf(expf(-fabsf(x)));
}

static double sigmoid(float x)
{
    const double small = (double)expf(-fabsf(x));
    return x >= 0 ? 1 / (1 + small) : small / (1 + small);
}

static struct loss_result cross_entropy(const float *score, uint32_t positives, uint32_t negatives,
                                        float *gradient)
{
    const uint64_t count = positives * (1 + (uint64_t)negatives);
    struct loss_result result = {.label_count = count};
    for (uint64_t i = 0; i < count; i++) {
        const float x = score[i];
        const bool is_edge = i < positives;
        result.sum += soft_plus(is_edge ? -x : x);
        result.correct_count += is_edge ? x > 0 : x <= 0;
        if (gradient)
            gradient[i] = (float)((sigmoid(x) - is_edge) / (double)count);
    }
    return result;
}

static struct loss_result margin_loss(double margin, const float *score, uint32_t positives,
                                      uint32_t negatives, float *gradient)
{
    const uint64_t count = positives * (uint64_t)negatives;
    struct loss_result result = {.label_count = count};
    const float share = (float)(1 / (double)count);
    for (uint32_t i = 0; i < positives; i++) {
        uint32_t within = 0; /* negatives within the margin */
        for (uint32_t k = 0; k < negatives; k++) {
            const uint64_t at = positives + (uint64_t)i * negatives + k;
            const double off = margin - (double)score[i] + (double)score[at];
            result.sum += isnan(off) ? off : off > 0 ? off : 0;
            result.correct_count += score[i] > score[at];
            within += off > 0;
            if (gradient)
                gradient[at] = off > 0 ? share : 0;
        }
        if (gradient)
            gradient[i] = -share * (float)within;
    }
    return result;
}

static struct loss_result softmax_loss(const float *score, uint32_t positives, uint32_t negatives,
                                       float *gradient)
{
    struct loss_result result = {.label_count = positives};
    for (uint32_t i = 0; i < positives; i++) {
        const float *others = score + positives + (size_t)i * negatives;
        float most = score[i];
        bool is_first = true;
        for (uint32_t k = 0; k < negatives; k++) {
            most = others[k] > most ? others[k] : most;
            is_first = is_first && score[i] > others[k];
        }
        const double own = (double)expf(score[i] - most);
        float *slope = gradient ? gradient + positives + (size_t)i * negatives : NULL;
        double sum = own;
        for (uint32_t k = 0; k < negatives; k++) {
            const float share = expf(others[k] - most);
            sum += (double)share;
            if (slope)
                slope[k] = share; /* divided by their sum below */
        }
        result.sum += (double)logf((float)sum) + (double)most - (double)score[i];
        result.correct_count += is_first;
        if (!gradient)
            continue;
        gradient[i] = (float)((own / sum - 1) / positives);
        for (uint32_t k = 0; k < negatives; k++)
            slope[k] = (float)((double)slope[k] / sum / positives);
    }
    return result;
}

struct loss_result link_loss_compute(const struct link_loss *loss, const float *score,
                                     uint32_t positives, uint32_t negatives, float *gradient)
{
    if (loss->kind == LINK_LOSS_MARGIN)
        return margin_loss((double)loss->margin, score, positives, negatives, gradient);
    if (loss->kind == LINK_LOSS_SOFTMAX)
        return softmax_loss(score, positives, negatives, gradient);
    return cross_entropy(score, positives, negatives, gradient);
}
