/*
 * known_pairs - finds which pairs of nodes are edges, of the topology or held out.
 *
 * Negatives must be no edges, and ranks leave edges out. If edges have types, an edge of another
 * type does not count; in a graph with relations the type is the relation. With times, an edge
 * later than the time in question does not count. Edges of the topology are looked up in its rows,
 * which ascend. Held-out edges are looked up in a sorted list for each type, which takes 8 bytes
 * an edge, or 16 with times.
 */
#ifndef STAGES_SAMPLING_PAIRS_KNOWN_PAIRS_H
#define STAGES_SAMPLING_PAIRS_KNOWN_PAIRS_H

#include "common/base/error.h"
#include "store/records/dataset/edge_splits.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct known_pairs {                 /* {0} is releasable */
    const struct topology *topology; /* borrowed */
    bool undirected, is_timed;
    uint32_t type_count; /* 0: edges have no types */
    uint64_t *held;      /* [held_count], ascending within a type */
    int64_t *held_time;  /* [held_count], earliest of equal pairs first; NULL: no times */
    uint64_t *held_end;  /* [type_count, at least 1] */
    uint64_t held_count;
};

struct known_pairs_config {
    const struct topology *topology;  /* borrowed; its parts are open */
    const struct edge_splits *splits; /* NULL: nothing is held out */
    uint32_t type_count;              /* number of types of edges; 0: none */
    bool is_timed;                    /* compare times, which all edges have */
    uint64_t budget_bytes;            /* limit of the list; 0: none */
};

/* Lists the held-out edges. Fails: ERROR_CORRUPT for held-out edges of unknown types or without
 * times; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code known_pairs_init(struct known_pairs *known,
                                            const struct known_pairs_config *config,
                                            struct error *err);
void known_pairs_release(struct known_pairs *known);
/* Returns whether there is an edge from `source` to `target`, both below node_count, of type `type`
 * (0 when edges have no types) and, with times, not later than `time`. */
bool known_pairs_has(const struct known_pairs *known, uint32_t source, uint32_t target,
                     uint16_t type, int64_t time);

/* Finds the edges of all types from `source` in the row of `target` in a relation (0 for a graph
 * without relations): positions [*first, *end) of the row. The range is empty if the type of
 * `target` is not the relation's target type. */
void known_pairs_find(const struct topology *topology, uint32_t relation, uint32_t source,
                      uint32_t target, uint64_t *first, uint64_t *end);

#endif
