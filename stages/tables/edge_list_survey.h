/*
 * edge_list_survey - reads the first lines of a list of edges and finds its layout, the roles of
 * its columns, its direction, and the type of ids.
 *
 * It understands the comments of published collections:
 *
 *   # Undirected graph, # Directed graph   SNAP: the direction
 *   % sym, % asym, % bip                   KONECT: the direction; the third column is the weight,
 *                                          the fourth the time; the ends of a `bip` graph are nodes
 *                                          of two types, left and right
 */
#ifndef STAGES_TABLES_EDGE_LIST_SURVEY_H
#define STAGES_TABLES_EDGE_LIST_SURVEY_H

#include "common/base/error.h"
#include "common/formats/text/table_look.h"
#include "stages/tables/edge_roles.h"
#include "store/records/dataset/node_ids.h"

#include <stdbool.h>

struct edge_list_survey { /* {0} is releasable */
    struct table_look look;
    struct edge_roles roles;
    bool of_strings; /* ids are kept as they are written */
    bool has_zeros;  /* because some begin with a zero, such as 007 */
    enum stated_direction stated;
    /* The words of a comment that state the direction, such as "% asym"; NULL: no comment does. */
    const char *comment;
};

struct edge_survey_request { /* borrowed */
    const char *path;        /* the file, and its name in messages */
    const void *data;        /* [size] its bytes; NULL: they are read from `path` */
    size_t size;
    const struct pipeline_settings *settings; /* NULL: none */
    const char *columns; /* used instead of ingest.edge_columns; NULL: use the settings */
    enum edge_feature_choice features;
    enum id_type id_type;
};

/* Reads the lines. Owns: what is in *out; release it, also after a failure. Fails: ERROR_INPUT
 * naming file, line and what was expected; ERROR_INVALID; ERROR_NOT_FOUND; ERROR_IO;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_list_survey_read(const struct edge_survey_request *request,
                                                 struct edge_list_survey *out, struct error *err);
void edge_list_survey_release(struct edge_list_survey *survey);

#endif
