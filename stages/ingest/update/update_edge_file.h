/*
 * update_edge_file - a file of an update with an edge a line: its ends as nodes, its relation where edges have several.
 *
 *   source,target[,etype][, ...]     named by a header, or in this order without etype: then weight, time, features
 *
 * A relation is named by its number, its name, or source:name:target. Of one relation the column may be left out. A pattern or a list
 * (common/base/file_pattern.h) is several files, each with a header of its own or none.
 */
#ifndef STAGES_INGEST_UPDATE_UPDATE_EDGE_FILE_H
#define STAGES_INGEST_UPDATE_UPDATE_EDGE_FILE_H

#include "common/base/error.h"
#include "stages/ingest/update/update_reader.h"
#include "stages/tables/edge_fields.h"

#include <stdbool.h>
#include <stdint.h>

struct update_edge_line {
    uint32_t source, target, relation; /* as edges are stored */
    struct field *field;               /* [EDGE_FIELD_MAX], with the relation as a number */
    int64_t line, place;               /* the latter in the reader's paths */
};

struct update_edge_file {
    struct update_reader *reader;
    const char *path; /* NULL: nothing is visited. During a visit the file at hand */
    bool
        takes_columns; /* lines have the columns that the dataset's edges have; else all but the relation is passed over */
    enum error_code (*visit)(struct update_edge_file *file, const struct update_edge_line *line,
                             struct error *err);
    /* What the first line of the file at hand told. */
    int64_t first_place;
    int64_t header_line; /* 0: there is none; INT64_MAX: there are no rows */
    struct edge_fields fields;
    int relation_field;        /* or EDGE_FIELD_NONE */
    struct edge_columns value; /* room for the columns of the edge at hand */
};

/* Fails: ERROR_INPUT naming file and line: other columns, no such node or relation, an end of another type; what `visit` returns. */
MUST_CHECK enum error_code update_edge_file_visit(struct update_edge_file *file, struct error *err);

#endif
