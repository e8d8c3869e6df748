/*
 * edge_role_text - messages about the columns of a table of edges: their roles, and the line to add
 * to the pipeline file.
 */
#ifndef STAGES_TABLES_EDGE_ROLE_TEXT_H
#define STAGES_TABLES_EDGE_ROLE_TEXT_H

#include "stages/tables/edge_roles.h"
#include "stages/tables/edge_words.h"

/* The state of one edge_roles_find(). */
struct role_search {
    const struct edge_roles_request *request;
    struct edge_roles *out;
    size_t count;       /* number of columns */
    int source, target; /* columns, or EDGE_FIELD_NONE */
    int kinds;          /* number of ends whose names are kinds of things */
    bool is_assumed;    /* a role was assumed that no name and no setting gives */
    struct {
        enum edge_role role;
        enum edge_column column;
        bool is_direction; /* a column of the words Directed and Undirected */
    } use[TABLE_COLUMNS_MAX];
};

/* Refuses the table: "t.csv:1: <why> source and target: add a line `edge_columns: "..."` below
 * `ingest:`". Returns ERROR_INPUT. */
MUST_CHECK enum error_code edge_role_refuse(const struct role_search *search, const char *why,
                                            struct error *err);
/* Fills out->said and out->warning. */
void edge_role_say(const struct role_search *search);
/* Writes the line that names these two columns, with `has_sides` as nodes of two types. Returns
 * `text` [ROLE_TEXT_SIZE]. */
const char *edge_role_line(const struct table_look *look, int source, int target, bool has_sides,
                           char *text);

/* Writes the value of ingest.edge_columns that says what `roles` found, with `has_sides` for ends
 * of two types. Returns `text` [ROLE_TEXT_SIZE]. */
const char *edge_role_setting(const struct table_look *look, const struct edge_roles *roles,
                              bool has_sides, char *text);

#endif
