/*
 * reverse_detector - whether a list of edges names pairs of nodes in both directions.
 *
 * A list that names no pair both ways is most likely an undirected graph with each edge written
 * once. Pairs are remembered in a table of fixed size. When the table is full, only pairs whose
 * hash ends in one more zero bit are kept. So a small graph is examined whole, and a large one by
 * some hundred thousand pairs drawn at random, which almost surely show a reversed edge if one in
 * ten thousand is reversed. Self loops do not count.
 *
 * If edges have types, the edges of each type form pairs of their own. reverse_detector_shares()
 * then returns how many edges of a type have an edge back, and which type most of those edges have.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_REVERSE_DETECTOR_H
#define STAGES_INGEST_BUILD_EDGES_REVERSE_DETECTOR_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { REVERSE_DETECTOR_SLOTS = 1 << 19 };

struct pair_seen;

struct reverse_detector {   /* {0} is closed, and ignores edges */
    struct pair_seen *slot; /* [REVERSE_DETECTOR_SLOTS] */
    uint64_t count;         /* pairs in the table, once for each type */
    uint64_t mask;          /* a pair counts if its hash has none of these bits */
    uint64_t both_ways;     /* pairs in the table that were seen in both directions in one type */
};

MUST_CHECK enum error_code reverse_detector_open(struct reverse_detector *detector,
                                                 struct error *err);
void reverse_detector_close(struct reverse_detector *detector);
void reverse_detector_add(struct reverse_detector *detector, uint32_t source, uint32_t target,
                          uint16_t type);
/* Returns whether there were edges and no pair was seen in both directions. */
bool reverse_detector_is_one_way(const struct reverse_detector *detector);

/* Counts of the edges of one type that the detector saw. Edges that repeat each other count
 * once. */
struct reverse_share {
    uint64_t edges;
    uint64_t back;      /* the edges that have an edge back of the type below */
    uint16_t back_type; /* the type of most of the edges back */
};
/* Fills share [type_count]. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code reverse_detector_shares(const struct reverse_detector *detector,
                                                   uint32_t type_count, struct reverse_share *share,
                                                   struct error *err);

#endif
