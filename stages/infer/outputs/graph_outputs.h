/*
 * graph_outputs - embeddings, logits and labels of graphs, a range of them at a time, from the last layer of their nodes.
 *
 * The nodes of a graph stand side by side in the partition, and graphs have the numbers of the input, so the rows of the last layer
 * go by once, in order. They become the rows of struct output_rows, of which output_writer.h makes files and metrics as it does of
 * those of nodes: of graph g the embedding is what the readout gives. Ranges change no bit.
 */
#ifndef STAGES_INFER_OUTPUTS_GRAPH_OUTPUTS_H
#define STAGES_INFER_OUTPUTS_GRAPH_OUTPUTS_H

#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/infer/outputs/output_rows.h"
#include "stages/plan/model/graph_targets.h"
#include "store/features/feature_source.h"

struct graph_outputs_config { /* borrowed until graph_outputs_close(), but for itself */
    const struct stage_context *context;
    const struct model *model;
    const float *weights;         /* [model->value_count] */
    struct feature_source *layer; /* the last one's rows, [nodes, model_output_dim()] */
    uint32_t piece;
    uint64_t budget_bytes;
};

struct graph_outputs { /* {0} is closed */
    const struct model *model;
    struct graph_classifier classifier;
    struct graph_targets targets;
    struct feature_source *layer; /* borrowed */
    float *piece;                 /* some of its rows, for each thread */
};

/* Also makes room in `rows` for ranges of as many graphs as fit `budget_bytes`, a multiple of `piece` unless that is all.
 * Fails: ERROR_CORRUPT for labels or graphs that are not those of the book; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_outputs_open(struct graph_outputs *graphs,
                                              const struct graph_outputs_config *config,
                                              struct output_rows *rows, struct error *err);
void graph_outputs_close(struct graph_outputs *graphs);
/* The rows of the next graphs from `first` on, as many as there is room for. Fails: ERROR_CORRUPT naming shard, tensor and block;
 * ERROR_IO. */
MUST_CHECK enum error_code graph_outputs_read(struct graph_outputs *graphs,
                                              struct output_rows *rows, uint32_t first,
                                              struct error *err);

#endif
