/*
 * keyed_file - a text file with a node's id at the beginning of each line (labels, features, a split).
 *
 *   id,label            optional header: the first line, when its id is no node so far and either the id
 *   alice,2             is a word that heads such columns ("id", "node", ...) or a value is no number
 *   "Doe, Jane",0       comma, tab, or runs of blanks between columns, as the first line has them
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

struct keyed_file {
    const char *path; /* also the name in messages; borrowed */
    enum keyed_form form;
    const void *data; /* the bytes of the file, or NULL: they are read from `path` */
    size_t size;
    /* What the first line told; the same in every pass. */
    bool is_known;
    enum delimiter delimiter;
    int64_t header_line; /* 0: none */
};

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
