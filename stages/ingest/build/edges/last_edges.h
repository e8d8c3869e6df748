/*
 * last_edges - the last edges of each source, and the two pairs of nodes that leave_one_out holds
 * out from them.
 *
 * A pair is held out with all its edges, so no pair of the test is in training, too. The pair of
 * the test is the last one whose edges are all among the last two of the source; the pair of
 * validation is the last other one whose edges are all among the last three. So a source that only
 * repeats earlier edges at its end holds out nothing: an older pair in their place would be tested
 * with newer edges of the same source in training.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_LAST_EDGES_H
#define STAGES_INGEST_BUILD_EDGES_LAST_EDGES_H

#include "common/base/error.h"
#include "common/graph/relation_reverse.h"
#include "stages/ingest/build/edges/edge_spool.h"

#include <stdbool.h>
#include <stdint.h>

enum { LAST_COUNT = 3 };

struct last_edge {
    int64_t time; /* 0 without times */
    uint64_t draw;
    uint32_t target;
};

/* The last edges of a source, the last first. */
struct last_edges {
    struct last_edge edge[LAST_COUNT];
    uint16_t count;        /* number of edges, at most LAST_COUNT */
    uint8_t repeats;       /* one bit an edge: its pair has an earlier edge that is not in `edge` */
    bool has_others;       /* the source has more edges than these; known if edges have times */
    uint32_t held_plus[2]; /* 1 + the target of the pair for the test and for validation; 0: none */
};

/* Returns the number that orders edges of one time, and that a split by chance draws, for the pair
 * (a, b) in this order. */
uint64_t last_edges_draw(uint64_t seed, uint32_t a, uint32_t b);
/* The search for last edges. Edges of relations that `reverses` calls reverses do not count. */
struct last_search {
    struct last_edges *last; /* [node_count], zeroed by the caller */
    uint32_t node_count;
    uint64_t seed;
    const struct relation_reverses *reverses; /* borrowed */
    /* number of sources with enough edges that hold out nothing */
    uint64_t passed_over;
};

/* Finds the last edges and the pairs. An edge and its repetitions count once. Fails: ERROR_IO. */
MUST_CHECK enum error_code last_edges_find(struct last_search *search, struct edge_spool *spool,
                                           struct error *err);
/* Returns 0 if `target` is in the source's pair for the test, 1 if it is in the pair for
 * validation, else -1. */
int last_edges_place(const struct last_edges *last, uint32_t target);

#endif
