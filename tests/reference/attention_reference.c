#include "tests/reference/attention_reference.h"

#include "common/base/error.h"
#include "common/base/memory.h"

#include <math.h>

static double *project(const struct attention_reference *r, const double *weight,
                       const double *bias, uint32_t rows)
{
    const uint32_t width = r->heads * r->channels;
    double *out = memory_alloc((size_t)rows * width, sizeof *out);
    must(out);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t o = 0; o < width; o++) {
            double sum = bias ? bias[o] : 0;
            for (uint32_t c = 0; c < r->in; c++)
                sum += weight[(size_t)o * r->in + c] * r->x[(size_t)i * r->in + c];
            out[(size_t)i * width + o] = sum;
        }
    return out;
}

static double leaky(double x)
{
    return x > 0 ? x : 0.2 * x;
}

/* Returns the score of one head. p and q are the head's channels of a source and of a
 * destination. */
static double score_of(const struct attention_reference *r, uint32_t head, const double *p,
                       const double *q, double edge, const double *edge_row)
{
    const double *att = r->att + (size_t)head * r->channels;
    double sum = 0;
    for (uint32_t c = 0; c < r->channels; c++)
        if (r->att_destination)
            sum += att[c] * p[c] + r->att_destination[(size_t)head * r->channels + c] * q[c];
        else
            sum += att[c] * leaky(p[c] + q[c] + (edge_row ? edge_row[c] : 0));
    return r->att_destination ? leaky(sum + edge) : sum;
}

/* Writes the features [edge_feature_dim] of slot k of row i. The last slot has the mean of the
 * others. */
static void features_of_slot(const struct attention_reference *r, uint32_t i, uint32_t k,
                             double *out)
{
    const uint32_t first = r->block->row_start[i], end = r->block->row_start[i + 1];
    const uint32_t dim = r->block->edge_feature_dim;
    double count = 0;
    for (uint32_t c = 0; c < dim; c++)
        out[c] = 0;
    for (uint32_t e = first; e < end; e++) {
        if (k < end - first ? e != first + k : r->block->neighbor[e] == i)
            continue;
        count++;
        for (uint32_t c = 0; c < dim; c++)
            out[c] += (double)r->block->edge_feature[(size_t)e * dim + c];
    }
    for (uint32_t c = 0; count > 0 && c < dim; c++)
        out[c] /= count;
}

/* Computes the channels of one head of W_e f. */
static void project_features(const struct attention_reference *r, uint32_t head,
                             const double *feature, double *out)
{
    const uint32_t dim = r->block->edge_feature_dim;
    for (uint32_t c = 0; c < r->channels; c++) {
        out[c] = 0;
        for (uint32_t d = 0; d < dim; d++)
            out[c] += r->edge_weight[((size_t)head * r->channels + c) * dim + d] * feature[d];
    }
}

/* Returns the score of slot k of row i in one head. */
static double slot_score(const struct attention_reference *r, uint32_t i, uint32_t k, uint32_t head,
                         const double *p, const double *q)
{
    double *feature, *row, edge = 0;
    if (!r->edge_weight)
        return score_of(r, head, p, q, 0, NULL);
    feature = memory_alloc(r->block->edge_feature_dim, sizeof *feature);
    row = memory_alloc(r->channels, sizeof *row);
    must(feature && row);
    features_of_slot(r, i, k, feature);
    project_features(r, head, feature, row);
    for (uint32_t c = 0; r->att_edge && c < r->channels; c++)
        edge += r->att_edge[(size_t)head * r->channels + c] * row[c];
    const double score = score_of(r, head, p, q, edge, row);
    memory_free(feature);
    memory_free(row);
    return score;
}

/* Computes y [channels] of destination i in one head. */
static void attend(const struct attention_reference *r, const double *p, const double *q,
                   uint32_t i, uint32_t head, double *y)
{
    const uint32_t first = r->block->row_start[i], count = r->block->row_start[i + 1] - first;
    const size_t width = (size_t)r->heads * r->channels, at = (size_t)head * r->channels;
    const size_t slot = (size_t)(first - r->block->row_start[0]) + i;
    double total = 0;
    for (uint32_t c = 0; c < r->channels; c++)
        y[c] = 0;
    for (uint32_t k = 0; k <= count; k++) {
        const uint32_t j = k < count ? r->block->neighbor[first + k] : i;
        if (k < count && j == i)
            continue;
        const double share = exp(slot_score(r, i, k, head, p + j * width + at, q + i * width + at));
        const double kept = r->kept ? r->kept[(slot + k) * r->heads + head] : 1;
        total += share;
        for (uint32_t c = 0; c < r->channels; c++)
            y[c] += share * kept * p[j * width + at + c];
    }
    for (uint32_t c = 0; c < r->channels; c++)
        y[c] /= total;
}

double *attention_reference_output(const struct attention_reference *r)
{
    const uint32_t rows = r->block->destination_count, channels = r->channels;
    const uint32_t out = r->joins ? r->heads * channels : channels;
    double *p = project(r, r->source_weight, r->source_bias, r->block->source_count);
    double *q =
        r->destination_weight ? project(r, r->destination_weight, r->destination_bias, rows) : p;
    double *y = memory_alloc((size_t)rows * out, sizeof *y);
    double *head_row = memory_alloc(channels, sizeof *head_row);
    must(y && head_row);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t o = 0; o < out; o++)
            y[(size_t)i * out + o] = r->bias[o];
        for (uint32_t head = 0; head < r->heads; head++) {
            attend(r, p, q, i, head, head_row);
            for (uint32_t c = 0; c < channels; c++)
                y[(size_t)i * out + (r->joins ? head * channels + c : c)] +=
                    r->joins ? head_row[c] : head_row[c] / r->heads;
        }
    }
    if (q != p)
        memory_free(q);
    memory_free(p);
    memory_free(head_row);
    return y;
}
