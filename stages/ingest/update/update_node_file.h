/*
 * update_node_file - a file of an update whose lines begin with a node: "id, ..."; where nodes have several types "id,type, ..." with a
 * header that names the column `type`. A pattern or a list is several files, each with the header of the first (keyed_file.h).
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_NODE_FILE_H
#define STAGES_INGEST_UPDATE_UPDATE_NODE_FILE_H

#include "stages/ingest/formats/keyed_file.h"
#include "stages/ingest/update/update_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct node_line {
    uint32_t type; /* what the file says, or LIVING_ANY_TYPE */
    const struct field *id;
    struct delimited *values; /* behind both */
    const char *where;        /* the file at hand */
    int64_t line;
};

struct update_node_file { /* release with keyed_file_release(&file->keyed) */
    struct update_reader *reader;
    struct keyed_file keyed;
    bool needs_type;  /* where nodes have several types, each line has to say its own */
    bool tells_graph; /* in a dataset of many graphs the next value says the graph */
    bool is_known, has_type;
    enum error_code (*visit)(struct update_reader *reader, const struct node_line *line,
                             struct error *err);
};

/* `path` may be NULL: nothing is visited then. `is_of_new`: of nodes that come, whose types and graphs it has to say. */
struct update_node_file update_node_file_of(struct update_reader *reader, const char *path,
                                            enum keyed_form form, bool is_of_new);
/* Calls `visit` for each line; several times, if need be. Fails: ERROR_INPUT naming file and line for a header without `type` or `graph` where
 * one is needed, and a type that is none; as keyed_file_visit() and `visit`. */
MUST_CHECK enum error_code
update_node_file_visit(struct update_node_file *file,
                       enum error_code (*visit)(struct update_reader *reader,
                                                const struct node_line *line, struct error *err),
                       struct error *err);

#endif
