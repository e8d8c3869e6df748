/*
 * edge_use - the edge columns that the model of a run reads.
 *
 * A kind of layer says which columns it reads (layer.h). A run uses those of them that its graph
 * has, unless a setting (train-step.edge_weights, train-step.edge_features) says `false`. With
 * `true` the graph must have the column.
 */
#ifndef STAGES_PLAN_MODEL_EDGE_USE_H
#define STAGES_PLAN_MODEL_EDGE_USE_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "common/nn/model.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>
#include <stddef.h>

struct edge_use {
    unsigned columns; /* a bit for each enum edge_column, and so are the next */
    unsigned refused; /* columns for which a setting says `false` */
    /* Columns that the sampler draws by, or by which the decoder tells pairs apart. */
    unsigned sampled;
    bool weight_sum; /* the sums of the weights of nodes are read, too */
};

/* Sets *out. `width` comes from the partition or the dataset, `model` from the settings. Fails:
 * ERROR_INVALID for a column that a setting demands and no layer reads; ERROR_INPUT for one that
 * the graph does not have. */
MUST_CHECK enum error_code edge_use_of(const struct pipeline_settings *settings,
                                       const struct model *model, const struct edge_widths *width,
                                       struct edge_use *out, struct error *err);
/* Does the same before there is a partition, and checks that the layers can compute with the
 * values. Fails: also ERROR_INPUT naming the file and line of a weight below 0 that a layer or the
 * sampler cannot use, or the column that the sampler draws by if it is missing. */
MUST_CHECK enum error_code edge_use_check(const struct pipeline_settings *settings,
                                          const struct dataset_schema *schema, struct edge_use *out,
                                          struct error *err);

/* Returns whether training reads weights of which the largest is more than a thousand times the
 * smallest. `text` then says so, and says what helps; otherwise it is "". */
enum { EDGE_USE_TEXT_SIZE = 320 };
bool edge_use_weights_differ(const struct pipeline_settings *settings,
                             const struct dataset_schema *schema, const struct edge_use *use,
                             char text[EDGE_USE_TEXT_SIZE]);

/* Checks that the mini-batch has the columns; for edge features, also their rows or positions.
 * Fails: ERROR_CORRUPT. */
MUST_CHECK enum error_code edge_use_check_batch(const struct edge_use *use,
                                                const struct mini_batch *batch, struct error *err);
/* Does the same for columns alone, which have all rows. */
MUST_CHECK enum error_code edge_use_check_columns(const struct edge_use *use,
                                                  const struct edge_columns_view *columns,
                                                  struct error *err);
/* Return the bytes that the columns take for an edge (with its position if needed), and for a node,
 * in a mini-batch. */
size_t edge_use_edge_bytes(const struct edge_use *use, const struct edge_widths *width);
size_t edge_use_node_bytes(const struct edge_use *use);

#endif
