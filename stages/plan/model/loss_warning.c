#include "stages/plan/model/loss_warning.h"

#include <math.h>
#include <stdio.h>

static const double large_loss = 1e6, growth = 1.5, least_grown = 1;
enum { QUARTERS = 4 };

/* Returns the mean loss of rounds [first, end); NaN if none of them has seeds. */
static double mean_of(const double *rounds, uint64_t first, uint64_t end)
{
    double sum = 0, seeds = 0;
    for (uint64_t i = first; i < end; i++) {
        const double *round = rounds + i * PROGRESS_COUNT;
        sum += round[PROGRESS_LOSS] * round[PROGRESS_SEEDS];
        seeds += round[PROGRESS_SEEDS];
    }
    return seeds > 0 ? sum / seeds : (double)NAN;
}

static bool grows(const struct loss_record *record)
{
    const uint64_t count =
        record->count < record->rounds_per_epoch ? record->count : record->rounds_per_epoch;
    const uint64_t quarters = count < QUARTERS ? count : (uint64_t)QUARTERS;
    const double *rounds = record->rounds + (record->count - count) * PROGRESS_COUNT;
    double start = record->previous, last = record->previous;
    for (uint64_t q = 0; q < quarters; q++) {
        const double loss = mean_of(rounds, q * count / quarters, (q + 1) * count / quarters);
        if (!isfinite(loss) || loss <= last) /* false if `last` is NaN */
            return false;
        start = isnan(start) ? loss : start;
        last = loss;
    }
    return last > least_grown && start > 0 && last > growth * start;
}

unsigned loss_warning_find(const struct loss_record *record)
{
    const bool is_large = !record->is_of_numbers && record->loss > large_loss;
    return (is_large ? LOSS_IS_LARGE : 0U) | (grows(record) ? LOSS_GROWS : 0U);
}

const char *loss_warning_text(unsigned warning, double loss, char text[LOSS_WARNING_SIZE])
{
    if (warning == LOSS_IS_LARGE)
        (void)snprintf(text, LOSS_WARNING_SIZE,
                       "the loss is %.3g, above 1,000,000: the usual cause is edge weights or "
                       "features of very different sizes; write `weight_scale: log` or "
                       "`standardise: true` below `ingest:`, `edge_weights: false` below "
                       "`train-step:`, or a smaller `learning_rate` below `aggregate:`",
                       loss);
    else
        (void)snprintf(
            text, LOSS_WARNING_SIZE,
            "the training loss grew through a whole epoch, and the loss is %.3g: this usually "
            "means that "
            "`learning_rate` below `aggregate:` is too large; a smaller one, or `clip_norm: 1` "
            "there, may help",
            loss);
    return text;
}
