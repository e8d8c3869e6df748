/*
 * layer_call - one layer of a model alone, on the rows of one node type.
 *
 * All of infer computes a layer through this file: on a relation_block, with rows by type, sums by relation
 * and a start by type (struct typed_layer_input). A plain graph has one type and one relation. Its block has
 * a row for every destination (edges[0].row is NULL), and destinations are sources, too.
 *
 * This file alone knows that the model offers one function for each of two kinds of model.
 */
#ifndef STAGES_INFER_LAYER_CALL_H
#define STAGES_INFER_LAYER_CALL_H

#include "common/nn/operators/aggregation.h"
#include "common/nn/typed/typed_model.h"

#include <stdbool.h>
#include <stdint.h>

/* Layers count from 0. Computes what `layer` gives of the destinations of `type`, into output
 * [destinations, its width]. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code layer_call(const struct model *model, const float *weights, int layer,
                                      const struct typed_layer_input *input, uint32_t type,
                                      const struct model_workspace *workspace, float *output,
                                      struct error *err);

/* Columns of the rows of a type that the layer reads of the layer below it, or of the input. */
uint32_t layer_call_columns(const struct model *model, int layer, uint32_t type);
/* Whether a block lists the rows that have edges, instead of having a row for every destination. Then attention takes no
 * sums (gat_windows.h, gatv2_windows.h). */
bool layer_call_lists_rows(const struct model *model);
/* Whether the layer multiplies rows that are mostly zero before it sums them (sparse_layer.h). */
bool layer_call_skips_zeros(const struct model *model, int layer);
/* Whether the layer needs nothing of its sources but a sum of their rows as they are stored, each with its
 * weight, or the greatest of them. */
bool layer_call_sums(const struct model *model, int layer);
/* How that sum weighs the sources of one relation, whose rows have `columns`. The block has sources
 * alone. The arrays of *out are in the arena. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code layer_call_weigh(const struct model *model, int layer, uint32_t columns,
                                            const struct message_block *block, struct arena *arena,
                                            struct aggregation *out, struct error *err);
#endif
