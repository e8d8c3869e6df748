/*
 * graph_units - selects the seeds of a unit of sample when the examples are graphs: all nodes of
 * the unit's graphs, graph by graph.
 *
 * A training unit takes its share of the epoch's shuffled training graphs. A validation unit takes
 * its share of the held-out graphs. Every node of these graphs is a seed, so hops reach no other
 * node, and the batch is one subgraph for all layers. Fan-outs may still leave edges out.
 */
#ifndef STAGES_SAMPLE_GRAPH_UNITS_H
#define STAGES_SAMPLE_GRAPH_UNITS_H

#include "stages/engine/stage.h"
#include "store/records/dataset/graph_index.h"
#include "store/records/dataset/node_splits.h"

#include <stdbool.h>

struct graph_units { /* {0}: the examples are not graphs */
    bool is_wanted;
    struct graph_index index;
};

/* Opens the index of the graphs. Fails: ERROR_CORRUPT when the graphs do not match the book. */
MUST_CHECK enum error_code graph_units_open(struct graph_units *units,
                                            const struct stage_context *context, struct error *err);
void graph_units_close(struct graph_units *units);
/* Writes the nodes of the unit's graphs to node [schedule's seeds_most, or evaluation_seeds_most]
 * and returns how many there are. `splits` lists graphs, not nodes. */
uint32_t graph_units_seeds(const struct graph_units *units, const struct stage_context *context,
                           const struct node_splits *splits, const struct unit *unit,
                           uint32_t *node);

#endif
