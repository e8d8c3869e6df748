/*
 * relation_reverse - finds which relation is the declared reverse of which.
 *
 * A relation `rev_<name>` from b to a is the reverse of `<name>` from a to b: ingest.add_reverse
 * and PyG's ToUndirected use such names. Link prediction must know it, because the reverse of an
 * edge reveals the edge. All other relations are forward.
 *
 * Two forward relations may still be each other's reverse by their edges, under unrelated names
 * ("buys" and "bought_by"). Ingest finds such pairs (stages/ingest/build/edges/edges_back.h); both stay
 * forward, and each is the reverse of the other.
 */
#ifndef COMMON_GRAPH_RELATION_REVERSE_H
#define COMMON_GRAPH_RELATION_REVERSE_H

#include "common/graph/relation_block.h"

#include <stdbool.h>
#include <stdint.h>

#define RELATION_REVERSE_PREFIX "rev_"

struct relation_reverses {
    uint32_t count;
    /* the relation that it is the reverse of; for a forward one itself */
    uint16_t forward[RELATION_COUNT_MAX];
    uint16_t reverse[RELATION_COUNT_MAX]; /* its reverse; RELATION_COUNT_MAX: none is known */
};

struct relation_ends {
    const char *name;
    uint16_t source_type, target_type;
};
typedef struct relation_ends (*relation_reader)(const void *context, uint32_t relation);

/* Finds the reverses among `count` relations, at most RELATION_COUNT_MAX, which `read` returns. */
void relation_reverses_find(relation_reader read, const void *context, uint32_t count,
                            struct relation_reverses *out);
/* Adds the reverse of `relation` that ingest found by its edges, as its number plus 1, or 0 for
 * none. A declared reverse stays. */
void relation_reverses_add(struct relation_reverses *reverses, uint32_t relation,
                           uint32_t back_plus);
/* Does the same for an array of relations. */
void relation_reverses_of(const struct relation *relation, uint32_t count,
                          struct relation_reverses *out);

static inline bool relation_is_forward(const struct relation_reverses *reverses, uint32_t relation)
{
    return reverses->forward[relation] == relation;
}

/* Finds for each relation the relation whose in-degrees are the degrees of its sources. For a
 * relation between two types that is its declared reverse, RELATION_COUNT_MAX if there is none. For
 * a relation from a type to itself it is the relation itself, since GCN uses in-degrees at both
 * ends of an edge there. out [count]. */
void relation_source_degrees(const struct relation *relation, uint32_t count, uint16_t *out);

/* Returns one more than the number of the last forward relation. */
uint32_t relation_forward_end(const struct relation_reverses *reverses);

#endif
