#include "stages/ingest/build/nodes/node_time_table.h"

#include "common/base/memory.h"
#include "common/graph/edge_time.h"
#include "store/records/dataset/node_times.h"

#include <inttypes.h>

void node_time_table_release(struct node_time_table *table)
{
    memory_free(table->time);
    *table = (struct node_time_table){.time = NULL};
}

static enum error_code new_times(struct node_time_table *table, uint32_t node_count,
                                 struct error *err)
{
    const enum error_code rc = memory_new(&table->time, node_count, "the times of nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < node_count; i++)
        table->time[i] = EDGE_TIME_FIRST;
    return rc;
}

enum error_code node_time_table_set(struct node_time_table *table, uint32_t node_count,
                                    int64_t node, int64_t time, struct error *err)
{
    if (node < 0 || node >= (int64_t)node_count)
        return error_set(err, ERROR_INPUT, "expected a node from 0 to %" PRIu32 ", found %" PRId64,
                         node_count - 1, node);
    const enum error_code rc = table->time ? ERROR_NONE : new_times(table, node_count, err);
    if (rc == ERROR_NONE && table->time[node] != EDGE_TIME_FIRST)
        return error_set(err, ERROR_INPUT,
                         "the node has a time in a line before: " ADVICE "remove one of the lines");
    if (rc == ERROR_NONE)
        table->time[node] = time;
    return rc;
}

enum error_code node_time_table_put(const struct node_time_table *table, uint32_t node_count,
                                    struct store *store, const char *dataset_id, struct error *err)
{
    const struct node_times times = {.node_count = node_count, .time = table->time};
    return table->time ? node_times_put(store, dataset_id, &times, err) : ERROR_NONE;
}
