/*
 * edge_roles - finds what each column of a table of edges is: source, target, weight, time,
 * relation, feature.
 *
 * A column has a role because ingest.edge_columns gives it, because its name in the header is known
 * (edge_words.h), or because nothing else is possible. Otherwise the table is refused with the line
 * to add:
 *
 *   setting     edge_columns names all columns that are used
 *   header      known names; if the names of the ends are not known, the only two columns that can
 *               be ids, with a warning; other columns of numbers are edge features
 *   no header   the first two columns are the ends; a column of fractions is the weight, further
 *               ones are features; integers that cannot be ids are left out with a warning; a third
 *               column that may be an id or a relation is refused
 */
#ifndef STAGES_TABLES_EDGE_ROLES_H
#define STAGES_TABLES_EDGE_ROLES_H

#include "common/base/error.h"
#include "common/formats/text/table_look.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/tables/edge_fields.h"
#include "stages/tables/stated_direction.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>

enum { ROLE_TEXT_SIZE = 1024 };

struct edge_roles_request { /* borrowed */
    const struct table_look *look;
    const char *where;   /* the file, for messages */
    const char *columns; /* ingest.edge_columns, or "" */
    const char *label;   /* the name of the column of edge labels, or NULL */
    enum edge_feature_choice features;
};

struct edge_roles {
    struct edge_fields fields; /* EDGE_TYPE has a width of 1 and no field: its cells are words */
    int type_field;            /* the field of the relation, or EDGE_FIELD_NONE */
    /* the node types of sources and targets that a setting gives, or "" */
    char side[2][TYPE_NAME_SIZE];
    /* the header says that the ends are of two kinds, and no setting says which */
    bool names_two_kinds;
    enum stated_direction stated; /* a column of Gephi's words Directed and Undirected */
    char said[ROLE_TEXT_SIZE];    /* what each column is, for people */
    char warning[ROLE_TEXT_SIZE]; /* "", or what was assumed and the line to add if that is wrong */
};

/* Finds the roles. Fails: ERROR_INPUT for a table whose columns may mean several things, with the
 * line to add; ERROR_INVALID for a setting that is malformed or names no column. */
MUST_CHECK enum error_code edge_roles_find(const struct edge_roles_request *request,
                                           struct edge_roles *out, struct error *err);

#endif
