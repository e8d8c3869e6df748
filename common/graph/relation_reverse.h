/*
 * relation_reverse - which relation is declared to be the reverse of which.
 *
 * A relation `rev_<name>` from b to a is the reverse of `<name>` from a to b: ingest.add_reverse
 * and PyG's ToUndirected call it so, and whoever predicts links must know: the reverse of an edge
 * gives the edge away. All others are forward.
 *
 * Two forward relations may still be each other's reverse by their content, under names that say
 * nothing ("buys" and "bought_by"). Ingest finds them (stages/ingest/build/edges_back.h); both stay
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
    uint16_t forward[RELATION_COUNT_MAX]; /* that it is the reverse of; of a forward one itself */
    uint16_t reverse[RELATION_COUNT_MAX]; /* its reverse; RELATION_COUNT_MAX: none is known */
};

struct relation_ends {
    const char *name;
    uint16_t source_type, target_type;
};
typedef struct relation_ends (*relation_reader)(const void *context, uint32_t relation);

/* Of `count` relations, at most RELATION_COUNT_MAX, as `read` says them. */
void relation_reverses_find(relation_reader read, const void *context, uint32_t count,
                            struct relation_reverses *out);
/* Adds the reverse of `relation` that its content shows, plus 1, or 0. A declared reverse stays. */
void relation_reverses_add(struct relation_reverses *reverses, uint32_t relation,
                           uint32_t back_plus);
/* Those of an array. */
void relation_reverses_of(const struct relation *relation, uint32_t count,
                          struct relation_reverses *out);

static inline bool relation_is_forward(const struct relation_reverses *reverses, uint32_t relation)
{
    return reverses->forward[relation] == relation;
}

/* Finds for each relation the one whose edges to a node are as many as the relation has from it: a
 * relation between two types has its declared reverse, RELATION_COUNT_MAX if there is none. A
 * relation from a type to itself has itself, since GCN counts the edges to a node at both ends of
 * an edge there. out [count]. */
void relation_source_degrees(const struct relation *relation, uint32_t count, uint16_t *out);

/* Numbers that forward relations have: the last one's and one more. */
uint32_t relation_forward_end(const struct relation_reverses *reverses);

#endif
