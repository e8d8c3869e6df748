/*
 * power_law_graph - a big topology in memory, for benchmarks of code that reads it.
 *
 * The node of rank r has a degree in proportion to (r + 1)^-1/2 (exponent 3 of the degree
 * distribution, hubs of thousands), and is a neighbour as often as its degree. Ids are scattered
 * over the ranks. Rows are not sorted, because only the degree without self loops would need that.
 */
#ifndef TESTS_BENCH_POWER_LAW_GRAPH_H
#define TESTS_BENCH_POWER_LAW_GRAPH_H

#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/topology/topology.h"

#include <math.h>

struct power_law_graph {
    struct topology topology;
    struct topology_part part;
    uint32_t book[2];
    uint64_t *row_start; /* [node_count + 1] */
    uint32_t *neighbor;
    const uint64_t *row_start_chunk[TOPOLOGY_CHUNK_COUNT_MAX];
    const uint32_t *neighbor_chunk[TOPOLOGY_CHUNK_COUNT_MAX];
};

/* Maps ranks to ids one to one: the factor is a prime above any node count used. */
static inline uint32_t power_law_id(uint64_t rank, uint32_t node_count)
{
    return (uint32_t)(rank * 4294967291ULL % node_count);
}

static inline uint64_t power_law_degrees(struct power_law_graph *graph, uint32_t node_count,
                                         double mean_degree)
{
    for (uint64_t rank = 0; rank < node_count; rank++)
        graph->row_start[power_law_id(rank, node_count) + 1] =
            (uint64_t)(mean_degree * 0.5 * sqrt(node_count / ((double)rank + 1.0)) + 0.5);
    for (uint64_t v = 0; v < node_count; v++)
        graph->row_start[v + 1] += graph->row_start[v];
    return graph->row_start[node_count];
}

static inline void power_law_neighbors(struct power_law_graph *graph, uint32_t node_count,
                                       uint64_t edge_count)
{
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    for (uint64_t e = 0; e < edge_count; e += 4) {
        uint32_t words[4];
        random_block(&stream, e / 4, 0, words);
        for (uint64_t i = 0; i < 4 && e + i < edge_count; i++) {
            const double unit = (double)words[i] * 0x1p-32;
            graph->neighbor[e + i] = power_law_id((uint64_t)(unit * unit * node_count), node_count);
        }
    }
}

/* Makes the graph. Aborts without memory, and above the size of the chunks of a topology. */
static inline void power_law_graph_make(struct power_law_graph *graph, uint32_t node_count,
                                        double mean_degree)
{
    *graph = (struct power_law_graph){.book = {0, node_count}};
    graph->row_start = memory_map(((size_t)node_count + 1) * sizeof(uint64_t));
    must(graph->row_start != NULL);
    const uint64_t edge_count = power_law_degrees(graph, node_count, mean_degree);
    must(edge_count >> TOPOLOGY_CHUNK_SHIFT < TOPOLOGY_CHUNK_COUNT_MAX);
    graph->neighbor = memory_map(edge_count * sizeof(uint32_t));
    must(graph->neighbor != NULL);
    power_law_neighbors(graph, node_count, edge_count);
    for (uint64_t i = 0; i <= edge_count >> TOPOLOGY_CHUNK_SHIFT; i++)
        graph->neighbor_chunk[i] = graph->neighbor + (i << TOPOLOGY_CHUNK_SHIFT);
    for (uint64_t i = 0; i <= node_count >> TOPOLOGY_CHUNK_SHIFT; i++)
        graph->row_start_chunk[i] = graph->row_start + (i << TOPOLOGY_CHUNK_SHIFT);
    graph->part = (struct topology_part){.node_count = node_count,
                                         .edge_count = edge_count,
                                         .row_start_chunk = graph->row_start_chunk,
                                         .neighbor_chunk = graph->neighbor_chunk};
    graph->topology = (struct topology){.part_count = 1,
                                        .node_count = node_count,
                                        .edge_count = edge_count,
                                        .book = graph->book,
                                        .part = &graph->part};
}

static inline void power_law_graph_release(struct power_law_graph *graph)
{
    memory_unmap(graph->neighbor, graph->topology.edge_count * sizeof(uint32_t));
    memory_unmap(graph->row_start, ((size_t)graph->topology.node_count + 1) * sizeof(uint64_t));
}

#endif
