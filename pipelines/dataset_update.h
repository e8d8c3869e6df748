/*
 * dataset_update - files of an update as a new version of a folder's dataset, by graphmill-ingest.
 */
#ifndef PIPELINES_DATASET_UPDATE_H
#define PIPELINES_DATASET_UPDATE_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "pipelines/pipeline_options.h"
#include "stages/plan/update_request.h"
#include "store/records/dataset_delta.h"
#include "store/records/dataset_schema.h"

struct dataset_version { /* {0} is empty; large for a stack */
    struct dataset_schema schema;
    struct dataset_delta delta;          /* what it is made of; {0} for one that no update made */
    uint64_t added_edges, removed_edges; /* of its files: reverses that ingest added are left out */
};

/* The id of the version that ingest made last. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code dataset_newest_id(const struct pipeline_options *options,
                                             const struct run_folder *folder, char id[ID_SIZE],
                                             struct error *err);
/* Applies the files to the newest version, unless it was made by them; the new one is *out, released by the caller. The folder is
 * open. Fails: ERROR_INPUT when a file does not fit, naming file and line, and nothing was changed; ERROR_INVALID for a dataset
 * that has no versions; ERROR_CORRUPT, ERROR_UNAVAILABLE, ... as the program does. */
MUST_CHECK enum error_code dataset_update_apply(const struct pipeline_options *options,
                                                struct run_folder *folder,
                                                const struct update_request *request,
                                                struct dataset_version *out, struct error *err);
void dataset_version_release(struct dataset_version *version);
/* Its ids and counts, as members of the open object. */
void dataset_version_put(struct json_writer *json, const struct dataset_version *version);

#endif
