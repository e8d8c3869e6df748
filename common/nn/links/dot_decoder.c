/* dot - the inner product of the two rows, as in the graph autoencoder (Kipf and Welling 2016)
 * and PyG's InnerProductDecoder. */
#include "common/nn/links/decoder.h"

const struct decoder_type dot_decoder = {.name = "dot",
                                         .is_product = true,
                                         .parameters = decoder_no_parameters,
                                         .prepare = decoder_copy_row,
                                         .score = decoder_query_dots,
                                         .score_back = decoder_query_dots_back,
                                         .other_back = decoder_query_other_back,
                                         .prepare_back = decoder_copy_row_back};
