/*
 * dataset_format - what the settings, `format: auto` and `graphmill init` know of an input format.
 *
 * The rows are in format_list.h. The reader of a format is in its row of
 * stages/ingest/formats/input_format.h, which only ingest links. Other files do not name formats:
 * they ask for a trait. A setting keeps the format as the place of its row, and records and
 * pipeline files as its name, so rows may move.
 */
#ifndef STAGES_PLAN_DATASET_FORMAT_H
#define STAGES_PLAN_DATASET_FORMAT_H

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
    FORMAT_IS_OF_GRAPHS = 64,     /* always does, so that only tasks of graphs learn from it */
    FORMAT_HOLDS_OUT_EDGES = 128, /* may say which edges are for validation and test */
    FORMAT_HAS_NEGATIVES = 256    /* may have the negatives of these edges */
};

struct dataset_format {
    const char *name;
    const char *sign;       /* how `auto` knows its folder: by a file or folder in it of this name,
                             * or, behind a star, of this ending; NULL: the format is no folder */
    const char *sign_text;  /* how messages call the sign; NULL: as it is */
    const char *endings[4]; /* how `auto` knows its file: by one of these endings; NULL-terminated.
                             * Formats that the first bytes show stand in common/formats/file_kind.c */
    const char *settings;   /* the settings that only some formats read, and this one does: their
                             * names without `ingest.`, blanks between; NULL: none */
    unsigned traits;        /* enum dataset_format_trait */
};

/* In the order of the list, `auto` last; ends with a NULL name. */
extern const struct dataset_format dataset_formats[];
/* The choices of ingest.format, and what each is. */
extern const char *const dataset_format_names[], *const dataset_format_texts[];

struct pipeline_settings;
/* The row that ingest.format chooses. */
const struct dataset_format *dataset_format_of(const struct pipeline_settings *settings);
/* Whether that row has `trait`. `auto` may become any format, so it has what any may have. */
bool dataset_format_has(const struct pipeline_settings *settings, enum dataset_format_trait trait);
/* The place of the format `name`, which must be in the list. */
int64_t dataset_format_find(const char *name);
/* Whether the format reads a setting that only some formats read; `setting` is "ingest.labels". */
bool dataset_format_reads(const struct dataset_format *format, const char *setting);

/* Into `out` [size], as messages list them: the formats with `trait`, without `auto`, as in
 * "a, b and c" for " and " as `last`; the formats that read `setting`, as in "a,b,c". */
void dataset_format_list(enum dataset_format_trait trait, const char *last, char *out, size_t size);
void dataset_format_readers(const char *setting, char *out, size_t size);

#endif
