/*
 * graph_units - the seeds of a unit of sample where the examples are graphs: all nodes of its graphs, graph by graph.
 *
 * A training unit takes its share of the epoch's shuffled training graphs, a validation unit its share of those held out. As
 * every node of them is a seed, hops find no other one, and the batch is a subgraph for all layers; fan-outs may leave edges out.
 */
#ifndef STAGES_SAMPLE_GRAPH_UNITS_H
#define STAGES_SAMPLE_GRAPH_UNITS_H

#include "stages/engine/stage.h"
#include "store/records/graph_index.h"
#include "store/records/node_splits.h"

#include <stdbool.h>

struct graph_units { /* {0}: the examples are others */
    bool is_wanted;
    struct graph_index index;
};

/* Fails: ERROR_CORRUPT when the graphs are not those of the book. */
MUST_CHECK enum error_code graph_units_open(struct graph_units *units,
                                            const struct stage_context *context, struct error *err);
void graph_units_close(struct graph_units *units);
/* The nodes of the unit's graphs into node [schedule's seeds_most, or evaluation_seeds_most]; how many they are. Splits are of
 * graphs. */
uint32_t graph_units_seeds(const struct graph_units *units, const struct stage_context *context,
                           const struct node_splits *splits, const struct unit *unit,
                           uint32_t *node);

#endif
