/* What a delta of a dataset of many graphs says beyond others. */
#include "store/records/dataset/dataset_delta_graphs.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

static const char graphs_name[] = "graphs", gone_name[] = "gone_graph", id_name[] = "new_graph_id",
                  graph_of_name[] = "new_graph_of";

enum { DELTA_GRAPHS_SIZE = 2 };

void delta_graphs_add(struct record *record, const struct dataset_delta *delta,
                      struct section_scratch *scratch)
{
    if (!delta->base_graphs)
        return;
    uint64_t *graphs = section_scratch_take(scratch, DELTA_GRAPHS_SIZE * sizeof *graphs);
    graphs[0] = delta->base_graphs;
    graphs[1] = delta->added_graphs;
    record_add(record, graphs_name, ELEMENT_U64, graphs, DELTA_GRAPHS_SIZE);
    record_add(record, gone_name, ELEMENT_U32, delta->gone_graph, delta->gone_graphs);
    record_add(record, id_name, ELEMENT_I64, delta->new_graph_id, delta->added_graphs);
    record_add(record, graph_of_name, ELEMENT_U32, delta->new_graph_of, delta->added_nodes);
}

static enum error_code get_counts(const struct record_view *view, struct dataset_delta *out,
                                  struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, graphs_name, ELEMENT_U64, DELTA_GRAPHS_SIZE, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *graphs = data;
    if (graphs[0] == 0 || graphs[0] > out->base_nodes || graphs[1] > out->added_nodes)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"%s\": expected 1 to %" PRIu32 " graphs and at most %" PRIu32
                         " new ones, found %" PRIu64 " and %" PRIu64,
                         view->key, graphs_name, out->base_nodes, out->added_nodes, graphs[0],
                         graphs[1]);
    out->base_graphs = (uint32_t)graphs[0];
    out->added_graphs = (uint32_t)graphs[1];
    return ERROR_NONE;
}

static enum error_code get_gone(const struct record_view *view, struct dataset_delta *out,
                                struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0;
    enum error_code rc = record_section_get(view, gone_name, ELEMENT_U32, -1, &data, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *gone = data;
    for (uint64_t i = 0; i < count; i++)
        if (gone[i] >= out->base_graphs || (i && gone[i] <= gone[i - 1]))
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu64 ": expected graphs below %" PRIu32
                             " that ascend, found %" PRIu32,
                             view->key, gone_name, i, out->base_graphs, gone[i]);
    if (count == out->base_graphs)
        return error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected a graph that stays, found none",
                         view->key, gone_name);
    out->gone_graphs = (uint32_t)count;
    out->gone_graph = gone;
    return ERROR_NONE;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static bool is_gone(const struct dataset_delta *delta, uint32_t graph)
{
    return delta->gone_graphs &&
           bsearch(&graph, delta->gone_graph, delta->gone_graphs, sizeof graph, by_number) != NULL;
}

/* Added nodes are of graphs that stay or come, and each that comes has one. */
static enum error_code check_members(const struct record_view *view,
                                     const struct dataset_delta *delta, struct error *err)
{
    const uint64_t all = (uint64_t)delta->base_graphs + delta->added_graphs;
    bool *has_node = NULL;
    enum error_code rc = memory_new(&has_node, delta->added_graphs, "graphs that come", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < delta->added_nodes; i++) {
        const uint32_t graph = delta->new_graph_of[i];
        if (graph >= all || (graph < delta->base_graphs && is_gone(delta, graph)))
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: \"%s\" entry %" PRIu32 ": expected a graph below %" PRIu64
                           " that does not go, found %" PRIu32,
                           view->key, graph_of_name, i, all, graph);
        else if (graph >= delta->base_graphs)
            has_node[graph - delta->base_graphs] = true;
    }
    for (uint32_t g = 0; rc == ERROR_NONE && g < delta->added_graphs; g++)
        if (!has_node[g])
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: \"%s\": expected a node of each new graph, found none of %" PRIu32,
                           view->key, graph_of_name, delta->base_graphs + g);
    memory_free(has_node);
    return rc;
}

enum error_code delta_graphs_get(const struct record_view *view, struct dataset_delta *out,
                                 struct error *err)
{
    const void *id = NULL, *graph_of = NULL;
    enum error_code rc = get_counts(view, out, err);
    if (rc == ERROR_NONE)
        rc = get_gone(view, out, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, id_name, ELEMENT_I64, out->added_graphs, &id, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, graph_of_name, ELEMENT_U32, out->added_nodes, &graph_of, NULL,
                                err);
    out->new_graph_id = id;
    out->new_graph_of = graph_of;
    return rc == ERROR_NONE ? check_members(view, out, err) : rc;
}
