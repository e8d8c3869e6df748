/*
 * reverse_detector - whether a list of edges names pairs of nodes in both directions.
 *
 * A list that names no pair both ways is most likely an undirected graph with each edge written
 * once. Pairs are remembered in a table of fixed size; when it is full, only pairs whose hash ends
 * in one more zero bit are kept. So small graphs are looked at whole, and of large ones some
 * hundred thousand pairs drawn at random, which show one reversed edge in ten thousand almost
 * surely. Self loops do not count.
 *
 * Where edges have types, the edges of each type are pairs of their own; reverse_detector_shares()
 * then says how many edges of a type have an edge back, and of which type most of those are.
 */
#ifndef STAGES_INGEST_BUILD_REVERSE_DETECTOR_H
#define STAGES_INGEST_BUILD_REVERSE_DETECTOR_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { REVERSE_DETECTOR_SLOTS = 1 << 19 };

struct pair_seen;

struct reverse_detector {   /* {0} is closed, and ignores edges */
    struct pair_seen *slot; /* [REVERSE_DETECTOR_SLOTS] */
    uint64_t count;         /* pairs in the table, once for each type */
    uint64_t mask;          /* pairs whose hash has none of these bits are looked at */
    uint64_t both_ways;     /* of them, pairs seen in both directions in one type */
};

MUST_CHECK enum error_code reverse_detector_open(struct reverse_detector *detector,
                                                 struct error *err);
void reverse_detector_close(struct reverse_detector *detector);
void reverse_detector_add(struct reverse_detector *detector, uint32_t source, uint32_t target,
                          uint16_t type);
/* Whether there were edges, and none of a pair that was seen in the other direction too. */
bool reverse_detector_is_one_way(const struct reverse_detector *detector);

/* Counts of the edges of one type that the detector saw. Edges that repeat each other count
 * once. */
struct reverse_share {
    uint64_t edges;
    uint64_t back;      /* the edges that have one back, of the type below */
    uint16_t back_type; /* the type that has most of the edges back */
};
/* share [type_count]. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code reverse_detector_shares(const struct reverse_detector *detector,
                                                   uint32_t type_count, struct reverse_share *share,
                                                   struct error *err);

#endif
