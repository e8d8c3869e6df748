/*
 * update_node_file - a file of an update whose lines begin with a node: "id, ..."; or, if nodes
 * have several types, "id,type, ..." with a header that names the column `type`. A pattern or a
 * list stands for several files, each with the header of the first (keyed_file.h).
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_NODE_FILE_H
#define STAGES_INGEST_UPDATE_UPDATE_NODE_FILE_H

#include "stages/ingest/formats/columns/keyed_file.h"
#include "stages/ingest/update/update_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct node_line {
    uint32_t type; /* as the file says it, or LIVING_ANY_TYPE */
    const struct field *id;
    struct delimited *values; /* the fields after id and type */
    const char *where;        /* the current file */
    int64_t line;
};

struct update_node_file { /* release with keyed_file_release(&file->keyed) */
    struct update_reader *reader;
    struct keyed_file keyed;
    bool needs_type;  /* nodes have several types, and each line must name its type */
    bool tells_graph; /* in a dataset of many graphs: the next value is the graph */
    bool is_known, has_type;
    enum error_code (*visit)(struct update_reader *reader, const struct node_line *line,
                             struct error *err);
};

/* Returns the reader of the file `path`; if `path` is NULL, nothing is visited. `is_of_new`: the
 * file lists added nodes, so it must name their types and graphs. */
struct update_node_file update_node_file_of(struct update_reader *reader, const char *path,
                                            enum keyed_form form, bool is_of_new);
/* Calls `visit` for each line; may be called several times. Fails: ERROR_INPUT naming file and line
 * for a header that lacks a needed `type` or `graph`, and for an unknown type; as
 * keyed_file_visit() and `visit`. */
MUST_CHECK enum error_code
update_node_file_visit(struct update_node_file *file,
                       enum error_code (*visit)(struct update_reader *reader,
                                                const struct node_line *line, struct error *err),
                       struct error *err);

#endif
