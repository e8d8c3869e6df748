/*
 * link_questions - reads the pairs of nodes that are to be scored, or the nodes that partners are
 * wanted for, from a file in the ids of the input.
 *
 *   pairs   source,target[,type]     nodes   id[,type]
 *
 * For nodes, `end` says which end of the pairs they are. Columns are separated by commas, tabs or
 * blanks; the file may be gzipped. A first line that begins with source, src, id or node is a
 * header and is skipped. If edges have types, each line has one.
 */
#ifndef PIPELINES_QUESTIONS_LINK_QUESTIONS_H
#define PIPELINES_QUESTIONS_LINK_QUESTIONS_H

#include "pipelines/questions/link_scorer.h"
#include "pipelines/shared/node_lookup.h"

#include <stdbool.h>

struct link_questions {      /* {0} is empty; release with link_questions_release() */
    struct asked_link *link; /* [count], owned */
    size_t count, capacity;
    struct node_lookup ids; /* the ends of the links: two for each link, or one */
    bool are_pairs;
    enum pair_end end; /* for nodes: the end of the pair that they are */
};

/* Reads the questions from a file.
 * Fails: ERROR_INPUT naming file and line of an unknown id, an unknown type, a missing or
 * superfluous column, or, in a graph with relations, a node that is not of the type that its
 * relation connects; as the store does. */
MUST_CHECK enum error_code link_questions_read(struct link_questions *questions, const char *path,
                                               bool are_pairs, enum pair_end end,
                                               const struct run_folder *folder, struct error *err);
/* Adds one node of a command line. Messages name its place by `where`. */
MUST_CHECK enum error_code link_questions_ask(struct link_questions *questions, const char *where,
                                              const char *id, int64_t type, enum pair_end end,
                                              const struct run_folder *folder, struct error *err);
void link_questions_release(struct link_questions *questions);

#endif
