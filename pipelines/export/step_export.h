/* step_export - the state of export_step(): export_step.c, export_relations.c and export_graphs.c
 * add tensors to it. */
#ifndef PIPELINES_EXPORT_STEP_EXPORT_H
#define PIPELINES_EXPORT_STEP_EXPORT_H

#include "common/base/arena.h"
#include "common/formats/arrays/safetensors.h"
#include "common/nn/model.h"
#include "pipelines/export/export_arrays.h"
#include "pipelines/shared/run_folder.h"
#include "store/features/feature_source.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/round/gradient.h"
#include "store/records/round/parameters.h"

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
    struct arena arena; /* memory of the tensors */
    char name[STEP_TENSOR_COUNT][STEP_NAME_SIZE];
    struct safetensors_tensor tensor[STEP_TENSOR_COUNT];
    size_t count;
};

/* Adds a tensor of `rows` rows; for `cols` 0 it has one dimension. The name is copied, the values
 * are not. */
void step_export_add(struct step_export *step, enum safetensors_type type, const char *name,
                     uint64_t rows, uint64_t cols, const void *data);
MUST_CHECK enum error_code step_export_integers(struct step_export *step, const char *name,
                                                const uint32_t *value, size_t count,
                                                struct error *err);
/* Adds the row numbers in the input of these partition nodes. */
MUST_CHECK enum error_code step_export_nodes(struct step_export *step, const char *name,
                                             const uint32_t *node, uint32_t count,
                                             const struct node_permutation *permutation,
                                             struct error *err);
/* Nodes of one type: their numbers in the type, and the type's ranges of parts. */
struct step_export_rows {
    uint32_t type, count;
    const uint32_t *book, *number; /* [part_count + 1], [count] */
};
/* Reads their rows of a tensor of the partition, one after another. */
MUST_CHECK enum error_code step_export_read(struct step_export *step, const char *tensor,
                                            const struct step_export_rows *of, float **out,
                                            uint32_t *dim, struct error *err);
/* Adds labels that step_export_read() read. */
MUST_CHECK enum error_code step_export_labels(struct step_export *step, const float *rows,
                                              uint32_t count, uint32_t dim, struct error *err);

/* For a graph with relations: adds the mini-batch, features and labels. */
MUST_CHECK enum error_code step_export_relations(struct step_export *step, struct error *err);
/* For a task of pairs: adds the pairs, as numbers of seeds (store/records/batch/seed_pairs.h). */
MUST_CHECK enum error_code step_export_pairs(struct step_export *step, struct error *err);
/* For a task of graphs: adds the graph of the batch that each seed is in (PyG's `batch`), and the
 * labels of the graphs. */
MUST_CHECK enum error_code step_export_graphs(struct step_export *step, struct error *err);
/* Computes readout and classifier on the rows of the last layer: float32 [graphs, outputs]. */
MUST_CHECK enum error_code export_graph_logits(const struct run_folder *folder,
                                               struct feature_source *rows,
                                               const struct array_target *target,
                                               struct error *err);

#endif
