/*
 * model_reference - computes what model.h computes, in double precision, one sum at a time, with
 * the formulas of the papers.
 */
#ifndef TESTS_REFERENCE_MODEL_REFERENCE_H
#define TESTS_REFERENCE_MODEL_REFERENCE_H

#include "common/nn/model.h"

/* Returns the logits [destinations of the last block, output_dim], which the caller frees with
 * memory_free(). Aborts without memory. `dropout` NULL: no dropout. `by_batch`: batch norms use
 * the statistics of the mini-batch, as in training. */
double *model_reference_logits(const struct model *model, const double *value,
                               const struct message_block *block, const struct input_rows *input,
                               const struct random_stream *dropout, bool by_batch);

#endif
