/*
 * pair_ends - which nodes may stand at the ends of an edge: in a graph with relations those of the types that its relation
 * connects, else all.
 *
 * Nodes of a type are drawn and gone through by their number in the type (type_ranges.h). A graph without relations is one type,
 * whose numbers are the partition ids.
 */
#ifndef STAGES_SAMPLING_PAIR_ENDS_H
#define STAGES_SAMPLING_PAIR_ENDS_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "common/nn/links/decoder.h"
#include "store/records/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

struct pair_ends { /* {0} is releasable; large for a stack where addresses are few */
    const struct partition_book *book; /* borrowed, as are the arrays of the next */
    struct type_ranges ranges;
    struct relation_reverses reverses;
    uint32_t *type_book; /* [types, parts + 1] of each type that of type_ranges.h */
};

/* Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code pair_ends_init(struct pair_ends *ends, const struct partition_book *book,
                                          struct error *err);
void pair_ends_release(struct pair_ends *ends);

static inline bool pair_ends_have_types(const struct pair_ends *ends)
{
    return ends->book->relation != NULL;
}

/* The numbers that the parts have of a type: type_book of type_ranges.h. */
static inline const uint32_t *pair_ends_book(const struct pair_ends *ends, uint32_t type)
{
    return ends->type_book + (size_t)type * ((size_t)ends->ranges.part_count + 1);
}

/* Nodes of a type. */
static inline uint32_t pair_ends_count(const struct pair_ends *ends, uint32_t type)
{
    return pair_ends_book(ends, type)[ends->ranges.part_count];
}

/* The type of the nodes at an end of the edges of a relation; `relation` is the type of an edge where they have some. */
uint32_t pair_ends_type(const struct pair_ends *ends, uint16_t relation, enum pair_end end);
/* The type of a node below node_count. */
uint32_t pair_ends_type_of(const struct pair_ends *ends, uint32_t node);
/* Node `number` of its type, below pair_ends_count(). */
uint32_t pair_ends_node(const struct pair_ends *ends, uint32_t type, uint32_t number);

#endif
