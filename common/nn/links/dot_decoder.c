/* dot - the inner product of the two rows, as in the graph autoencoder (Kipf and Welling 2016) and PyG's InnerProductDecoder. */
#include "common/nn/links/decoder.h"

#include <string.h>

static void prepare(const struct decoder *decoder, const float *source, float *query)
{
    memcpy(query, source, decoder->dim * sizeof *query);
}

/* The table's form has scratch. NOLINTBEGIN(readability-non-const-parameter) */
static void score(const struct decoder *decoder, const float *query, const float *target,
                  const uint32_t *index, size_t count, float *out, float *scratch)
{
    (void)scratch;
    decoder_dots(query, target, index, decoder->dim, count, out);
}

static void backward(const struct decoder *decoder, const float *source, const float *target,
                     const float *gradient, float *source_gradient, float *target_gradient,
                     float *const *parameter_gradient, float *scratch)
{
    (void)parameter_gradient;
    (void)scratch;
    decoder_add_scaled(source_gradient, target, gradient[0], decoder->dim);
    decoder_add_scaled(target_gradient, source, gradient[0], decoder->dim);
}
/* NOLINTEND(readability-non-const-parameter) */

const struct decoder_type dot_decoder = {.name = "dot",
                                         .parameters = decoder_no_parameters,
                                         .prepare = prepare,
                                         .score = score,
                                         .backward = backward};
