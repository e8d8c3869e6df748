/*
 * metapath - the relations that a walk goes along, in turns.
 *
 * It is written as messages travel: [writes, rev_writes] leads from an author to papers and to
 * their authors. Each relation begins in a type in which the one before ends, and the last ends in
 * the type of the nodes that train. A walk (random_walk.h) begins at such a node and goes along the
 * path backwards; at the path's end it takes the last relation again. A name stands for all
 * relations of that name, whatever types they connect.
 */
#ifndef STAGES_SAMPLING_ROWS_METAPATH_H
#define STAGES_SAMPLING_ROWS_METAPATH_H

#include "common/base/error.h"
#include "store/records/partition/partition_book.h"

#include <stdint.h>

struct sampler_options;

enum { METAPATH_STEPS_MAX = 16 };

struct metapath {                       /* {0} is empty: a step may go along any relation */
    uint32_t count;                     /* of names */
    uint16_t step[METAPATH_STEPS_MAX];  /* [count] from the seed on: the first relation so named */
    uint16_t first[RELATION_COUNT_MAX]; /* of each relation, the first of its name */
};

/* Whether step `step` of a walk may go along the relation. */
static inline bool metapath_has(const struct metapath *path, uint32_t step, uint32_t relation)
{
    return path->count == 0 || path->step[step % path->count] == path->first[relation];
}

/* Reads the path that the options have, of a graph with the book's types and relations. Fails:
 * ERROR_INVALID for one that does not join, naming the relations and those that would. */
MUST_CHECK enum error_code metapath_read(const struct sampler_options *options,
                                         const struct partition_book *book, struct metapath *out,
                                         struct error *err);

#endif
