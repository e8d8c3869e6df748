/*
 * node_stream - streams the nodes with their neighbours, and gives each node the part where it is
 * worth most.
 *
 *   part of v = argmax over the parts p that may take v of worth(neighbours of v in p, load of p)
 *
 * Streaming (Stanton and Kliot, "Streaming graph partitioning for large distributed graphs", KDD
 * 2012) needs a word for each node, and reads the edges once, in any order. Restreaming (Nishimura
 * and Ugander, "Restreaming graph partitioning", KDD 2013) repeats it: the parts are empty at the
 * start of each pass, and a neighbour that was not yet streamed counts where it was in the pass
 * before. A few passes come near to the result of METIS. A pass in place keeps the nodes in their
 * parts, and a node may move only if both parts stay within their bounds: it refines parts that are
 * good already.
 *
 * Bounds are those of part_loads.h, and are strict after each pass. Among the parts that may take a
 * node, those that would not have too many edges come first; then the greater worth; the part that
 * the node is in; the smaller load; the lower number. So the result depends on dataset and settings
 * alone. Nodes come in the order of partition.order inside each block of neighbor_walk.h.
 */
#ifndef STAGES_PARTITION_RULES_NODE_STREAM_H
#define STAGES_PARTITION_RULES_NODE_STREAM_H

#include "common/base/error.h"
#include "stages/partition/rules/part_loads.h"
#include "stages/partition/rules/partitioner.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_rule {
    const char *name; /* for the log */
    /* Returns the worth of a part that has `neighbors` neighbours of the node and `load` times the
     * mean number of nodes of its class. It falls, or stays, as the load grows. With measured loads
     * (measured_loads.h) a neighbour counts the cost of the edges to it, 1.5 on average.
     * `edges_per_node`: undirected edges of the graph by its nodes. */
    double (*worth)(double neighbors, double load, double edges_per_node);
    bool in_place; /* every pass is in place and begins with the given parts */
    /* Nodes that have a part keep it; they count as loads, whatever the bounds. */
    bool only_new;
};

/* Streams the nodes at most `passes` times, and ends when fewer than one node in a thousand changed
 * its part. Fills part [node_count] and the loads of these parts. Before the first pass `part` has
 * the parts of the nodes, UINT32_MAX for none; in place, `loads` must match it. Fails: what
 * neighbor_walk.h fails with; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_stream_run(const struct partition_request *request,
                                           const struct stream_rule *rule, int64_t passes,
                                           struct part_loads *loads, uint32_t *part,
                                           struct error *err);
/* Does the same as a method: with loads of its own and partition.passes, from empty parts, or in
 * place from nodes at random. */
MUST_CHECK enum error_code node_stream_assign(const struct partition_request *request,
                                              const struct stream_rule *rule, uint32_t *part,
                                              struct error *err);

#endif
