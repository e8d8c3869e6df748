#include "stages/plan/settings/touched_graphs.h"

#include "common/base/memory.h"
#include "store/records/dataset/graph_index.h"
#include "store/versions/delta_numbers.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>

/* Marks the touched graphs in is_touched [newer graphs], which is zero before. */
static enum error_code mark_graphs(const struct touched_graphs *t, const struct graph_index *older,
                                   const struct graph_index *newer, uint8_t *is_touched,
                                   struct error *err)
{
    uint8_t *has_lost = NULL; /* [older graphs] the graph has lost a node */
    const enum error_code rc =
        memory_new(&has_lost, older->graph_count, "graphs that are touched", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < older->node_count; node++)
        if (t->newer_of[node] == DELTA_GONE)
            has_lost[older->graph_of[node]] = 1;
    for (uint32_t node = 0; rc == ERROR_NONE && node < newer->node_count; node++) {
        const uint32_t before = t->older_of[node];
        if (t->mark[node] & t->mask || (before != DELTA_GONE && has_lost[older->graph_of[before]]))
            is_touched[newer->graph_of[node]] = 1;
    }
    memory_free(has_lost);
    return rc;
}

static enum error_code count_training(const struct node_splits *splits, const uint8_t *is_touched,
                                      uint32_t graphs, uint32_t *count, struct error *err)
{
    *count = 0;
    for (uint32_t i = 0; i < splits->count[SPLIT_TRAIN]; i++) {
        const uint32_t graph = splits->node[SPLIT_TRAIN][i];
        if (graph >= graphs)
            return error_set(err, ERROR_CORRUPT,
                             "%s: graph %" PRIu32 " in a split, expected below %" PRIu32,
                             splits->view.key, graph, graphs);
        *count += is_touched[graph];
    }
    return ERROR_NONE;
}

enum error_code touched_graphs_count(const struct touched_graphs *t,
                                     const struct node_splits *splits, uint32_t *count,
                                     struct error *err)
{
    struct graph_index older = {.node_count = 0}, newer = {.node_count = 0};
    uint8_t *is_touched = NULL;
    enum error_code rc =
        merged_graphs_get(t->store, t->older->id, t->older->node_count, &older, err);
    if (rc == ERROR_NONE)
        rc = merged_graphs_get(t->store, t->newer->id, t->newer->node_count, &newer, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&is_touched, newer.graph_count, "graphs that are touched", err);
    if (rc == ERROR_NONE)
        rc = mark_graphs(t, &older, &newer, is_touched, err);
    if (rc == ERROR_NONE)
        rc = count_training(splits, is_touched, newer.graph_count, count, err);
    memory_free(is_touched);
    store_release_record(&older.view);
    store_release_record(&newer.view);
    return rc;
}
