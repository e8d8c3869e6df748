/*
 * layer_reads - describes what a layer of a model reads when infer computes it alone
 * (model_infer_types()).
 *
 * Layers are numbered from 0.
 */
#ifndef STAGES_INFER_ROWS_LAYER_READS_H
#define STAGES_INFER_ROWS_LAYER_READS_H

#include "common/nn/model.h"
#include "common/nn/operators/aggregation.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of columns that the layer reads of a type, from the layer below or from the
 * input. */
uint32_t layer_reads_columns(const struct model *model, int layer, uint32_t type);
/* Returns whether the blocks of the model list the rows that have edges, instead of a row for
 * every destination. GATv2 takes no sums then (gatv2_windows.h). */
bool layer_reads_listed_rows(const struct model *model);
/* Returns whether the layer multiplies rows that are mostly zero before it sums them
 * (sparse_layer.h). */
bool layer_reads_zeros(const struct model *model, int layer);
/* Returns whether the layer needs only a weighted sum of its sources' rows as they are stored,
 * or their maximum. */
bool layer_reads_sums(const struct model *model, int layer);
/* Finds the weights of the sources of one relation in that sum. Their rows have `columns`. The
 * block has sources only. The arrays of *out lie in the arena. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code layer_reads_weights(const struct model *model, int layer,
                                               uint32_t columns, const struct message_block *block,
                                               struct arena *arena, struct aggregation *out,
                                               struct error *err);

#endif
