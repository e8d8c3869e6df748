/*
 * node_stream - nodes stream by with their neighbours, and each goes to the part where it is worth most.
 *
 *   part of v = argmax over the parts p that may take v of worth(neighbours of v in p, load of p)
 *
 * Streaming (Stanton and Kliot, "Streaming graph partitioning for large distributed graphs", KDD 2012) needs a word a node
 * and the edges once, in any order. Restreaming (Nishimura and Ugander, "Restreaming graph partitioning", KDD 2013) does it
 * again: the parts are empty at the start of each pass, and a neighbour that did not come by yet counts where it was in the
 * pass before. A few passes come near to what METIS finds. A pass in place keeps what the parts hold, and a node may move
 * only where both parts stay within their bounds: for refining parts that are good already.
 *
 * Bounds are those of part_loads.h, and strict after each pass. Among parts that may take a node those that would not have
 * too many edges come first; then the greater worth; the part it is in; the smaller load; the lower number. So the result
 * depends on dataset and settings alone. Nodes come in the order of partition.order inside each block of neighbor_walk.h.
 */
#ifndef STAGES_PARTITION_METHODS_NODE_STREAM_H
#define STAGES_PARTITION_METHODS_NODE_STREAM_H

#include "common/base/error.h"
#include "stages/partition/methods/part_loads.h"
#include "stages/partition/methods/partitioner.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_rule {
    const char *name; /* for the log */
    /* What `neighbors` neighbours in a part are worth whose share of the nodes' class is `load` times the mean; falls, or stays,
     * as the load grows. With measured loads (measured_loads.h) a neighbour counts what edges to it cost, 1.5 on average. `edges_per_node`: undirected edges of the graph by its nodes. */
    double (*worth)(double neighbors, double load, double edges_per_node);
    bool in_place; /* each pass, from parts that are there */
    bool
        only_new; /* nodes that are in a part stay there; loads are those of them, whatever the bounds */
};

/* Streams the nodes at most `passes` times, and ends when fewer than one node in a thousand changed its part. Fills
 * part [node_count]; `loads` are what comes of it. `part` is where nodes are before the first pass, UINT32_MAX for nowhere;
 * in place, loads must be those of it.
 * Fails: what neighbor_walk.h fails with; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_stream_run(const struct partition_request *request,
                                           const struct stream_rule *rule, int64_t passes,
                                           struct part_loads *loads, uint32_t *part,
                                           struct error *err);
/* The same as a method: loads of its own, partition.passes; from empty parts, in place from nodes at random. */
MUST_CHECK enum error_code node_stream_assign(const struct partition_request *request,
                                              const struct stream_rule *rule, uint32_t *part,
                                              struct error *err);

#endif
