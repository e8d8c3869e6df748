/*
 * input_format - how ingest reads an input format.
 *
 * Each format defines its row, `const struct input_format NAME_format`, in the file of its reader.
 * The names, and what the settings know of a format, are in stages/plan/format_list.h; no other
 * table lists the formats.
 */
#ifndef STAGES_INGEST_FORMATS_INPUT_FORMAT_H
#define STAGES_INGEST_FORMATS_INPUT_FORMAT_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/plan/pipeline_settings.h"

#include <stdbool.h>
#include <stdint.h>

struct input_format {
    bool is_file;           /* ingest.path is a file; otherwise a folder */
    bool has_folders;       /* which may have folders of files in it */
    const char *endings[8]; /* of the files in the folder that are read; NULL-terminated. The id of
                             * a dataset depends on these files alone */
    /* The names of these files, to warn about others that look like them (unread_files.h); NULL:
     * nobody warns. They lie in `known_below` below ingest.path. */
    const struct known_file *known;
    const char *known_below;
    bool has_meta; /* meta.json beside them lists the node types (folder_meta.h) */
    /* Messages say with these what to add if labels or training nodes are missing, and how a file
     * must look (mending.h); `form` may be NULL. */
    struct training_advice advice;
    const char *form;
    /* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
     * `memory_bytes` is for readers that hold more than a bounded piece of the input.
     * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file, line, what was expected and found. */
    enum error_code (*run)(const struct pipeline_settings *settings, uint64_t memory_bytes,
                           struct dataset_builder *builder, struct error *err);
};

/* The row of the format that ingest.format chooses, which is not `auto` (format_detect.h). */
const struct input_format *input_format_of(const struct pipeline_settings *settings);

#define ADVICE_RANDOM_SPLIT "write `split: random 60/20/20` below `ingest:`"
/* Labels and splits are in files that settings name. */
#define ADVICE_NODE_FILES                                                                          \
    "give nodes a class in the file that ingest.labels names",                                     \
        "give ids in the file that ingest.train names, or write `split: random 60/20/20` in "      \
        "its place"
/* Triples have neither classes nor splits of nodes. */
#define ADVICE_TRIPLES                                                                             \
    "write `task: link_prediction` below `ingest:`, since triples have no classes",                \
        "write `task: link_prediction` below `ingest:`, since triples have no splits of nodes"
/* Graphs have classes and splits of their own. */
#define ADVICE_GRAPHS                                                                              \
    "add graph-label.csv, whose line i is the class of graph i (-1: none)",                        \
        "add train.csv (and valid.csv, test.csv) with a graph id a line, or a line `split: "       \
        "random 80/10/10` below `ingest:`"

#endif
