/*
 * metis_partitioner - parts with few edges between them and even loads (METIS, k-way).
 *
 * Karypis and Kumar, "Multilevel k-way partitioning scheme for irregular graphs", 1998. METIS runs
 * in a process of its own (isolated_call) on a graph that was checked, and its answer is checked,
 * too. It is called only if there is something to decide: one part, as many parts as nodes, and
 * graphs without edges are answered here (METIS 5.1.0 crashes on one part).
 *
 * These loads are balanced: nodes, always, and those of each type by themselves, with a constraint
 * for each type (Karypis and Kumar, "Multilevel algorithms for multi-constraint graph
 * partitioning", 1998); training nodes, because they are the work of an epoch; edges, because they
 * are the bytes of a part, or instead of edges measured reads. A load that cannot be spread (fewer
 * units than parts) is left out: METIS would give up the cut for nothing.
 *
 * METIS may leave a part empty when parts are small. Each empty part then gets the highest node of
 * the part with the most nodes (assignment_fill_empty()).
 */
#ifndef STAGES_PARTITION_METHODS_METIS_PARTITIONER_H
#define STAGES_PARTITION_METHODS_METIS_PARTITIONER_H

#include "common/base/error.h"
#include "stages/partition/rules/undirected_graph.h"

#include <stdbool.h>
#include <stdint.h>

struct metis_request {
    const struct undirected_graph *graph;
    uint32_t part_count; /* 1 .. nodes */
    int64_t seed;
    /* [node_count] in-edges, or rows read; NULL: they are not balanced. */
    const uint32_t *edge_load;
    const uint8_t *train_load; /* [node_count] of 0 and 1, or NULL */
    /* [node_count] below 16; NULL: all nodes are of one type. */
    const uint8_t *type;
};

/* Fills part [node_count]; every part has a node. Fails: ERROR_CORRUPT for a graph that METIS must
 * not see; ERROR_INVALID for more loads than it can index; ERROR_INPUT when METIS crashed or gave
 * an invalid answer; ERROR_NO_MEMORY; ERROR_UNAVAILABLE when asked to stop. */
MUST_CHECK enum error_code metis_partition(const struct metis_request *request, uint32_t *part,
                                           struct error *err);
/* Returns the bytes that METIS and the graph need, by measurement: 48 to 78 bytes an edge and
 * direction. */
uint64_t metis_partition_bytes(uint64_t node_count, uint64_t edge_count);
/* Returns whether METIS with 32-bit numbers can hold the graph. It indexes neighbours, both
 * directions counted, and the loads of all nodes, `load_count` a node: 900 million nodes are too
 * many with 3 loads each, but not with 2. */
bool metis_partition_holds(uint64_t node_count, uint64_t edge_count, uint64_t load_count);

#endif
