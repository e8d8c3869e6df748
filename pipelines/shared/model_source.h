/*
 * model_source - a trained model, read from the folder of its run or from an exported file
 * (model.safetensors, with the names of PyG), and the check that a graph fits it.
 */
#ifndef PIPELINES_SHARED_MODEL_SOURCE_H
#define PIPELINES_SHARED_MODEL_SOURCE_H

#include "common/base/error.h"
#include "pipelines/shared/run_folder.h"
#include "stages/plan/model/edge_use.h"
#include "stages/plan/model/model_card.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/round/snapshot.h"
#include "store/records/round/weights_identity.h"

struct model_source {         /* {0} is closed; large for a stack */
    struct run_folder folder; /* closed if the model is a file */
    /* the caller sets it before opening: a model that learns pairs of nodes is accepted too */
    bool may_learn_pairs;
    char run_id[ID_SIZE]; /* the run that trained it */
    struct model_card card;
    struct model model;
    struct edge_use edge_use;
    struct snapshot snapshot; /* of a file: only the weights */
    struct weights_identity identity;
    const float *value; /* [model.value_count] */
    float *file_value;  /* values of a file; owned */
    char *file_table;   /* table of the snapshot of a file; owned */
};

/* Opens a model. `path` is a folder or a file. `run_id` is a run of the folder, or NULL for the
 * newest; it is NULL for a file. `best` selects the best weights, otherwise the last ones, which a
 * file does not have.
 * Fails: ERROR_NOT_FOUND; ERROR_UNAVAILABLE for a run that has not ended; ERROR_INVALID, with the
 * reason, for a model that cannot be applied to another graph; ERROR_INPUT for a damaged file, or
 * one that graphmill did not write; ERROR_USAGE for an option that only a folder accepts. */
MUST_CHECK enum error_code model_source_open(struct model_source *source, const char *path,
                                             const char *run_id, bool best, struct error *err);
void model_source_close(struct model_source *source);

/* Checks that the model can be applied to this graph. Fails: ERROR_INPUT with all that differs. */
MUST_CHECK enum error_code model_source_check(const struct model_source *source,
                                              const struct dataset_schema *dataset,
                                              struct error *err);
/* Writes the model, and how it reads edges, into `settings`, which already have the dataset and
 * partition of the new graph. Fails: ERROR_INVALID for class weights that a pipeline file cannot
 * express. */
MUST_CHECK enum error_code model_source_settings(const struct model_source *source,
                                                 struct pipeline_settings *settings,
                                                 struct error *err);

#endif
