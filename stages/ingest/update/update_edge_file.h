/*
 * update_edge_file - a file of an update with an edge in each line: its ends as nodes, and its
 * relation if edges have several.
 *
 *   source,target[,etype][, ...]     named by a header, or in this order without etype: then
 *                                    weight, time, features
 *
 * A relation is given by its number, its name, or source:name:target. If there is one relation, the
 * column may be left out. A pattern or a list (common/files/file_pattern.h) stands for several
 * files, each with a header of its own or without one.
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_EDGE_FILE_H
#define STAGES_INGEST_UPDATE_UPDATE_EDGE_FILE_H

#include "common/base/error.h"
#include "stages/ingest/update/update_reader.h"
#include "stages/tables/edge_fields.h"

#include <stdbool.h>
#include <stdint.h>

struct update_edge_line {
    uint32_t source, target, relation; /* in the direction in which edges are stored */
    struct field *field;               /* [EDGE_FIELD_MAX], the relation already as a number */
    int64_t line, place;               /* place is the line's place in the reader's paths */
};

struct update_edge_file {
    struct update_reader *reader;
    const char *path; /* NULL: no file to visit. During a visit, the current file */
    /* lines have the columns of the dataset's edges; otherwise only ends and relation are read */
    bool takes_columns;
    enum error_code (*visit)(struct update_edge_file *file, const struct update_edge_line *line,
                             struct error *err);
    /* The first line of the current file shows these. */
    int64_t first_place;
    int64_t header_line; /* 0: there is none; INT64_MAX: there are no rows */
    struct edge_fields fields;
    int relation_field;        /* or EDGE_FIELD_NONE */
    struct edge_columns value; /* room for the columns of the current edge */
};

/* Visits each edge. Fails: ERROR_INPUT naming file and line: other columns, an unknown node or
 * relation, an end of another type; the error that `visit` returns. */
MUST_CHECK enum error_code update_edge_file_visit(struct update_edge_file *file, struct error *err);

#endif
