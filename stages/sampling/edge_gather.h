/*
 * edge_gather - the columns of the edges of a mini-batch, brought together by their places in the topology.
 *
 * The sampler notes where each edge it takes stands; when the batch is drawn, each column that is wanted is read in
 * the order of the edges. That is one more cache miss an edge and column, so the values are asked for
 * EDGE_GATHER_DISTANCE edges ahead of use. A batch without columns notes nothing.
 *
 * A batch that is stored has no rows of edge features but the positions of its edges in their rows, by which those who
 * train fetch them (store/topology/edge_rows.h): a position is a few bits, a row as wide as it is.
 */
#ifndef STAGES_SAMPLING_EDGE_GATHER_H
#define STAGES_SAMPLING_EDGE_GATHER_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "stages/sampling/growing_array.h"
#include "store/records/mini_batch.h"
#include "store/topology/topology.h"

#include <stdint.h>

enum { EDGE_GATHER_DISTANCE = 32, EDGE_PLACE_BITS = 40 };

struct edge_gather {                                /* {0} is empty */
    struct growing_array place;                     /* [edges] of 64 bits, see edge_place() */
    struct growing_array column[EDGE_COLUMN_COUNT]; /* [edges, width] */
    struct growing_array position;                  /* [edges] */
};

/* Edge `edge` of part `part`: a part has at most 2^39 edges, and there are fewer than 2^24 parts. */
static inline uint64_t edge_place(int part, uint64_t edge)
{
    return (uint64_t)part << EDGE_PLACE_BITS | edge;
}

static inline uint64_t *edge_gather_places(const struct edge_gather *gather)
{
    return (uint64_t *)(void *)gather->place.data;
}

/* Room for the places of `wanted` edges, keeping the first `used`. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_gather_reserve(struct edge_gather *gather,
                                               struct array_budget *budget, uint64_t wanted,
                                               uint64_t used, struct error *err);
/* The columns `wanted` (a bit for each enum edge_column) of the first `count` places, those that the topology has. The
 * arrays of *out stay the gather's until the next call. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_gather_fill(struct edge_gather *gather, struct array_budget *budget,
                                            const struct topology *topology, unsigned wanted,
                                            uint64_t count, struct edge_columns_view *out,
                                            struct error *err);
/* Sets batch->edge_position of a batch whose places were noted, in an array of the gather's until the next call.
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_gather_positions(struct edge_gather *gather,
                                                 struct array_budget *budget,
                                                 const struct topology *topology,
                                                 struct mini_batch *batch, struct error *err);
void edge_gather_release(struct edge_gather *gather, struct array_budget *budget);

#endif
