/* step_export - a training step on its way into a file: what export_step.c and export_relations.c add to. */
#ifndef PIPELINES_EXPORT_STEP_EXPORT_H
#define PIPELINES_EXPORT_STEP_EXPORT_H

#include "common/base/arena.h"
#include "common/formats/safetensors.h"
#include "common/nn/model.h"
#include "pipelines/export/export_arrays.h"
#include "pipelines/run_folder.h"
#include "store/features/feature_source.h"
#include "store/records/gradient.h"
#include "store/records/mini_batch.h"
#include "store/records/node_permutation.h"
#include "store/records/parameters.h"

enum {
    STEP_NAME_SIZE = PARAMETER_NAME_SIZE + 24,
    STEP_TENSOR_COUNT = 12 + EDGE_COLUMN_COUNT + 3 * RELATION_TYPE_COUNT_MAX +
                        5 * RELATION_COUNT_MAX + 2 * PARAMETER_COUNT_MAX
};

struct step_export {
    const struct run_folder *folder;
    struct model model;
    struct mini_batch batch;
    struct weights weights;
    struct gradient gradient;
    struct arena arena; /* what tensors point to */
    char name[STEP_TENSOR_COUNT][STEP_NAME_SIZE];
    struct safetensors_tensor tensor[STEP_TENSOR_COUNT];
    size_t count;
};

/* The next tensor, of `rows` rows; `cols` 0: it has one dimension. The name is copied. */
void step_export_add(struct step_export *step, enum safetensors_type type, const char *name,
                     uint64_t rows, uint64_t cols, const void *data);
MUST_CHECK enum error_code step_export_integers(struct step_export *step, const char *name,
                                                const uint32_t *value, size_t count,
                                                struct error *err);
/* The rows of the input of these nodes of the partition. */
MUST_CHECK enum error_code step_export_nodes(struct step_export *step, const char *name,
                                             const uint32_t *node, uint32_t count,
                                             const struct node_permutation *permutation,
                                             struct error *err);
/* Nodes of a type: their numbers in it, and its book. */
struct step_export_rows {
    uint32_t type, count;
    const uint32_t *book, *number; /* [part_count + 1], [count] */
};
/* Their rows of a tensor of the partition, one after the other. */
MUST_CHECK enum error_code step_export_read(struct step_export *step, const char *tensor,
                                            const struct step_export_rows *of, float **out,
                                            uint32_t *dim, struct error *err);
/* Labels that were read so. */
MUST_CHECK enum error_code step_export_labels(struct step_export *step, const float *rows,
                                              uint32_t count, uint32_t dim, struct error *err);

/* Of a graph with relations: the mini-batch, features and labels. */
MUST_CHECK enum error_code step_export_relations(struct step_export *step, struct error *err);
/* Of a task of pairs: seeds, by their numbers as store/records/seed_pairs.h has them. */
MUST_CHECK enum error_code step_export_pairs(struct step_export *step, struct error *err);
/* Of a task of graphs: which graph of the batch each seed is of, as PyG's `batch`, and the labels of graphs. */
MUST_CHECK enum error_code step_export_graphs(struct step_export *step, struct error *err);
/* What readout and classifier make of the last layer's rows: float32 [graphs, outputs]. */
MUST_CHECK enum error_code export_graph_logits(const struct run_folder *folder,
                                               struct feature_source *rows,
                                               const struct array_target *target,
                                               struct error *err);

#endif
