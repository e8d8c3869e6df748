/* bilinear - s W t + b, as torch.nn.Bilinear(dim, dim, outputs). The parameters have the names
 * and initial values of torch. */
#include "common/nn/links/decoder.h"

#include <math.h>
#include <string.h>

static int parameters(uint32_t dim, uint32_t outputs, uint32_t relations,
                      struct decoder_parameter *out)
{
    const float bound = 1 / sqrtf((float)dim);
    (void)relations;
    out[0] = (struct decoder_parameter){"weight", 3, outputs * dim, dim, bound};
    out[1] = (struct decoder_parameter){"bias", 1, outputs, 1, bound};
    return 2;
}

/* Adds s W for a source, or W t for a target. */
static void multiply(const float *weight, enum pair_end end, const float *row, size_t dim,
                     float *out)
{
    for (size_t i = 0; i < dim; i++)
        if (end == PAIR_SOURCE) {
            decoder_add_scaled(out, weight + i * dim, row[i], dim);
        } else {
            float sum = 0;
            decoder_dots(row, weight + i * dim, NULL, dim, 1, &sum);
            out[i] += sum;
        }
}

static void prepare(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                    const float *row, float *query)
{
    const size_t dim = decoder->dim;
    (void)relation;
    memset(query, 0, decoder_query(decoder) * sizeof *query);
    for (size_t c = 0; c < decoder->outputs; c++)
        multiply(decoder->parameter[0] + c * dim * dim, end, row, dim, query + c * dim);
}

static void score(const struct decoder *decoder, enum pair_end end, const float *query,
                  const float *other, const uint32_t *index, size_t count, float *out,
                  float *scratch)
{
    decoder_query_dots(decoder, end, query, other, index, count, out, scratch);
    for (size_t i = 0; i < count * decoder->outputs; i++)
        out[i] += decoder->parameter[1][i % decoder->outputs];
}

static void score_back(const struct decoder_back *back, const uint32_t *index, size_t count,
                       float *scratch)
{
    const size_t outputs = back->decoder->outputs;
    decoder_query_dots_back(back, index, count, scratch);
    for (size_t i = 0; i < count * outputs; i++)
        back->parameter_gradient[1][i % outputs] += back->gradient[i];
}

static void prepare_back(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                         const float *row, const float *query_gradient, float *row_gradient,
                         float *const *parameter_gradient)
{
    const size_t dim = decoder->dim;
    (void)relation;
    memset(row_gradient, 0, dim * sizeof *row_gradient);
    for (size_t c = 0; c < decoder->outputs; c++) {
        const float *of_output = query_gradient + c * dim;
        const float *source = end == PAIR_SOURCE ? row : of_output;
        const float *target = end == PAIR_SOURCE ? of_output : row;
        multiply(decoder->parameter[0] + c * dim * dim,
                 end == PAIR_SOURCE ? PAIR_TARGET : PAIR_SOURCE, of_output, dim, row_gradient);
        for (size_t i = 0; i < dim; i++)
            decoder_add_scaled(parameter_gradient[0] + (c * dim + i) * dim, target, source[i], dim);
    }
}

const struct decoder_type bilinear_decoder = {.name = "bilinear",
                                              .takes_outputs = true,
                                              .parameters = parameters,
                                              .prepare = prepare,
                                              .score = score,
                                              .score_back = score_back,
                                              .other_back = decoder_query_other_back,
                                              .prepare_back = prepare_back};
