/*
 * dataset_update - runs graphmill-ingest to make a new version of a folder's dataset from the files
 * of an update.
 */
#ifndef PIPELINES_WATCH_DATASET_UPDATE_H
#define PIPELINES_WATCH_DATASET_UPDATE_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "pipelines/run/pipeline_options.h"
#include "stages/plan/settings/update_request.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_schema.h"

struct dataset_version { /* {0} is empty; too large for a stack */
    struct dataset_schema schema;
    /* what the update changed; {0} for a version that no update made */
    struct dataset_delta delta;
    /* of the update's files; without the reverse edges that ingest added */
    uint64_t added_edges, removed_edges;
};

/* Reads the id of the version that ingest made last. Fails: ERROR_NOT_FOUND. */
MUST_CHECK enum error_code dataset_newest_id(const struct pipeline_options *options,
                                             const struct run_folder *folder, char id[ID_SIZE],
                                             struct error *err);
/* Applies the files to the newest version and stores the new version in *out. If the newest version
 * was already made by these files, *out is that version.
 * Owns: *out; the caller releases it. The folder is open.
 * Fails: ERROR_INPUT when a file does not fit, naming file and line, and nothing was changed;
 * ERROR_INVALID for a dataset that has no versions; ERROR_CORRUPT, ERROR_UNAVAILABLE and others as
 * graphmill-ingest does. */
MUST_CHECK enum error_code dataset_update_apply(const struct pipeline_options *options,
                                                struct run_folder *folder,
                                                const struct update_request *request,
                                                struct dataset_version *out, struct error *err);
void dataset_version_release(struct dataset_version *version);
/* Writes the ids and counts of a version as members of the open JSON object. */
void dataset_version_put(struct json_writer *json, const struct dataset_version *version);

#endif
