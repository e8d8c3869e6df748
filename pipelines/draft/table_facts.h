/*
 * table_facts - what graphmill init finds out about a table of edges and a table of nodes.
 *
 *   edges.csv ─> edge_list_survey: the roles of its columns, its direction, the kind of ids
 *   nodes.csv ─> table_survey: which columns are ids, classes, splits, numbers, words
 */
#ifndef PIPELINES_DRAFT_TABLE_FACTS_H
#define PIPELINES_DRAFT_TABLE_FACTS_H

#include "common/base/error.h"
#include "common/formats/text/table_look.h"
#include "pipelines/draft/table_survey.h"
#include "stages/tables/edge_list_survey.h"

enum { TABLE_FACTS_NONE = -1, TABLE_NAME_MAX = 60 };

struct table_facts {                     /* too large for a stack; {0} may be released */
    const char *edges_path, *nodes_path; /* borrowed; nodes_path NULL: there is no table of nodes */
    /* the roles of the columns of edges as the user gave them, or "" */
    const char *columns;
    struct edge_list_survey edges; /* how ingest will read the edges */
    struct table_look look;        /* of the table of nodes */
    struct table_survey nodes;     /* names have at most TABLE_NAME_MAX bytes */
    int id, label, split, mask[3]; /* columns of the table of nodes, or TABLE_FACTS_NONE */
};

/* Fills the other fields of `facts`; the caller has set paths and columns. Fails: ERROR_INPUT
 * naming file, line and the expected value; ERROR_NOT_FOUND; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code table_facts_find(struct table_facts *facts, struct error *err);
void table_facts_release(struct table_facts *facts);

#endif
