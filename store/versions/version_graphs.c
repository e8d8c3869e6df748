/* Makes the graph index of a version: the nodes of each graph. Declared in version_rows.h. */
#include "common/base/memory.h"
#include "store/versions/fold_graphs.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>
#include <string.h>

/* Writes the user's ids of the graphs to id [graphs->count]. Returns whether the ids are 0, 1,
 * ... */
static bool merge_graph_ids(const struct version_fold *fold, const struct graph_index *base,
                            int64_t *id)
{
    const struct fold_graphs *graphs = &fold->graphs;
    bool are_numbers = true;
    for (uint32_t g = 0; g < graphs->count; g++) {
        const struct fold_node *added =
            g < graphs->kept_count ? NULL : &graphs->added[g - graphs->kept_count];
        id[g] = added ? fold->delta[added->delta].new_graph_id[added->index]
                      : graph_index_id(base, graphs->kept_graph[g]);
        are_numbers &= id[g] == (int64_t)(base->first_id + g);
    }
    return are_numbers;
}

/* Writes the graph of each node to graph_of [node_count]. number [base graphs] has the number of
 * each graph in the version, or NODE_GONE. */
static enum error_code merge_members(const struct version_fold *fold,
                                     const struct graph_index *base, const uint32_t *number,
                                     uint32_t *graph_of, struct error *err)
{
    for (uint32_t node = 0; node < fold->node_count;) {
        const struct version_run run = version_fold_run(fold, node, fold->node_count);
        for (uint32_t i = 0; i < run.count; i++, node++) {
            const uint32_t from = run.from + i;
            graph_of[node] =
                run.is_added ? fold->graphs.graph_of_added[from] : number[base->graph_of[from]];
            if (graph_of[node] == NODE_GONE)
                return error_set(err, ERROR_CORRUPT,
                                 "dataset %s: node %" PRIu32 " of %s is of graph %" PRIu32
                                 ", which went without it",
                                 fold->kept.name, from, fold->base.id, base->graph_of[from]);
        }
    }
    return ERROR_NONE;
}

/* Fills number [base graphs]. */
static void number_graphs(const struct fold_graphs *graphs, uint32_t *number)
{
    for (uint32_t g = 0; g < graphs->base_count; g++)
        number[g] = NODE_GONE;
    for (uint32_t g = 0; g < graphs->kept_count; g++)
        number[graphs->kept_graph[g]] = g;
}

static enum error_code merge_graphs(const struct version_fold *fold, const struct graph_index *base,
                                    struct graph_index *out, struct error *err)
{
    const struct fold_graphs *graphs = &fold->graphs;
    const uint64_t ids = (uint64_t)graphs->count * sizeof(int64_t);
    uint32_t *number = NULL;
    void *block = NULL;
    enum error_code rc = version_block(&out->view, fold, "graphs",
                                       ids + (uint64_t)fold->node_count * sizeof(uint32_t), err);
    if (rc == ERROR_NONE)
        rc = memory_new(&number, graphs->base_count, "graphs", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&block, &out->view.data, sizeof block); /* it is private until it is returned */
    uint32_t *graph_of = (uint32_t *)((char *)block + ids);
    number_graphs(graphs, number);
    const bool are_numbers = merge_graph_ids(fold, base, block);
    rc = merge_members(fold, base, number, graph_of, err);
    out->node_count = fold->node_count;
    out->graph_count = graphs->count;
    out->first_id = base->first_id;
    out->id = are_numbers ? NULL : block;
    out->graph_of = graph_of;
    memory_free(number);
    return rc;
}

enum error_code version_graphs(const struct version_fold *fold, struct store *store,
                               struct graph_index *out, struct error *err)
{
    struct graph_index base;
    *out = (struct graph_index){.node_count = 0};
    enum error_code rc =
        graph_index_of_dataset(store, fold->base.id, fold->base.node_count, &base, err);
    if (rc == ERROR_NONE && base.graph_count != fold->graphs.base_count)
        rc = error_set(err, ERROR_CORRUPT, "%s: %" PRIu32 " graphs, expected %" PRIu32,
                       base.view.key, base.graph_count, fold->graphs.base_count);
    if (rc == ERROR_NONE)
        rc = merge_graphs(fold, &base, out, err);
    store_release_record(&base.view);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&out->view);
    *out = (struct graph_index){.node_count = 0};
    return rc;
}
