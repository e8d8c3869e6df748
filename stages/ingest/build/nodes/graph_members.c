#include "stages/ingest/build/nodes/graph_members.h"

#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/dataset/graph_index.h"

#include <inttypes.h>

/* Stores the graph of each node. Each graph has a node, so a number must be below the number of
 * nodes. */
static enum error_code take_numbers(struct graph_members *members, const char *where,
                                    int64_t first_line, const int64_t *graph, struct error *err)
{
    const int64_t first_id = members->first_id, last = first_id + (int64_t)members->node_count - 1;
    for (uint32_t i = 0; i < members->node_count; i++) {
        if (graph[i] < first_id || graph[i] > last)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": graph %" PRId64
                             " is out of range: expected a number from %" PRId64 " to %" PRId64
                             ", because %" PRIu32 " nodes cannot make more graphs",
                             where, first_line + i, graph[i], first_id, last, members->node_count);
        members->graph_of[i] = (uint32_t)(graph[i] - first_id);
        if (members->graph_of[i] >= members->graph_count)
            members->graph_count = members->graph_of[i] + 1;
    }
    return ERROR_NONE;
}

static enum error_code expect_nodes(const struct graph_members *members, const char *where,
                                    struct error *err)
{
    bool *seen = NULL;
    enum error_code rc = memory_new(&seen, members->graph_count, "which graphs have nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < members->node_count; i++)
        seen[members->graph_of[i]] = true;
    for (uint32_t g = 0; rc == ERROR_NONE && g < members->graph_count; g++)
        if (!seen[g])
            rc = error_set(err, ERROR_INPUT,
                           "%s: graph %" PRId64
                           " has no node: expected at least one node in each graph from %" PRId64
                           " to %" PRId64,
                           where, members->first_id + g, members->first_id,
                           members->first_id + members->graph_count - 1);
    memory_free(seen);
    return rc;
}

enum error_code graph_members_set(struct graph_members *members, const char *where,
                                  int64_t first_line, const int64_t *graph, uint32_t node_count,
                                  int64_t first_id, struct error *err)
{
    must(!members->graph_of);
    *members = (struct graph_members){.node_count = node_count, .first_id = first_id};
    enum error_code rc = memory_new(&members->graph_of, node_count, "the graphs of nodes", err);
    if (rc == ERROR_NONE)
        rc = take_numbers(members, where, first_line, graph, err);
    return rc == ERROR_NONE ? expect_nodes(members, where, err) : rc;
}

enum error_code graph_members_check(const struct graph_members *members, int64_t source,
                                    int64_t target, struct error *err)
{
    if (!members->graph_of || members->graph_of[source] == members->graph_of[target])
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "an edge between nodes of two graphs, %" PRId64 " and %" PRId64
                     ": expected both ends in one graph",
                     members->first_id + members->graph_of[source],
                     members->first_id + members->graph_of[target]);
}

enum error_code graph_members_put(const struct graph_members *members, struct store *store,
                                  const char *dataset_id, struct error *err)
{
    const struct graph_index index = {.node_count = members->node_count,
                                      .graph_count = members->graph_count,
                                      .first_id = (uint64_t)members->first_id,
                                      .graph_of = members->graph_of};
    if (!members->graph_of)
        return ERROR_NONE;
    return graph_index_put(store, key_dataset(dataset_id, "graphs").text, dataset_id, &index, err);
}

void graph_members_release(struct graph_members *members)
{
    memory_free(members->graph_of);
    *members = (struct graph_members){0};
}
