/*
 * pair_ends - finds which nodes may stand at the ends of an edge: in a graph with relations the
 * nodes of the types that its relation connects, otherwise all nodes.
 *
 * Nodes of a type are drawn and listed by their number in the type (type_ranges.h). A graph
 * without relations is one type, whose numbers are the partition ids.
 */
#ifndef STAGES_SAMPLING_PAIRS_PAIR_ENDS_H
#define STAGES_SAMPLING_PAIRS_PAIR_ENDS_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "common/nn/links/decoder.h"
#include "store/records/partition/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

struct pair_ends {                     /* {0} is releasable; too large for a small stack */
    const struct partition_book *book; /* borrowed, as are the arrays of `ranges` */
    struct type_ranges ranges;
    struct relation_reverses reverses;
    uint32_t *type_book; /* [types, parts + 1]: type_ranges_book() of each type */
};

/* Prepares the ranges of node types; borrows `book`. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_ends_init(struct pair_ends *ends, const struct partition_book *book,
                                          struct error *err);
void pair_ends_release(struct pair_ends *ends);

static inline bool pair_ends_have_types(const struct pair_ends *ends)
{
    return ends->book->relation != NULL;
}

/* Returns type_ranges_book() of a type: the first number of the type in each part, and the
 * total. */
static inline const uint32_t *pair_ends_book(const struct pair_ends *ends, uint32_t type)
{
    return ends->type_book + (size_t)type * ((size_t)ends->ranges.part_count + 1);
}

/* Returns the number of nodes of a type. */
static inline uint32_t pair_ends_count(const struct pair_ends *ends, uint32_t type)
{
    return pair_ends_book(ends, type)[ends->ranges.part_count];
}

/* Returns the type of the nodes at an end of the edges of a relation, whose number is the edges'
 * type. */
uint32_t pair_ends_type(const struct pair_ends *ends, uint16_t relation, enum pair_end end);
/* Returns the type of a node below node_count. */
uint32_t pair_ends_type_of(const struct pair_ends *ends, uint32_t node);
/* Returns node `number` of a type; number < pair_ends_count(). */
uint32_t pair_ends_node(const struct pair_ends *ends, uint32_t type, uint32_t number);

#endif
