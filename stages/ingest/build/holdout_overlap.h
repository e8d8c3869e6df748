/*
 * holdout_overlap - how many held-out edges join two nodes that a training edge joins, too.
 *
 * With edge_split random and leave_one_out all edges of a pair of nodes go together, so there are
 * no such edges, except for edges back in a directed graph that holds them out apart. A split by
 * time separates the edges of a pair on purpose (an event may repeat an earlier one, or answer it),
 * and the files of edge_split given may list any edges. Whoever reads a score has to know how many
 * of the answers are already in training. Edges of another relation count only if that is the
 * reverse of the held-out edge's relation.
 */
#ifndef STAGES_INGEST_BUILD_HOLDOUT_OVERLAP_H
#define STAGES_INGEST_BUILD_HOLDOUT_OVERLAP_H

#include "common/base/error.h"
#include "stages/ingest/build/edge_holdout.h"
#include "stages/ingest/build/edges/edge_spool.h"

#include <stdbool.h>
#include <stdint.h>

struct holdout_overlap { /* {0}: not counted */
    bool is_known;
    /* held-out edges whose nodes a training edge joins in the same direction; in the other one */
    uint64_t same, back;
};

/* Counts the overlap once the edges are held out, if there can be any. Reads the edges once.
 * Memory: 9 bytes a held-out edge, and 8 more while it sorts. Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code holdout_overlap_count(const struct edge_holdout *holdout,
                                                 struct edge_spool *spool,
                                                 struct holdout_overlap *out, struct error *err);

#endif
