/*
 * reverse_detector - whether a list of edges names pairs of nodes in both directions.
 *
 * A list that names no pair both ways is most likely an undirected graph with each edge written once. Pairs
 * are remembered in a table of fixed size; when it is full, only pairs whose hash ends in one more zero bit
 * are kept. So small graphs are looked at whole, and of large ones some hundred thousand pairs drawn at
 * random, which show one reversed edge in ten thousand almost surely. Self loops do not count.
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
    uint64_t count;         /* pairs in the table */
    uint64_t mask;          /* pairs whose hash has none of these bits are looked at */
    uint64_t both_ways;     /* of them, pairs seen in both directions */
};

MUST_CHECK enum error_code reverse_detector_open(struct reverse_detector *detector,
                                                 struct error *err);
void reverse_detector_close(struct reverse_detector *detector);
void reverse_detector_add(struct reverse_detector *detector, uint32_t source, uint32_t target);
/* Whether there were edges, and none of a pair that was seen in the other direction too. */
bool reverse_detector_is_one_way(const struct reverse_detector *detector);

#endif
