/*
 * last_edges - the last edges of each source: what leave_one_out holds out.
 */
#ifndef STAGES_INGEST_BUILD_LAST_EDGES_H
#define STAGES_INGEST_BUILD_LAST_EDGES_H

#include "common/base/error.h"
#include "stages/ingest/build/edge_spool.h"

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
    uint32_t count; /* as far as there are so many */
};

/* What orders edges of one time, and splits by chance: of a pair of nodes, in this order. */
uint64_t last_edges_draw(uint64_t seed, uint32_t a, uint32_t b);
/* `last` [nodes] begins as {0}; edges that repeat one count once. Fails: ERROR_IO. */
MUST_CHECK enum error_code last_edges_find(struct edge_spool *spool, uint64_t seed,
                                           struct last_edges *last, struct error *err);
/* 0: the last edge of its source, 1: the one before; -1: another, or one of fewer than LAST_COUNT. */
int last_edges_place(const struct last_edges *last, uint32_t target, int64_t time);

#endif
