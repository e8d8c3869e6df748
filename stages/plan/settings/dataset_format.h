/*
 * dataset_format - the traits of an input format that the settings, `format: auto` and `graphmill
 * init` use.
 *
 * The rows are in format_list.h. The reader of a format is in its row of
 * stages/ingest/formats/shared/input_format.h, which only ingest links. Other files do not name formats:
 * they ask for a trait. A setting keeps the format as the index of its row, and records and
 * pipeline files as its name, so rows may move.
 */
#ifndef STAGES_PLAN_SETTINGS_DATASET_FORMAT_H
#define STAGES_PLAN_SETTINGS_DATASET_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dataset_format_trait {
    FORMAT_IS_AUTO = 1,           /* the choice `auto`: the input says which format it has */
    FORMAT_IS_GENERATED = 2,      /* reads no files: ingest.path may be empty */
    FORMAT_IS_TABLE = 4,          /* a table of edges, in one file or several; `auto` takes any
                                  * other file for it */
    FORMAT_HAS_NODE_FILES = 8,    /* settings name the files of labels, features and splits */
    FORMAT_HAS_COLUMNS = 16,      /* nodes have columns by name: ingest.feature_columns needs no
                                  * table in ingest.features */
    FORMAT_HAS_GRAPHS = 32,       /* may say which graph a node is in */
    FORMAT_IS_OF_GRAPHS = 64,     /* every input has graphs, so it suits only tasks of graphs */
    FORMAT_HOLDS_OUT_EDGES = 128, /* may say which edges are for validation and test */
    FORMAT_HAS_NEGATIVES = 256    /* may have the negatives of these edges */
};

struct dataset_format {
    const char *name;
    /* How `auto` recognises a folder of this format: by a file or folder in it of this name, or,
     * after a star, with this ending. NULL: the format is no folder. */
    const char *sign;
    /* The sign as messages print it; NULL: as it is. */
    const char *sign_text;
    /* How `auto` recognises a file of this format: by one of these endings; NULL-terminated.
     * Formats that are recognised by their first bytes are in common/formats/bytes/file_kind.c. */
    const char *endings[4];
    /* The settings that only some formats read, this one included: names without `ingest.`,
     * separated by blanks; NULL: none. */
    const char *settings;
    unsigned traits; /* enum dataset_format_trait */
};

/* The formats in the order of the list, `auto` last. The array ends with a NULL name. */
extern const struct dataset_format dataset_formats[];
/* The choices of ingest.format, and a description of each. */
extern const char *const dataset_format_names[], *const dataset_format_texts[];

struct pipeline_settings;
/* Returns the row that ingest.format chooses. */
const struct dataset_format *dataset_format_of(const struct pipeline_settings *settings);
/* Returns whether that row has `trait`. `auto` may become any format, so it has every trait. */
bool dataset_format_has(const struct pipeline_settings *settings, enum dataset_format_trait trait);
/* Returns the index of the format `name`, which must be in the list. */
int64_t dataset_format_find(const char *name);
/* Returns whether the format reads a setting that only some formats read; `setting` is e.g.
 * "ingest.labels". */
bool dataset_format_reads(const struct dataset_format *format, const char *setting);

/* Write to `out` [size], as messages list them: the formats with `trait`, without `auto`, e.g. "a,
 * b and c" for " and " as `last`; the formats that read `setting`, e.g. "a,b,c". */
void dataset_format_list(enum dataset_format_trait trait, const char *last, char *out, size_t size);
void dataset_format_readers(const char *setting, char *out, size_t size);

#endif
