/*
 * graph_row - the edges of one node in the topology, checked, for whoever looks at few of them at a time.
 *
 * A row has the sources of the edges that end in its node, ascending. neighbor_sampler.c, which has millions of rows to look at,
 * reads them in blocks of its own.
 */
#ifndef STAGES_SAMPLING_ROWS_GRAPH_ROW_H
#define STAGES_SAMPLING_ROWS_GRAPH_ROW_H

#include "common/base/error.h"
#include "stages/sampling/rows/edge_gather.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

struct graph_row {
    const struct topology_part *part;
    int part_number; /* among those of all parts and relations */
    uint32_t index;  /* in the part */
    uint32_t length; /* edges */
    uint64_t start;  /* of them, in the part */
};

/* Finds the row of a node in a relation, which ends in the node's type. Fails: ERROR_CORRUPT for a
 * node that is not there, and for a row that is out of range. */
MUST_CHECK enum error_code graph_row_of_relation(const struct topology *topology, uint32_t relation,
                                                 uint32_t node, struct graph_row *out,
                                                 struct error *err);
/* Whether the relation ends in the type of the node. True for a node that is not in the graph,
 * which graph_row_of_relation() then refuses. */
bool graph_row_is_there(const struct topology *topology, uint32_t relation, uint32_t node);
/* The source of edge k, k < length. Fails: ERROR_CORRUPT when it is no node. */
MUST_CHECK enum error_code graph_row_neighbor(const struct topology *topology,
                                              const struct graph_row *row, uint32_t k,
                                              uint32_t *out, struct error *err);
/* Edges from `node`. */
uint32_t graph_row_count(const struct graph_row *row, uint32_t node);

/* Returns the time from which edge k is seen: its own, or the later one at which its source
 * appears. */
int64_t graph_row_time(const struct topology *topology, const struct graph_row *row, uint32_t k);

static inline uint64_t graph_row_place(const struct graph_row *row, uint32_t k)
{
    return edge_place(row->part_number, row->start + k);
}

#endif
