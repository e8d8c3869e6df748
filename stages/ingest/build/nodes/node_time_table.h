/*
 * node_time_table - when nodes appear, noted node by node (ingest.node_times).
 */
#ifndef STAGES_INGEST_BUILD_NODES_NODE_TIME_TABLE_H
#define STAGES_INGEST_BUILD_NODES_NODE_TIME_TABLE_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

struct node_time_table { /* {0} has no times; releasable */
    int64_t *time;       /* [node_count], or NULL */
};

void node_time_table_release(struct node_time_table *table);
/* Fails: ERROR_INPUT for a node out of range, and for one that has a time already;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_time_table_set(struct node_time_table *table, uint32_t node_count,
                                               int64_t node, int64_t time, struct error *err);
/* Stores the times of a dataset, if there are any. */
MUST_CHECK enum error_code node_time_table_put(const struct node_time_table *table,
                                               uint32_t node_count, struct store *store,
                                               const char *dataset_id, struct error *err);

#endif
