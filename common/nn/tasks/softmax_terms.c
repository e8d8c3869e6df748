#include "common/nn/tasks/softmax_terms.h"

#include "common/math/vector_exp.h"

enum { PARTS = 16 };

CPU_INLINE double sum_of(const double part[PARTS])
{
    double half[PARTS / 2], quarter[PARTS / 4];
    for (size_t k = 0; k < PARTS / 2; k++)
        half[k] = part[k] + part[k + PARTS / 2];
    for (size_t k = 0; k < PARTS / 4; k++)
        quarter[k] = half[k] + half[k + PARTS / 4];
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

CPU_KERNEL_OF(double, terms_of_row,
              (const float *restrict logit, size_t count, float most, float *restrict term),
              (logit, count, most, term))
{
    double part[PARTS] = {0};
    for (size_t i = 0; i < count; i += PARTS) {
        const uint32_t left = count - i < PARTS ? (uint32_t)(count - i) : PARTS;
        float e[PARTS];
        KEEP_LOOP
        for (uint32_t k = 0; k < PARTS; k++)
            e[k] = vector_exp_of(k < left ? logit[i + k] - most : 0);
        KEEP_LOOP
        for (uint32_t k = 0; k < PARTS; k++)
            part[k] += k < left ? (double)e[k] : 0;
        for (uint32_t k = 0; term && k < left; k++)
            term[i + k] = e[k];
    }
    return sum_of(part);
}

double softmax_terms(const float *logit, size_t count, float most, float *term)
{
    return terms_of_row(logit, count, most, term);
}
