#include "tests/reference/tail_reference.h"

#include <math.h>

static void add_residual(const struct model_layer *layer, const double *weight, const double *x,
                         uint32_t rows, double *y)
{
    const uint32_t in = layer->input_dim, out = layer->config.output_dim;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t o = 0; o < out; o++) {
            double sum = weight ? 0 : x[(size_t)i * in + o];
            for (uint32_t c = 0; weight && c < in; c++)
                sum += weight[(size_t)o * in + c] * x[(size_t)i * in + c];
            y[(size_t)i * out + o] += sum;
        }
}

/* Scales `count` values, `stride` elements apart, to mean 0 and variance 1. */
static void center(double *y, size_t stride, uint32_t count)
{
    double mean = 0, variance = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += y[i * stride] / count;
    for (uint32_t i = 0; i < count; i++)
        variance += (y[i * stride] - mean) * (y[i * stride] - mean) / count;
    for (uint32_t i = 0; i < count; i++)
        y[i * stride] = (y[i * stride] - mean) / sqrt(variance + 1e-5);
}

void norm_reference_apply(const struct norm_reference *norm, uint32_t rows, uint32_t dim,
                          bool by_batch, double *y)
{
    if (norm->kind == NORM_NONE)
        return;
    for (uint32_t i = 0; norm->kind == NORM_LAYER && i < rows; i++)
        center(y + (size_t)i * dim, 1, dim);
    for (uint32_t c = 0; norm->kind == NORM_BATCH && c < dim; c++) {
        if (by_batch && rows > 1) {
            center(y + c, dim, rows);
            continue;
        }
        for (uint32_t i = 0; i < rows; i++)
            y[(size_t)i * dim + c] =
                (y[(size_t)i * dim + c] - norm->mean[c]) / sqrt(norm->variance[c] + 1e-5);
    }
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t c = 0; c < dim; c++)
            y[(size_t)i * dim + c] = y[(size_t)i * dim + c] * norm->weight[c] + norm->bias[c];
}

void tail_reference_apply(const struct model *model, int layer, const double *value,
                          const double *x, uint32_t rows, bool by_batch, double *y)
{
    const struct model_layer *own = &model->layer[layer];
    const struct parameter *p = model->parameter;
    struct norm_reference norm = {.kind = own->config.norm};
    if (own->config.residual)
        add_residual(own,
                     own->residual_parameter < 0 ? NULL : value + p[own->residual_parameter].offset,
                     x, rows, y);
    if (own->config.norm != NORM_NONE) {
        norm.weight = value + p[own->norm_parameter].offset;
        norm.bias = value + p[own->norm_parameter + 1].offset;
    }
    if (own->config.norm == NORM_BATCH) {
        norm.mean = value + p[own->buffer_parameter].offset;
        norm.variance = value + p[own->buffer_parameter + 1].offset;
    }
    norm_reference_apply(&norm, rows, own->config.output_dim, by_batch, y);
}
