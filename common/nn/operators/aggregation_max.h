/* aggregation_max - aggregation.h with the maximum of the neighbours' rows in place of their
 * sum. */
#ifndef COMMON_NN_OPERATORS_AGGREGATION_MAX_H
#define COMMON_NN_OPERATORS_AGGREGATION_MAX_H

#include "common/nn/operators/aggregation.h"

/* Work like aggregation_forward() and aggregation_backward(), for an aggregation with
 * `greatest`. */
void aggregation_max_forward(const struct aggregation *aggregation,
                             const struct message_block *block, const struct input_rows *input,
                             uint32_t dim, uint32_t first, uint32_t end, float *scratch, void *out);
/* Works like aggregation_add(), but keeps the maximum so far. It does not record the winning
 * edge. */
void aggregation_max_add(const struct aggregation *aggregation, const struct message_block *block,
                         const struct input_rows *input, uint32_t dim, uint32_t first, uint32_t end,
                         float *most);
void aggregation_max_backward(const struct aggregation *aggregation,
                              const struct transposed_edges *edges, const float *gradient,
                              uint32_t dim, uint32_t first, uint32_t end, float *out);

#endif
