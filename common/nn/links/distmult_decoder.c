/*
 * distmult - the sum over columns of s w t (Yang et al. 2015, "Embedding entities and relations for learning and inference
 * in knowledge bases"), as PyG's DistMult, whose name the weights have. They begin at 1: as the inner product.
 *
 * The rows of rel_emb are relations; there is one.
 */
#include "common/nn/links/decoder.h"

static int parameters(uint32_t dim, struct decoder_parameter *out)
{
    out[0] = (struct decoder_parameter){"rel_emb.weight", 2, 1, dim, 0, 1};
    return 1;
}

static void prepare(const struct decoder *decoder, const float *source, float *query)
{
    for (uint32_t i = 0; i < decoder->dim; i++)
        query[i] = source[i] * decoder->parameter[0][i];
}

/* The table's form has scratch. NOLINTBEGIN(readability-non-const-parameter) */
static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    (void)scratch;
    decoder_dots(query, target, index, decoder->dim, count, out);
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     float gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    const float *weight = decoder->parameter[0];
    (void)scratch;
    decoder_add_product(source_gradient, weight, target, gradient, decoder->dim);
    decoder_add_product(target_gradient, weight, source, gradient, decoder->dim);
    decoder_add_product(parameter_gradient[0], source, target, gradient, decoder->dim);
}
/* NOLINTEND(readability-non-const-parameter) */

const struct decoder_type distmult_decoder = {.name = "distmult",
                                              .parameters = parameters,
                                              .prepare = prepare,
                                              .score = score,
                                              .backward = backward};
