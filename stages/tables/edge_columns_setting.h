/*
 * edge_columns_setting - reads ingest.edge_columns, which says what the columns of a table of edges
 * are.
 *
 *   source: from; target: to; weight: amount         columns by their names in the header
 *   source: 1; target: 3; etype: 2                   columns by their numbers, from 1
 *   source: user:userId; target: movie:movieId       the two ends are nodes of two types
 *   source: ':START_ID'; target: ':END_ID'           a name with a colon or a semicolon is in
 *                                                    single quotes
 */
#ifndef STAGES_TABLES_EDGE_COLUMNS_SETTING_H
#define STAGES_TABLES_EDGE_COLUMNS_SETTING_H

#include "common/base/error.h"
#include "common/formats/text/table_look.h"
#include "stages/tables/edge_words.h"

#include <stdbool.h>

struct column_entry { /* borrows from the setting's text */
    struct edge_word role;
    struct field type; /* the type of the nodes; size 0: none is given */
    struct field name; /* of the column, or its number */
};

/* Takes the next entry off *text; *found is false at the end. Fails: ERROR_INVALID for no entry. */
MUST_CHECK enum error_code edge_columns_setting_next(const char **text, struct column_entry *out,
                                                     bool *found, struct error *err);

/* Returns whether an entry names a column by something other than a number: the table then has a
 * header. */
bool edge_columns_setting_has_names(const char *text);

/* Returns whether the setting is not empty and the header of a table has all columns that it
 * names. */
bool edge_columns_setting_fits(const char *text, const struct table_look *look);

#endif
