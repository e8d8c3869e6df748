/*
 * graph_outputs - computes embeddings, logits and labels of graphs, one range at a time, from the
 * last layer of their nodes.
 *
 * The nodes of a graph are consecutive in the partition, and graphs have the numbers of the input.
 * So one ordered pass reads the rows of the last layer. The results fill a struct output_rows,
 * from which output_writer.h writes files and metrics as it does for nodes. The embedding of a
 * graph is the output of the readout. The size of ranges never changes a bit.
 */
#ifndef STAGES_INFER_OUTPUTS_GRAPH_OUTPUTS_H
#define STAGES_INFER_OUTPUTS_GRAPH_OUTPUTS_H

#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/infer/outputs/output_rows.h"
#include "stages/plan/model/graph_targets.h"
#include "store/features/feature_source.h"

/* its members are borrowed until graph_outputs_close(); the struct itself is not */
struct graph_outputs_config {
    const struct stage_context *context;
    const struct model *model;
    const float *weights;         /* [model->value_count] */
    struct feature_source *layer; /* rows of the last layer, [nodes, model_output_dim()] */
    uint32_t piece;
    uint64_t budget_bytes;
};

struct graph_outputs { /* {0} is closed */
    const struct model *model;
    struct graph_classifier classifier;
    struct graph_targets targets;
    struct feature_source *layer; /* borrowed */
    float *piece;                 /* [threads]: some rows of the last layer for each thread */
};

/* Opens the outputs. Allocates in `rows` as many graphs as fit `budget_bytes`: all, or a
 * multiple of `piece`. Fails: ERROR_CORRUPT for labels or graphs that do not match the book;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_outputs_open(struct graph_outputs *graphs,
                                              const struct graph_outputs_config *config,
                                              struct output_rows *rows, struct error *err);
void graph_outputs_close(struct graph_outputs *graphs);
/* Computes the rows of the graphs from `first` on, as many as there is room for. Fails:
 * ERROR_CORRUPT naming shard, tensor and block; ERROR_IO. */
MUST_CHECK enum error_code graph_outputs_read(struct graph_outputs *graphs,
                                              struct output_rows *rows, uint32_t first,
                                              struct error *err);

#endif
