#include "pipelines/report/graph_figures.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "store/topology/topology.h"

#include <string.h>

int graph_figures_bin(uint64_t degree)
{
    int bin = 0;
    for (; degree; degree >>= 1)
        bin++;
    return bin < DEGREE_BINS ? bin : DEGREE_BINS - 1;
}

/* Counts the edges of one row by the part of their source. `part_of` is the part of the previous
 * source, which is the first guess, because neighbours are often in one part. */
static void count_sources(const struct topology *topology, const struct topology_part *rows,
                          uint64_t first, uint64_t end, double *cut)
{
    int part = 0;
    for (uint64_t e = first; e < end; e++) {
        const uint32_t source = *topology_neighbor(rows, e);
        if (source < topology->book[part] || source >= topology->book[part + 1])
            part = topology_part_of(topology, source);
        cut[part]++;
    }
}

/* Adds a part. The degree of a node is the sum over its relations. */
static enum error_code add_part(const struct topology *topology, int part,
                                struct graph_figures *out, struct error *err)
{
    const uint32_t first_node = topology->book[part];
    const uint32_t node_count = topology->book[part + 1] - first_node;
    uint64_t *degree = NULL;
    enum error_code rc = memory_new(&degree, node_count, "degrees", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(topology); r++) {
        const struct topology_part *rows = topology_rows(topology, part, r);
        for (uint32_t v = 0; v < rows->node_count; v++) {
            const uint64_t first = topology_row_start(rows, v);
            const uint64_t end = topology_row_start(rows, v + 1);
            degree[rows->first_node - first_node + v] += end - first;
            if (out->cut)
                count_sources(topology, rows, first, end,
                              out->cut + (size_t)part * (size_t)out->cut_parts);
        }
        out->edges += rows->edge_count;
    }
    for (uint32_t v = 0; rc == ERROR_NONE && v < node_count; v++) {
        out->nodes_of_degree[graph_figures_bin(degree[v])]++;
        out->largest_degree = degree[v] > out->largest_degree ? degree[v] : out->largest_degree;
    }
    memory_free(degree);
    return rc;
}

enum error_code graph_figures_read(struct store *store, const struct partition_book *book,
                                   struct graph_figures *out, struct error *err)
{
    struct topology topology = {0};
    *out = (struct graph_figures){0};
    enum error_code rc = topology_open(store, book, &topology, err);
    if (rc != ERROR_NONE)
        return rc;
    out->nodes = topology.node_count;
    if (topology.part_count <= CUT_PARTS_MAX) {
        out->cut_parts = topology.part_count;
        rc = memory_new(&out->cut, (size_t)out->cut_parts * (size_t)out->cut_parts,
                        "the edges between parts", err);
    }
    for (int p = 0; rc == ERROR_NONE && p < topology.part_count; p++) {
        rc = topology_open_part(&topology, p, err);
        if (rc == ERROR_NONE)
            rc = add_part(&topology, p, out, err);
        if (rc == ERROR_NONE && stop_signal_seen())
            rc = error_set(err, ERROR_UNAVAILABLE, "asked to stop");
    }
    topology_close(&topology);
    if (rc != ERROR_NONE)
        graph_figures_release(out);
    return rc;
}

void graph_figures_release(struct graph_figures *figures)
{
    memory_free(figures->cut);
    *figures = (struct graph_figures){0};
}
