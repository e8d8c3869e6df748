#include "tests/support/memory_topology.h"

#include "common/base/memory.h"

#include <string.h>

static void *allocated(size_t count, size_t size)
{
    void *p = memory_alloc(count, size);
    must(p != NULL);
    return p;
}

void memory_topology_make(struct memory_topology *out, const uint64_t *row_start,
                          const uint32_t *neighbor, const uint32_t *book, int part_count)
{
    const size_t parts = (size_t)part_count, node_count = book[part_count];
    const uint64_t edge_count = row_start[node_count];
    *out = (struct memory_topology){
        .row_start = allocated(node_count + parts, sizeof(uint64_t)),
        .row_start_chunk = allocated(parts, sizeof(uint64_t *)),
        .neighbor_chunk = allocated(parts, sizeof(uint32_t *)),
        .neighbor = allocated(edge_count, sizeof(uint32_t)),
        .topology = {.part_count = part_count,
                     .node_count = (uint32_t)node_count,
                     .edge_count = edge_count,
                     .book = book,
                     .part = allocated(parts, sizeof(struct topology_part))},
    };
    if (edge_count)
        memcpy(out->neighbor, neighbor, edge_count * sizeof *neighbor);
    for (size_t p = 0; p < parts; p++) {
        uint64_t *start = out->row_start + book[p] + p;
        for (uint32_t v = book[p]; v <= book[p + 1]; v++)
            start[v - book[p]] = row_start[v] - row_start[book[p]];
        out->row_start_chunk[p] = start;
        out->neighbor_chunk[p] = out->neighbor + row_start[book[p]];
        out->topology.part[p] = (struct topology_part){
            .first_node = book[p],
            .node_count = book[p + 1] - book[p],
            .edge_count = row_start[book[p + 1]] - row_start[book[p]],
            .row_start_chunk = &out->row_start_chunk[p],
            .neighbor_chunk = &out->neighbor_chunk[p],
        };
    }
}

void memory_topology_give(struct memory_topology *graph, const struct edge_columns_view *columns,
                          const float *weight_sum)
{
    struct topology *topology = &graph->topology;
    const size_t parts = (size_t)topology->part_count;
    uint64_t first = 0;
    memory_free(graph->weight_sum_chunk); /* from an earlier call */
    graph->weight_sum_chunk = allocated(parts, sizeof(float *));
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        memory_free(graph->column_chunk[c]);
        graph->column_chunk[c] = allocated(parts, sizeof(char *));
    }
    topology->width = columns->width;
    for (size_t p = 0; p < parts; p++) {
        struct topology_part *part = &topology->part[p];
        part->width = columns->width;
        for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
            if (columns->width.of[c]) {
                graph->column_chunk[c][p] = edge_columns_at(columns, (enum edge_column)c, first);
                part->column_chunk[c] = &graph->column_chunk[c][p];
            }
        if (weight_sum) {
            graph->weight_sum_chunk[p] = weight_sum + part->first_node;
            part->weight_sum_chunk = &graph->weight_sum_chunk[p];
        }
        first += part->edge_count;
    }
}

void memory_topology_release(struct memory_topology *graph)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        memory_free(graph->column_chunk[c]);
    memory_free(graph->weight_sum_chunk);
    memory_free(graph->row_start);
    memory_free(graph->row_start_chunk);
    memory_free(graph->neighbor_chunk);
    memory_free(graph->neighbor);
    memory_free(graph->topology.part);
    *graph = (struct memory_topology){0};
}
