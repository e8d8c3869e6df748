/*
 * unread_files - the files in the input's folder that its format does not read, and what each was
 * likely meant to be. Without this check node_feat.npy beside a format that reads node-feat.npy
 * would be ignored silently, and features would be made up.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_UNREAD_FILES_H
#define STAGES_INGEST_FORMATS_FOLDERS_UNREAD_FILES_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"

/* One thing that a format reads: the stem of its file, its possible endings, and other names for
 * it. Names are compared in lower case, with '-' for '_' and blanks. A list of them ends with a
 * NULL stem. */
struct known_file {
    const char *stem;
    const char *endings[5];  /* NULL-terminated; the first is the one to recommend */
    const char *aliases[10]; /* NULL-terminated */
};

#define TABLE_ENDINGS  ".csv", ".csv.gz", ".csv.zst", ".npy"
#define PACKED_ENDINGS ".csv.gz", ".csv.zst", ".csv"
#define FEATURE_ALIASES                                                                            \
    "node-features", "features", "feature", "feat", "feats", "x", "attr", "attributes", "node-attr"
#define LABEL_ALIASES "node-labels", "labels", "label", "y", "targets", "target", "class", "classes"
#define EDGE_ALIASES  "edge-index", "edge-list", "edgelist", "adj", "links", "graph"
#define TRAIN_ALIASES "train-idx", "train-mask", "training", "train-nodes", "train-ids"
#define VALID_ALIASES "val", "validation", "dev", "val-idx", "valid-idx", "val-mask", "valid-mask"
#define TEST_ALIASES  "test-idx", "test-mask", "testing", "test-nodes", "test-ids"

/* Is called for each unread file; `meant`: the likely intended name, or NULL when no known name is
 * similar. */
typedef void (*unread_visitor)(void *context, const char *name, const char *meant);

/* Calls `visit` for each file that is not read, in the order of names. Formats without a list of
 * known files (input_format.h) report none. Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_INPUT. */
MUST_CHECK enum error_code unread_files_visit(const struct pipeline_settings *settings,
                                              unread_visitor visit, void *context,
                                              struct error *err);

#endif
