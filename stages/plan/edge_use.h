/*
 * edge_use - which edge columns the model of a run takes into account.
 *
 * A kind of layer says which columns it reads (layer.h). Of these a run takes the ones that its
 * graph has, unless a setting (train-step.edge_weights, train-step.edge_features) says `false`;
 * `true` demands them.
 */
#ifndef STAGES_PLAN_EDGE_USE_H
#define STAGES_PLAN_EDGE_USE_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/nn/model.h"
#include "stages/plan/pipeline_settings.h"
#include "store/records/dataset_schema.h"
#include "store/records/mini_batch.h"

#include <stdbool.h>
#include <stddef.h>

struct edge_use {
    unsigned columns; /* a bit for each enum edge_column; likewise below */
    unsigned refused; /* those that a setting says `false` to */
    unsigned sampled; /* those that the sampler draws by, and the decoder tells pairs apart by */
    bool weight_sum;  /* and the sums of weights of nodes */
};

/* `width` is that of the partition or the dataset, `model` that of the settings.
 * Fails: ERROR_INVALID for a column that a setting demands and no layer reads; ERROR_INPUT for one
 * that the graph has not. */
MUST_CHECK enum error_code edge_use_of(const struct pipeline_settings *settings,
                                       const struct model *model, const struct edge_widths *width,
                                       struct edge_use *out, struct error *err);
/* The same before there is a partition, and whether the values are such as the layers can do with.
 * Fails: also ERROR_INPUT naming the file and line of a weight below 0 that a layer or the sampler
 * cannot do with, and the column that the sampler draws by when there is none. */
MUST_CHECK enum error_code edge_use_check(const struct pipeline_settings *settings,
                                          const struct dataset_schema *schema, struct edge_use *out,
                                          struct error *err);

/* Whether training reads weights of which the largest is more than a thousand times the smallest.
 * `text` then says so, and what helps; otherwise it is "". */
enum { EDGE_USE_TEXT_SIZE = 320 };
bool edge_use_weights_differ(const struct pipeline_settings *settings,
                             const struct dataset_schema *schema, const struct edge_use *use,
                             char text[EDGE_USE_TEXT_SIZE]);

/* Fails: ERROR_CORRUPT unless the mini-batch has them; of edge features, the rows or the positions
 * of its edges. */
MUST_CHECK enum error_code edge_use_check_batch(const struct edge_use *use,
                                                const struct mini_batch *batch, struct error *err);
/* The same of columns alone, in which all rows are. */
MUST_CHECK enum error_code edge_use_check_columns(const struct edge_use *use,
                                                  const struct edge_columns_view *columns,
                                                  struct error *err);
/* Bytes that they take of an edge, with its position if need be, and of a node, in a mini-batch. */
size_t edge_use_edge_bytes(const struct edge_use *use, const struct edge_widths *width);
size_t edge_use_node_bytes(const struct edge_use *use);

#endif
