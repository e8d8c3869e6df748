/*
 * known_pairs - which pairs of nodes are edges: those of the topology, and those that are held out.
 *
 * For negatives that are to be none, and for ranks that are to leave them out. Where edges have types, an edge of another type is
 * no edge. Edges of the topology are looked up in its rows, which ascend; the held-out ones in a sorted list for each type, 8 bytes
 * each.
 */
#ifndef STAGES_SAMPLING_KNOWN_PAIRS_H
#define STAGES_SAMPLING_KNOWN_PAIRS_H

#include "common/base/error.h"
#include "store/records/edge_splits.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct known_pairs {                 /* {0} is releasable */
    const struct topology *topology; /* borrowed */
    bool undirected;
    uint32_t type_count; /* 0: edges have no types */
    uint64_t *held;      /* [held_count], of each type ascending */
    uint64_t *held_end;  /* [type_count, at least 1] */
    uint64_t held_count;
};

/* `splits` NULL: nothing is held out. `type_count`: types that edges have, 0 for none. Fails: ERROR_CORRUPT for held-out edges
 * of other types; ERROR_NO_MEMORY, also when the list takes more than `budget_bytes` (0: any). */
MUST_CHECK enum error_code known_pairs_init(struct known_pairs *known,
                                            const struct topology *topology,
                                            const struct edge_splits *splits, uint32_t type_count,
                                            uint64_t budget_bytes, struct error *err);
void known_pairs_release(struct known_pairs *known);
/* Whether there is an edge from `source` to `target`, both below node_count, of type `type`, 0 where edges have none. */
bool known_pairs_has(const struct known_pairs *known, uint32_t source, uint32_t target,
                     uint16_t type);

/* The edges from `source` in the row of `target`, of all types: positions [*first, *end) of the row. */
void known_pairs_find(const struct topology *topology, uint32_t source, uint32_t target,
                      uint64_t *first, uint64_t *end);

#endif
