/*
 * distmult - the sum over columns of s w t (Yang et al. 2015, "Embedding entities and relations for learning and inference
 * in knowledge bases"), as PyG's DistMult, whose name the weights have. They begin at 1: as the inner product.
 *
 * The rows of rel_emb are relations; there is one for each output.
 */
#include "common/nn/links/decoder.h"

static int parameters(uint32_t dim, uint32_t outputs, struct decoder_parameter *out)
{
    out[0] = (struct decoder_parameter){"rel_emb.weight", 2, outputs, dim, 0, 1};
    return 1;
}

static void prepare(const struct decoder *decoder, const float *source, float *query)
{
    const size_t dim = decoder->dim;
    for (size_t c = 0; c < decoder->outputs; c++)
        for (size_t i = 0; i < dim; i++)
            query[c * dim + i] = source[i] * decoder->parameter[0][c * dim + i];
}

/* The table's form has scratch. NOLINTBEGIN(readability-non-const-parameter) */
static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    (void)scratch;
    decoder_query_dots(decoder, query, target, index, count, out);
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     const float *gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    const size_t dim = decoder->dim;
    (void)scratch;
    for (size_t c = 0; c < decoder->outputs; c++) {
        const float *weight = decoder->parameter[0] + c * dim;
        decoder_add_product(source_gradient, weight, target, gradient[c], dim);
        decoder_add_product(target_gradient, weight, source, gradient[c], dim);
        decoder_add_product(parameter_gradient[0] + c * dim, source, target, gradient[c], dim);
    }
}
/* NOLINTEND(readability-non-const-parameter) */

const struct decoder_type distmult_decoder = {.name = "distmult",
                                              .takes_outputs = true,
                                              .parameters = parameters,
                                              .prepare = prepare,
                                              .score = score,
                                              .backward = backward};
