/*
 * distmult - the sum over columns of s w t (Yang et al. 2015, "Embedding entities and relations for
 * learning and inference in knowledge bases"), as PyG's DistMult. The weights have PyG's name and
 * initial values.
 *
 * The rows of rel_emb are relations: one row for each relation of the edges and each output. Their
 * initial values are Xavier uniform. If all values began at 1, all relations would begin equal and
 * would hardly diverge.
 */
#include "common/nn/links/decoder.h"
#include "common/nn/operators/first_bounds.h"

#include <string.h>

static int parameters(uint32_t dim, uint32_t outputs, uint32_t relations,
                      struct decoder_parameter *out)
{
    const uint32_t rows = relations * outputs;
    out[0] =
        (struct decoder_parameter){"rel_emb.weight", 2, rows, dim, layer_glorot_bound(dim, rows)};
    return 1;
}

static void prepare(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                    const float *row, float *query)
{
    const size_t dim = decoder->dim;
    const float *weight = decoder->parameter[0] + relation * decoder_query(decoder);
    (void)end;
    for (size_t c = 0; c < decoder->outputs; c++)
        for (size_t i = 0; i < dim; i++)
            query[c * dim + i] = row[i] * weight[c * dim + i];
}

static void prepare_back(const struct decoder *decoder, enum pair_end end, uint32_t relation,
                         const float *row, const float *query_gradient, float *row_gradient,
                         float *const *parameter_gradient)
{
    const size_t dim = decoder->dim, first = relation * decoder_query(decoder);
    (void)end;
    memset(row_gradient, 0, dim * sizeof *row_gradient);
    for (size_t c = 0; c < decoder->outputs; c++) {
        const float *of_output = query_gradient + c * dim;
        decoder_add_product(row_gradient, decoder->parameter[0] + first + c * dim, of_output, 1,
                            dim);
        decoder_add_product(parameter_gradient[0] + first + c * dim, row, of_output, 1, dim);
    }
}

const struct decoder_type distmult_decoder = {.name = "distmult",
                                              .is_product = true,
                                              .takes_outputs = true,
                                              .by_relation = true,
                                              .parameters = parameters,
                                              .prepare = prepare,
                                              .score = decoder_query_dots,
                                              .score_back = decoder_query_dots_back,
                                              .other_back = decoder_query_other_back,
                                              .prepare_back = prepare_back};
