/*
 * keyed_file - a text file with a node's id at the beginning of each line (labels, features, a
 * split).
 *
 *   id,label            optional header (keyed_layout.h)
 *   alice,2             separators as common/formats/text/table_look.h finds them
 *   "Doe, Jane",0       "a ""b""" is a "b"
 *
 * With a choice (ingest.id_column, label_columns, ...) there is a header, and its names identify
 * the columns: the id may be in any column, and the values are the chosen columns, in the order of
 * the choice. A pattern (common/files/file_pattern.h) stands for several files; if the first has a
 * header, each has the same one, otherwise none has one.
 *
 * A visitor sees an empty value instead of a cell that is one of `missing_words`, and a decimal
 * point where the file has a decimal comma.
 *
 * Plain or gzip. Blank lines and comments (#, %) between rows are skipped. A file of ids alone
 * (KEYED_ID_ONLY) has no such lines: line i + 1 is its i-th id, and the whole line is the id.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_KEYED_FILE_H
#define STAGES_INGEST_FORMATS_COLUMNS_KEYED_FILE_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/table_look.h"
#include "stages/ingest/build/nodes/named_nodes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* KEYED_WORDS: values may be words or be missing, so only the word above the ids shows that a first
 * line is a header. */
enum keyed_form { KEYED_VALUES, KEYED_ID_ONLY, KEYED_WORDS };

/* A choice of columns by their names. Texts are borrowed. Entries are written as in
 * stages/plan/settings/named_entries.h; only their names count. */
enum { KEYED_LEAVE_MAX = 4 };
struct keyed_choice {
    const char *id;                     /* NULL or "": the first column */
    const char *take;                   /* entries; NULL or "": all columns that are not left out */
    const char *leave[KEYED_LEAVE_MAX]; /* entries, or NULL */
};

struct keyed_file { /* release with keyed_file_release() */
    /* also the name in messages; borrowed. With a pattern, during a visit: the current file */
    const char *path;
    struct keyed_choice choice;
    const char *missing_words; /* ingest.missing_words, borrowed; NULL: none */
    const void *data;          /* the bytes of the file, or NULL: they are read from `path` */
    size_t size;
    enum keyed_form form;
    bool may_choose;   /* settings can name columns, so messages say which line to add */
    bool is_uneven;    /* rows may have different numbers of values */
    bool lists_nodes;  /* values are ids, too, so a header is a first line without any id */
    bool keeps_header; /* the caller needs the names of columns and releases them */
    /* The first line shows these, the same in every pass. */
    bool is_known;
    bool header_is_guess; /* only the words of the line show that it is a header */
    enum delimiter delimiter;
    struct table_look look; /* not for files of ids alone */
    size_t unnamed;         /* columns before the first one that the header names: 0 or 1 */
    uint64_t missing_cells; /* in this visit so far: cells that are missing words */
    int64_t header_line;    /* line of the header in the first file; 0: none */
    uint64_t header_sum;    /* checksum of the header's text */
    char *header;           /* the header line, followed by as much free room, owned, or NULL */
    size_t id_field, field_count;
    /* [pick_count] fields of the values, if the values are not simply all fields after the id;
     * owned */
    size_t *pick;
    size_t pick_count;
    struct field *field; /* [field_count] of the current line, owned; its values likewise */
    char *values;
    size_t values_capacity;
};
void keyed_file_release(struct keyed_file *file);
/* Returns the file's name without the folders above it, for notes. */
const char *keyed_file_title(const struct keyed_file *file);
/* Returns the name that the header gives a column of the file, counted from 0; size 0: none. Valid
 * until the file is released. */
struct field keyed_file_name(const struct keyed_file *file, size_t column);
/* Returns the name of value `column` for messages and records: the name in the header, or its
 * number from 1. Valid until the next call that has the same `number`. */
struct field keyed_file_column(const struct keyed_file *file, size_t column, char number[24]);

/* Is called for each row; `values` are the fields after the id. */
typedef enum error_code (*keyed_visitor)(void *context, const struct field *id,
                                         struct delimited *values, int64_t line, struct error *err);

/* Calls `visit` for each row. Stops at the first error and returns it. Fails: ERROR_INPUT naming
 * file and line; ERROR_NOT_FOUND, ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code keyed_file_visit(struct keyed_file *file,
                                            const struct named_nodes *nodes, keyed_visitor visit,
                                            void *context, struct error *err);
/* Finds the first line of node `number`, 0 if there is none; for messages. */
MUST_CHECK enum error_code keyed_file_line_of(struct keyed_file *file,
                                              const struct named_nodes *nodes, int64_t number,
                                              int64_t *line, struct error *err);

/* Two functions for keyed_layout: the first opens the current file at its beginning, the second
 * returns whether a line is no row. */
MUST_CHECK enum error_code keyed_file_open(const struct keyed_file *file, struct line_reader **out,
                                           struct error *err);
bool keyed_file_passes(const struct keyed_file *file, const struct text_line *line);

#endif
