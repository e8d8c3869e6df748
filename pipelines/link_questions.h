/*
 * link_questions - the pairs, or the nodes, that scores are asked for: lines of a file, in the ids of the input.
 *
 *   pairs   source,target[,type]     nodes   id[,type]
 *
 * `end` of nodes says which end of the pairs they are. Commas, tabs or blanks, plain or gzip; a first line whose first word heads such columns (source, src, id, node) is passed over. Where
 * edges have types each line has one.
 */
#ifndef PIPELINES_LINK_QUESTIONS_H
#define PIPELINES_LINK_QUESTIONS_H

#include "pipelines/link_scorer.h"
#include "pipelines/node_lookup.h"

#include <stdbool.h>

struct link_questions {      /* {0} is empty; release with link_questions_release() */
    struct asked_link *link; /* [count], owned */
    size_t count, capacity;
    struct node_lookup ids; /* of the ends: two a link, or one */
    bool are_pairs;
    enum pair_end end; /* of nodes: which end they are */
};

/* Fails: ERROR_INPUT naming file and line of an id that no node has, of a type that there is not, and of what is missing or too
 * much, and in a graph with relations of an end that is not of the type that its relation connects; as the store does. */
MUST_CHECK enum error_code link_questions_read(struct link_questions *questions, const char *path,
                                               bool are_pairs, enum pair_end end,
                                               const struct run_folder *folder, struct error *err);
/* One node of a command line; `where` names it in messages. */
MUST_CHECK enum error_code link_questions_ask(struct link_questions *questions, const char *where,
                                              const char *id, int64_t type, enum pair_end end,
                                              const struct run_folder *folder, struct error *err);
void link_questions_release(struct link_questions *questions);

#endif
