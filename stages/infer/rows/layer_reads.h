/*
 * layer_reads - what a layer of a model reads when infer computes it alone (model_infer_types()).
 *
 * Layers count from 0.
 */
#ifndef STAGES_INFER_ROWS_LAYER_READS_H
#define STAGES_INFER_ROWS_LAYER_READS_H

#include "common/nn/model.h"
#include "common/nn/operators/aggregation.h"

#include <stdbool.h>
#include <stdint.h>

/* Columns of the rows of a type that the layer reads of the layer below it, or of the input. */
uint32_t layer_reads_columns(const struct model *model, int layer, uint32_t type);
/* Whether the blocks of the model list the rows that have edges, instead of having a row for every
 * destination. Then GATv2 takes no sums (gatv2_windows.h). */
bool layer_reads_listed_rows(const struct model *model);
/* Whether the layer multiplies rows that are mostly zero before it sums them (sparse_layer.h). */
bool layer_reads_zeros(const struct model *model, int layer);
/* Whether the layer needs nothing of its sources but a sum of their rows as they are stored, each
 * with its weight, or the greatest of them. */
bool layer_reads_sums(const struct model *model, int layer);
/* How that sum weighs the sources of one relation, whose rows have `columns`. The block has sources
 * alone. The arrays of *out are in the arena. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code layer_reads_weights(const struct model *model, int layer,
                                               uint32_t columns, const struct message_block *block,
                                               struct arena *arena, struct aggregation *out,
                                               struct error *err);

#endif
