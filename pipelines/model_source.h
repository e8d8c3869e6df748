/*
 * model_source - a trained model, out of the folder of its run or a file that was exported from it (model.safetensors under
 * PyG's names), and what a graph must be like for it.
 */
#ifndef PIPELINES_MODEL_SOURCE_H
#define PIPELINES_MODEL_SOURCE_H

#include "common/base/error.h"
#include "pipelines/run_folder.h"
#include "stages/plan/edge_use.h"
#include "stages/plan/model_card.h"
#include "store/records/dataset_schema.h"
#include "store/records/snapshot.h"
#include "store/records/weights_identity.h"

struct model_source {         /* {0} is closed; large for a stack */
    struct run_folder folder; /* closed, where the model is a file */
    bool may_learn_pairs;     /* set before it is opened: pairs of nodes may be learnt, too */
    char run_id[ID_SIZE];     /* that trained it */
    struct model_card card;
    struct model model;
    struct edge_use edge_use;
    struct snapshot snapshot; /* of a file: its weights alone */
    struct weights_identity identity;
    const float *value; /* [model.value_count] */
    float *file_value;  /* of a file: these, owned, */
    char *file_table;   /* and the snapshot's table */
};

/* `path`: a folder, or a file. `run_id`: of a folder, NULL for the newest; of a file NULL. best: or else the last weights, which a
 * file does not have. Fails: ERROR_NOT_FOUND; ERROR_UNAVAILABLE for a run that has not ended; ERROR_INVALID for a
 * model that cannot be applied to another graph, saying why; ERROR_INPUT for a file that is none of graphmill's, or damaged;
 * ERROR_USAGE for what goes with a folder alone. */
MUST_CHECK enum error_code model_source_open(struct model_source *source, const char *path,
                                             const char *run_id, bool best, struct error *err);
void model_source_close(struct model_source *source);

/* Can the model read this graph? Fails: ERROR_INPUT with all that differs. */
MUST_CHECK enum error_code model_source_check(const struct model_source *source,
                                              const struct dataset_schema *dataset,
                                              struct error *err);
/* Puts into `settings`, which have the new graph's dataset and partition, the model and how it reads edges.
 * Fails: ERROR_INVALID for class weights that cannot be written down. */
MUST_CHECK enum error_code model_source_settings(const struct model_source *source,
                                                 struct pipeline_settings *settings,
                                                 struct error *err);

#endif
