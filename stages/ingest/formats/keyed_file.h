/*
 * keyed_file - a text file with a node's id at the beginning of each line (labels, features, a split).
 *
 *   id,label            optional header (keyed_layout.h)
 *   alice,2             separators as common/formats/table_look.h finds them
 *   "Doe, Jane",0       "a ""b""" is a "b"
 *
 * With a choice (ingest.id_column, label_columns, ...) there is a header, and columns go by its names: the id may be anywhere,
 * and values are those that are wanted, in the order of the choice. A pattern (common/base/file_pattern.h) is several files,
 * each with the header of the first, or without one as that is.
 *
 * A visitor sees an empty value where a cell is one of `missing_words`, and a decimal point where
 * the file has decimal commas.
 *
 * Plain or gzip. Blank lines and comments (#, %) between rows are passed over; a file of ids alone
 * (KEYED_ID_ONLY) has none: line i + 1 is its i-th id, and the whole line is the id.
 */
#ifndef STAGES_INGEST_FORMATS_KEYED_FILE_H
#define STAGES_INGEST_FORMATS_KEYED_FILE_H

#include "common/base/error.h"
#include "common/formats/delimited.h"
#include "common/formats/table_look.h"
#include "stages/ingest/build/named_nodes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* KEYED_WORDS: values may be words or none, so that only the word that heads the ids tells a header. */
enum keyed_form { KEYED_VALUES, KEYED_ID_ONLY, KEYED_WORDS };

/* Columns by their names. Texts are borrowed; entries as stages/plan/named_entries.h has them, of which the names count. */
enum { KEYED_LEAVE_MAX = 4 };
struct keyed_choice {
    const char *id;                     /* NULL or "": the first */
    const char *take;                   /* entries; NULL or "": all that are not left out */
    const char *leave[KEYED_LEAVE_MAX]; /* entries, or NULL */
};

struct keyed_file { /* release with keyed_file_release() */
    const char *
        path; /* also the name in messages; borrowed. Of a pattern, during a visit: the file at hand */
    struct keyed_choice choice;
    const char *missing_words; /* ingest.missing_words, borrowed; NULL: there are none */
    const void *data;          /* the bytes of the file, or NULL: they are read from `path` */
    size_t size;
    enum keyed_form form;
    bool may_choose;   /* settings name columns: messages say which line to add */
    bool is_uneven;    /* rows have as many values as they like */
    bool lists_nodes;  /* values are ids, too: a header is then a first line without any */
    bool keeps_header; /* the caller wants names of columns, and releases */
    /* What the first line told; the same in every pass. */
    bool is_known;
    bool header_is_guess; /* nothing but its words says that it is one */
    enum delimiter delimiter;
    struct table_look look; /* not of ids alone */
    size_t unnamed;         /* columns in front of those that the header names: 0 or 1 */
    uint64_t missing_cells; /* of this visit so far: cells that are missing words */
    int64_t header_line;    /* of the first file; 0: none */
    uint64_t header_sum;    /* of its text */
    char *header;           /* that line, and as much room behind it, owned, or NULL */
    size_t id_field, field_count;
    size_t *
        pick; /* [pick_count] of values that are not all behind the id as they stand: their fields, owned */
    size_t pick_count;
    struct field *field; /* [field_count] of the line at hand, owned; likewise its values */
    char *values;
    size_t values_capacity;
};
void keyed_file_release(struct keyed_file *file);
/* The file's name without the folders above it, for notes. */
const char *keyed_file_title(const struct keyed_file *file);
/* What the header calls a column of the file, counted from 0; size 0: nothing. Valid until the file is released. */
struct field keyed_file_name(const struct keyed_file *file, size_t column);
/* The name of value `column` for messages and to be kept: that of the header, or its number from 1. Valid until the next call
 * that has the same `number`. */
struct field keyed_file_column(const struct keyed_file *file, size_t column, char number[24]);

/* `values`: what stands behind the id. */
typedef enum error_code (*keyed_visitor)(void *context, const struct field *id,
                                         struct delimited *values, int64_t line, struct error *err);

/* Calls `visit` for each row. Stops at the first error and returns it.
 * Fails: ERROR_INPUT naming file and line; ERROR_NOT_FOUND, ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code keyed_file_visit(struct keyed_file *file,
                                            const struct named_nodes *nodes, keyed_visitor visit,
                                            void *context, struct error *err);
/* The first line that has node `number`, 0 for none; for messages. */
MUST_CHECK enum error_code keyed_file_line_of(struct keyed_file *file,
                                              const struct named_nodes *nodes, int64_t number,
                                              int64_t *line, struct error *err);

/* For keyed_layout: the file at hand from its beginning; whether a line is no row. */
MUST_CHECK enum error_code keyed_file_open(const struct keyed_file *file, struct line_reader **out,
                                           struct error *err);
bool keyed_file_passes(const struct keyed_file *file, const struct text_line *line);

#endif
