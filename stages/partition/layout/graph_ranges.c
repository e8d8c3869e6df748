#include "stages/partition/layout/graph_ranges.h"

#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>

/* Counts the nodes of graph g in count[g + 1], of count [graph_count + 1], so that sums of the
 * counts become ranges. */
static void count_nodes(const struct graph_index *graphs, uint32_t *count)
{
    for (uint32_t node = 0; node < graphs->node_count; node++)
        count[graphs->graph_of[node] + 1]++;
}

/* Chooses the part of each graph, by `first` [graph_count + 1]. A part takes graphs until its share
 * of nodes is reached, and leaves at least one graph for each later part. */
static void choose_parts(const struct graph_index *graphs, const uint32_t *first,
                         uint32_t part_count, uint32_t *part_of)
{
    uint32_t part = 0, taken = 0; /* graphs in the part */
    for (uint32_t g = 0; g < graphs->graph_count; g++) {
        const uint64_t end = (uint64_t)graphs->node_count * (part + 1) / part_count;
        const uint64_t middle = first[g] + ((uint64_t)first[g + 1] - first[g]) / 2;
        const bool is_full = taken > 0 && middle >= end;
        const bool is_awaited = graphs->graph_count - g <= part_count - 1 - part;
        if (part + 1 < part_count && (is_full || (taken > 0 && is_awaited))) {
            part++;
            taken = 0;
        }
        part_of[g] = part;
        taken++;
    }
}

enum error_code graph_ranges_assign(const struct graph_index *graphs, uint32_t part_count,
                                    uint32_t *part, struct error *err)
{
    uint32_t *first = NULL, *part_of = NULL;
    must(part_count >= 1 && part_count <= graphs->graph_count);
    enum error_code rc =
        memory_new(&first, (size_t)graphs->graph_count + 1, "the nodes of graphs", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&part_of, graphs->graph_count, "the parts of graphs", err);
    if (rc == ERROR_NONE) {
        count_nodes(graphs, first);
        for (uint32_t g = 0; g < graphs->graph_count; g++)
            first[g + 1] += first[g];
        choose_parts(graphs, first, part_count, part_of);
        for (uint32_t node = 0; node < graphs->node_count; node++)
            part[node] = part_of[graphs->graph_of[node]];
    }
    memory_free(part_of);
    memory_free(first);
    return rc;
}

/* Sorts nodes by graph. first[g] is the cursor of graph g, and ends where graph g + 1 starts. */
static void sort_nodes(struct renumbering *r, const struct graph_index *graphs, uint32_t *first,
                       uint32_t *order)
{
    for (uint32_t i = 0; i < r->node_count; i++) {
        const uint32_t node = r->to_dataset[i];
        order[first[graphs->graph_of[node]]++] = node;
    }
    for (uint32_t g = graphs->graph_count; g > 0; g--)
        first[g] = first[g - 1];
    first[0] = 0;
    for (uint32_t i = 0; i < r->node_count; i++) {
        r->to_dataset[i] = order[i];
        r->to_partition[order[i]] = i;
    }
}

enum error_code graph_ranges_order(struct renumbering *renumbering,
                                   const struct graph_index *graphs, uint32_t *first,
                                   struct error *err)
{
    uint32_t *order = NULL;
    enum error_code rc = memory_new(&order, renumbering->node_count, "the order of graphs", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t g = 0; g <= graphs->graph_count; g++)
        first[g] = 0;
    count_nodes(graphs, first);
    for (uint32_t g = 0; rc == ERROR_NONE && g < graphs->graph_count; g++) {
        if (first[g + 1] == 0)
            rc = error_set(err, ERROR_CORRUPT, "%s: graph %" PRIu32 " has no node",
                           graphs->view.key, g);
        first[g + 1] += first[g];
    }
    if (rc == ERROR_NONE)
        sort_nodes(renumbering, graphs, first, order);
    memory_free(order);
    return rc;
}

static enum error_code put_splits(struct store *store, const char *partition_id,
                                  const char *dataset_id, struct error *err)
{
    struct node_splits splits = {.count = {0}};
    enum error_code rc = merged_splits_get(store, dataset_id, &splits, err);
    if (rc == ERROR_NONE)
        rc = node_splits_put(store, key_partition(partition_id, "splits").text, partition_id,
                             &splits, err);
    store_release_record(&splits.view);
    return rc;
}

enum error_code graph_ranges_put(struct store *store, const char *partition_id,
                                 const char *dataset_id, const struct graph_index *graphs,
                                 const uint32_t *first, struct error *err)
{
    const struct graph_index index = {.node_count = graphs->node_count,
                                      .graph_count = graphs->graph_count,
                                      .first_id = graphs->first_id,
                                      .id = graphs->id,
                                      .first = first};
    const enum error_code rc = graph_index_put(store, key_partition(partition_id, "graphs").text,
                                               partition_id, &index, err);
    return rc == ERROR_NONE ? put_splits(store, partition_id, dataset_id, err) : rc;
}

enum error_code graph_ranges_measure(const struct graph_index *graphs, const uint32_t *in_degree,
                                     struct graph_sizes *out, struct error *err)
{
    uint64_t *edges = NULL;
    uint32_t *nodes = NULL;
    *out = (struct graph_sizes){.graph_count = graphs->graph_count};
    enum error_code rc = memory_new(&edges, graphs->graph_count, "the edges of graphs", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&nodes, graphs->graph_count, "the nodes of graphs", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < graphs->node_count; node++) {
        nodes[graphs->graph_of[node]]++;
        edges[graphs->graph_of[node]] += in_degree[node];
    }
    for (uint32_t g = 0; rc == ERROR_NONE && g < graphs->graph_count; g++) {
        out->most_nodes = nodes[g] > out->most_nodes ? nodes[g] : out->most_nodes;
        out->most_edges = edges[g] > out->most_edges ? edges[g] : out->most_edges;
    }
    memory_free(nodes);
    memory_free(edges);
    return rc;
}
