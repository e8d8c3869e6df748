/*
 * graph_ranges - a dataset of many graphs in parts: each graph is whole in one part, and its nodes
 * are consecutive.
 *
 * Parts are ranges of graphs, in the order of the input, with nearly equal numbers of nodes. So no
 * edge is cut, and graphs keep their numbers: graph g has the nodes first[g] .. first[g + 1] of the
 * partition.
 */
#ifndef STAGES_PARTITION_LAYOUT_GRAPH_RANGES_H
#define STAGES_PARTITION_LAYOUT_GRAPH_RANGES_H

#include "common/base/error.h"
#include "stages/partition/layout/renumbering.h"
#include "store/objects/store.h"
#include "store/records/dataset/graph_index.h"

#include <stdint.h>

/* The sizes of graphs that a run needs (partition_book.h). */
struct graph_sizes {
    uint32_t graph_count;
    uint32_t most_nodes; /* of one graph */
    uint64_t most_edges;
};

/* Fills part [node_count]. A graph goes to the part in whose equal range of all nodes its middle
 * node lies. Each part has a graph; there are at most as many parts as graphs. Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_ranges_assign(const struct graph_index *graphs,
                                               uint32_t part_count, uint32_t *part,
                                               struct error *err);
/* Brings the nodes of each graph together, in their present order, and fills first [graph_count +
 * 1], which the caller provides. Parts are those of graph_ranges_assign(). Fails: ERROR_CORRUPT for
 * a graph without nodes; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_ranges_order(struct renumbering *renumbering,
                                              const struct graph_index *graphs, uint32_t *first,
                                              struct error *err);
/* Stores partition/<id>/graphs and the splits, which have the graph numbers of the dataset. */
MUST_CHECK enum error_code graph_ranges_put(struct store *store, const char *partition_id,
                                            const char *dataset_id,
                                            const struct graph_index *graphs, const uint32_t *first,
                                            struct error *err);
/* Measures the graphs. in_degree [node_count] by dataset id. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code graph_ranges_measure(const struct graph_index *graphs,
                                                const uint32_t *in_degree, struct graph_sizes *out,
                                                struct error *err);

#endif
