/*
 * keyed_file - a text file with a node's id at the beginning of each line (labels, features, a split).
 *
 *   id,label            optional header: the first line, when its id is no node so far and either the id is a word that heads
 *   alice,2             such columns ("id", "node", ...), or a value is no number, and those of the next line are
 *   "Doe, Jane",0       comma, tab, or runs of blanks between columns, as the first line has them; "a ""b""" is a "b"
 *
 * With a choice (ingest.id_column, label_columns, ...) there is a header, and columns go by its names: the id may be anywhere,
 * and values are those that are wanted, in the order of the choice. A pattern (common/base/file_pattern.h) is several files,
 * each with the header of the first, or without one as that is.
 *
 * Plain or gzip. Blank lines and comments (#, %) between rows are passed over; a file of ids alone
 * (KEYED_ID_ONLY) has none: line i + 1 is its i-th id, and the whole line is the id.
 */
#ifndef STAGES_INGEST_FORMATS_KEYED_FILE_H
#define STAGES_INGEST_FORMATS_KEYED_FILE_H

#include "common/base/error.h"
#include "common/formats/delimited.h"
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
    enum keyed_form form;
    bool lists_nodes; /* values are ids, too: a header is then a first line without any */
    const void *data; /* the bytes of the file, or NULL: they are read from `path` */
    size_t size;
    /* What the first line told; the same in every pass. */
    bool is_known;
    enum delimiter delimiter;
    int64_t header_line; /* of the first file; 0: none */
    uint64_t header_sum; /* of its text */
    bool keeps_header;   /* the caller wants names of columns, and releases */
    char *header;        /* that line, and as much room behind it, owned, or NULL */
    size_t id_field, field_count;
    size_t *pick; /* [pick_count] with a choice: the fields of values, owned */
    size_t pick_count;
    struct field *field; /* [field_count] of the line at hand, owned; likewise its values */
    char *values;
    size_t values_capacity;
};
void keyed_file_release(struct keyed_file *file);
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

#endif
