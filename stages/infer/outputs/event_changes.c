#include "stages/infer/outputs/event_changes.h"

#include "common/base/memory.h"
#include "stages/sampling/rows/graph_row.h"

#include <stdlib.h>

uint64_t event_changes_bytes(const struct topology *topology)
{
    return ((uint64_t)topology->node_count + 1) * sizeof(uint64_t) +
           2 * topology->edge_count * sizeof(struct timed_node);
}

static int by_time(const void *a, const void *b)
{
    const struct timed_node *x = a, *y = b;
    if (x->time < y->time || x->time > y->time)
        return x->time < y->time ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Counts the edges from each node in one row or, if `fills`, stores them. */
static enum error_code walk_row(struct event_changes *changes, const struct topology *topology,
                                const struct graph_row *row, uint32_t node, bool fills,
                                uint64_t *edges, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t k = 0; rc == ERROR_NONE && k < row->length; k++) {
        uint32_t source = 0;
        rc = graph_row_neighbor(topology, row, k, &source, err);
        if (rc != ERROR_NONE)
            break;
        const struct timed_node target = {graph_row_time(topology, row, k), node};
        if (fills)
            changes->heard[changes->start[source]++] = target;
        else
            changes->start[source + 1]++;
        changes->arrival[(*edges)++] = target;
    }
    return rc;
}

/* Walks over the rows of all nodes in all relations. */
static enum error_code walk(struct event_changes *changes, const struct topology *topology,
                            bool fills, struct error *err)
{
    uint64_t edges = 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = 0; rc == ERROR_NONE && node < topology->node_count; node++)
        for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(topology); r++) {
            struct graph_row row = {.length = 0};
            if (graph_row_is_there(topology, r, node))
                rc = graph_row_of_relation(topology, r, node, &row, err);
            if (rc == ERROR_NONE)
                rc = walk_row(changes, topology, &row, node, fills, &edges, err);
        }
    return rc;
}

enum error_code event_changes_init(struct event_changes *changes, const struct topology *topology,
                                   struct error *err)
{
    static const char what[] = "the edges of events";
    const uint32_t nodes = topology->node_count;
    *changes = (struct event_changes){.edge_count = topology->edge_count};
    enum error_code rc = memory_new(&changes->start, (size_t)nodes + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&changes->heard, topology->edge_count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&changes->arrival, topology->edge_count, what, err);
    if (rc == ERROR_NONE)
        rc = walk(changes, topology, false, err);
    for (uint32_t n = 0; rc == ERROR_NONE && n < nodes; n++)
        changes->start[n + 1] += changes->start[n];
    if (rc == ERROR_NONE)
        rc = walk(changes, topology, true, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t n = nodes; n > 0; n--) /* filling moved each start to the end of its edges */
        changes->start[n] = changes->start[n - 1];
    changes->start[0] = 0;
    qsort(changes->arrival, changes->edge_count, sizeof *changes->arrival, by_time);
    return ERROR_NONE;
}

void event_changes_release(struct event_changes *changes)
{
    memory_free(changes->start);
    memory_free(changes->heard);
    memory_free(changes->arrival);
    *changes = (struct event_changes){0};
}

bool event_changes_next(struct event_changes *changes, int64_t time, uint32_t *node)
{
    if (changes->next == changes->edge_count || changes->arrival[changes->next].time >= time)
        return false;
    *node = changes->arrival[changes->next++].node;
    return true;
}
