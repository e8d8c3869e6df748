/*
 * known_pairs - which pairs of nodes are edges: those of the topology, and those that are held out.
 *
 * For negatives that are to be none, and for ranks that are to leave them out. Where edges have types, an edge of another type is
 * no edge; in a graph with relations the type is the relation. Where it goes by times, nor is one that is later than what it is asked
 * for. Edges of the topology are looked up in its rows, which ascend; the held-out ones in a sorted list for each type, 8 bytes each,
 * and 8 with times.
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
    bool undirected, is_timed;
    uint32_t type_count; /* 0: edges have no types */
    uint64_t *held;      /* [held_count], of each type ascending */
    int64_t *held_time; /* [held_count] of equal pairs the first has the earliest; NULL: no times */
    uint64_t *held_end; /* [type_count, at least 1] */
    uint64_t held_count;
};

struct known_pairs_config {
    const struct topology *topology;  /* borrowed; its parts are open */
    const struct edge_splits *splits; /* NULL: nothing is held out */
    uint32_t type_count;              /* types that edges have, 0 for none */
    bool is_timed;                    /* it goes by times, which all edges have */
    uint64_t budget_bytes;            /* of the list; 0: any */
};

/* Fails: ERROR_CORRUPT for held-out edges of other types or without times; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code known_pairs_init(struct known_pairs *known,
                                            const struct known_pairs_config *config,
                                            struct error *err);
void known_pairs_release(struct known_pairs *known);
/* Whether there is an edge from `source` to `target`, both below node_count, of type `type`, 0 where edges have none, and, where it
 * goes by times, not later than `time`. */
bool known_pairs_has(const struct known_pairs *known, uint32_t source, uint32_t target,
                     uint16_t type, int64_t time);

/* The edges from `source` in the row that `target` has in a relation, 0 of a graph without, of all types: positions
 * [*first, *end) of the row. None of a target of another type than the relation's. */
void known_pairs_find(const struct topology *topology, uint32_t relation, uint32_t source,
                      uint32_t target, uint64_t *first, uint64_t *end);

#endif
