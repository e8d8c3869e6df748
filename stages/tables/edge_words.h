/*
 * edge_words - the names that people give to the columns of a table of edges.
 *
 * A name is compared without regard to case, to a colon in front of it, and to `_id` or `Id` behind
 * it: `:START_ID`, `start` and `startId` are one word.
 */
#ifndef STAGES_TABLES_EDGE_WORDS_H
#define STAGES_TABLES_EDGE_WORDS_H

#include "common/formats/text/delimited.h"
#include "common/graph/edge_column.h"

#include <stdbool.h>

enum edge_role {
    EDGE_ROLE_NONE, /* the name is not known */
    EDGE_ROLE_SOURCE,
    EDGE_ROLE_TARGET,
    EDGE_ROLE_COLUMN, /* one of the columns of an edge */
};

struct edge_word {
    enum edge_role role;
    enum edge_column column; /* with EDGE_ROLE_COLUMN */
    /* the name is a kind of thing (user, movie), and the other end is of another kind */
    bool is_kind;
};

/* Returns what the name means by itself. */
struct edge_word edge_word_of(const struct field *name);
/* Returns the word of ingest.edge_columns for a column, NULL if there is none. */
const char *edge_word_for(enum edge_column column);
/* Returns `Person` of `:START_ID(Person)`; size 0: the name has no group. */
struct field edge_word_group(const struct field *name);
/* Returns whether the name means anything; a table_name_test. */
bool edge_word_is_known(const struct field *name);
/* Returns the column that ingest.edge_label means by a name: a column of some of the words here
 * (`weight`: the weights are also the labels), or else EDGE_LABEL. */
enum edge_column edge_word_label(const struct field *name);
/* Returns whether a column called `name` holds the labels that ingest.edge_label names (NULL:
 * none). */
bool edge_word_is_label(const struct field *name, const char *label);
/* Returns whether two names differ in their last character alone, which numbers the two ends: txId1
 * and txId2, node_a and node_b. */
bool edge_words_are_pair(const struct field *first, const struct field *second);

#endif
