/*
 * model_reference - what model.h computes, in double precision, one sum at a time, as the papers write it.
 */
#ifndef TESTS_REFERENCE_MODEL_REFERENCE_H
#define TESTS_REFERENCE_MODEL_REFERENCE_H

#include "common/nn/model.h"

/* Logits [destinations of the last block, output_dim]; memory_free() them. Aborts without memory.
 * `dropout` NULL: none. `by_batch`: batch norms go by the mini-batch, as in training. */
double *model_reference_logits(const struct model *model, const double *value,
                               const struct message_block *block, const struct input_rows *input,
                               const struct random_stream *dropout, bool by_batch);

#endif
