/*
 * input_format - how ingest reads an input format.
 *
 * Each format defines its row, `const struct input_format NAME_format`, in the file of its reader.
 * The names, and what the settings know of a format, are in stages/plan/settings/format_list.h; no other
 * table lists the formats.
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_INPUT_FORMAT_H
#define STAGES_INGEST_FORMATS_SHARED_INPUT_FORMAT_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdbool.h>
#include <stdint.h>

struct input_format {
    bool is_file;     /* ingest.path is a file; otherwise it is a folder */
    bool has_folders; /* the folder may have folders of files in it */
    /* the endings of the files that are read from the folder; NULL-terminated. The id of a dataset
     * depends on these files alone */
    const char *endings[8];
    /* The names of these files, to warn about others with similar names (unread_files.h); NULL: no
     * warnings. The files lie in the folder `known_below` below ingest.path. */
    const struct known_file *known;
    const char *known_below;
    bool has_meta; /* meta.json beside the files lists the node types (folder_meta.h) */
    /* Advice for messages: what to add if labels or training nodes are missing, and the form that a
     * file must have (mending.h); `form` may be NULL. */
    struct training_advice advice;
    const char *form;
    /* Pushes the whole input at settings->ingest.path into `builder`, which the caller finishes.
     * `memory_bytes` is for readers that hold more than a bounded piece of the input. Fails:
     * ERROR_NOT_FOUND; ERROR_INPUT naming file, line, what was expected and found. */
    enum error_code (*run)(const struct pipeline_settings *settings, uint64_t memory_bytes,
                           struct dataset_builder *builder, struct error *err);
};

/* Returns the row of the format that ingest.format chooses, which must not be `auto`
 * (format_detect.h). */
const struct input_format *input_format_of(const struct pipeline_settings *settings);

#define ADVICE_RANDOM_SPLIT "write `split: random 60/20/20` below `ingest:`"
/* The advice of formats whose labels and splits are in files that settings name. */
#define ADVICE_NODE_FILES                                                                          \
    "give nodes a class in the file that ingest.labels names",                                     \
        "give ids in the file that ingest.train names, or write `split: random 60/20/20` in "      \
        "its place"
/* The advice for triples, which have neither classes nor splits of nodes. */
#define ADVICE_TRIPLES                                                                             \
    "write `task: link_prediction` below `ingest:`, since triples have no classes",                \
        "write `task: link_prediction` below `ingest:`, since triples have no splits of nodes"
/* The advice for datasets of many graphs, where graphs have the classes and splits. */
#define ADVICE_GRAPHS                                                                              \
    "add graph-label.csv, whose line i is the class of graph i (-1: none)",                        \
        "add train.csv (and valid.csv, test.csv) with a graph id a line, or a line `split: "       \
        "random 80/10/10` below `ingest:`"

#endif
