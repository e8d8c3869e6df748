/*
 * edge_gather - collects the columns of the edges of a mini-batch by the edges' places in the
 * topology.
 *
 * The sampler notes the place of each edge that it takes. When the batch is drawn, each wanted
 * column is read in the order of the edges. That costs one more cache miss for each edge and
 * column, so a value is prefetched EDGE_GATHER_DISTANCE edges before it is used. For a batch
 * without columns no places are noted.
 *
 * A stored batch holds no edge features. It holds the positions of its edges in their rows, by
 * which training reads the features (store/topology/edge_rows.h): a position takes a few bits, a
 * row of features takes its whole width.
 */
#ifndef STAGES_SAMPLING_ROWS_EDGE_GATHER_H
#define STAGES_SAMPLING_ROWS_EDGE_GATHER_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "stages/sampling/rows/growing_array.h"
#include "store/records/batch/mini_batch.h"
#include "store/topology/topology.h"

#include <stdint.h>

enum { EDGE_GATHER_DISTANCE = 32, EDGE_PLACE_BITS = 40 };

struct edge_gather {                                /* {0} is empty */
    struct growing_array place;                     /* [edges] of 64 bits, see edge_place() */
    struct growing_array column[EDGE_COLUMN_COUNT]; /* [edges, width] */
    struct growing_array position;                  /* [edges] */
};

/* Returns the place of edge `edge` of part `part`. A part has at most 2^39 edges, and there are
 * fewer than 2^24 parts. */
static inline uint64_t edge_place(int part, uint64_t edge)
{
    return (uint64_t)part << EDGE_PLACE_BITS | edge;
}

static inline uint64_t *edge_gather_places(const struct edge_gather *gather)
{
    return (uint64_t *)(void *)gather->place.data;
}

/* Makes room for the places of `wanted` edges, keeping the first `used`. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_gather_reserve(struct edge_gather *gather,
                                               struct array_budget *budget, uint64_t wanted,
                                               uint64_t used, struct error *err);
/* Reads the columns `wanted` (a bit for each enum edge_column) of the first `count` places, and
 * skips those that the topology lacks. The arrays of *out stay the gather's and are valid until the
 * next call. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_gather_fill(struct edge_gather *gather, struct array_budget *budget,
                                            const struct topology *topology, unsigned wanted,
                                            uint64_t count, struct edge_columns_view *out,
                                            struct error *err);
/* Sets batch->edge_position of a batch whose places were noted. The array stays the gather's and is
 * valid until the next call. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_gather_positions(struct edge_gather *gather,
                                                 struct array_budget *budget,
                                                 const struct topology *topology,
                                                 struct mini_batch *batch, struct error *err);
void edge_gather_release(struct edge_gather *gather, struct array_budget *budget);

#endif
