#include "store/versions/fold_graphs.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- taking deltas
 * ---------------------------------------------------------------------------- */

/* Initialises the graphs before the first delta, which says how many the base has. */
static enum error_code begin(struct fold_state *state, const struct dataset_delta *delta,
                             struct error *err)
{
    state->graph_base = state->graph_count = delta->base_graphs;
    const enum error_code rc = memory_new(&state->graph, state->graph_count, "graphs", err);
    for (uint32_t g = 0; rc == ERROR_NONE && g < state->graph_count; g++)
        state->graph[g] = g;
    return rc;
}

/* Notes the lasting graph of each added node: a graph of the base, or graph_base + i for the i-th
 * graph that was ever added. */
static enum error_code note_members(struct fold_state *state, const struct dataset_delta *delta,
                                    struct error *err)
{
    const size_t first = state->added_count;
    const enum error_code rc = memory_grow(&state->graph_of, &state->graph_of_room,
                                           first + delta->added_nodes, "graphs of nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < delta->added_nodes; i++) {
        const uint32_t graph = delta->new_graph_of[i];
        state->graph_of[first + i] =
            graph < delta->base_graphs
                ? state->graph[graph]
                : state->graph_base + state->came_count + (graph - delta->base_graphs);
    }
    return rc;
}

/* Removes graphs, and appends new ones. */
static enum error_code take_graphs(struct fold_state *state, uint32_t which,
                                   const struct dataset_delta *delta, struct error *err)
{
    const uint32_t left = state->graph_count - delta->gone_graphs, more = delta->added_graphs;
    uint32_t *graph = NULL, count = 0, gone = 0;
    enum error_code rc = memory_grow(&state->came, &state->came_room,
                                     (size_t)state->came_count + more, "new graphs", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&graph, (size_t)left + more, "graphs", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t g = 0; g < state->graph_count; g++)
        if (gone < delta->gone_graphs && delta->gone_graph[gone] == g)
            gone++;
        else
            graph[count++] = state->graph[g];
    for (uint32_t i = 0; i < more; i++) {
        graph[count++] = state->graph_base + state->came_count;
        state->came[state->came_count++] = (struct fold_node){.delta = which, .index = i};
    }
    memory_free(state->graph);
    state->graph = graph;
    state->graph_count = count;
    return ERROR_NONE;
}

enum error_code fold_graphs_take(struct fold_state *state, uint32_t which, struct error *err)
{
    const struct dataset_delta *delta = &state->fold->delta[which];
    const bool has_graphs = task_has(state->fold->base.task, TASK_HAS_GRAPHS);
    enum error_code rc = ERROR_NONE;
    if (has_graphs && !state->graph_base && delta->base_graphs)
        rc = begin(state, delta, err);
    if (rc == ERROR_NONE &&
        (delta->base_graphs != state->graph_count || has_graphs != (delta->base_graphs > 0)))
        rc = error_set(err, ERROR_CORRUPT,
                       "%s: is of a version of %" PRIu32 " graphs, expected %" PRIu32,
                       delta->view.key, delta->base_graphs, state->graph_count);
    if (rc != ERROR_NONE || !has_graphs)
        return rc;
    rc = note_members(state, delta, err);
    return rc == ERROR_NONE ? take_graphs(state, which, delta, err) : rc;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Returns the index of `wanted` in ascending numbers, or NODE_GONE. */
static uint32_t find(const uint32_t *number, uint32_t count, uint32_t wanted)
{
    const uint32_t *at = count ? bsearch(&wanted, number, count, sizeof *number, by_number) : NULL;
    return at ? (uint32_t)(at - number) : NODE_GONE;
}

static enum error_code finish_members(struct fold_state *state, struct error *err)
{
    struct version_fold *fold = state->fold;
    const enum error_code rc =
        memory_new(&fold->graphs.graph_of_added, fold->added_nodes, "graphs of nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < fold->added_nodes; i++) {
        const uint32_t graph =
            find(state->graph, state->graph_count, state->graph_of[state->alive[i]]);
        if (graph == NODE_GONE)
            return error_set(err, ERROR_CORRUPT,
                             "version %s: added node %" PRIu32 " is in a graph that was removed",
                             fold->kept.name, i);
        fold->graphs.graph_of_added[i] = graph;
    }
    return rc;
}

enum error_code fold_graphs_finish(struct fold_state *state, struct error *err)
{
    struct fold_graphs *graphs = &state->fold->graphs;
    uint32_t stay = 0;
    if (!state->graph_count)
        return ERROR_NONE;
    while (stay < state->graph_count && state->graph[stay] < state->graph_base)
        stay++;
    graphs->base_count = state->graph_base;
    graphs->count = state->graph_count;
    graphs->kept_count = stay;
    graphs->added_count = state->graph_count - stay;
    enum error_code rc = memory_new(&graphs->added, graphs->added_count, "new graphs", err);
    if (rc == ERROR_NONE)
        rc = finish_members(state, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < graphs->added_count; i++)
        graphs->added[i] = state->came[state->graph[stay + i] - state->graph_base];
    graphs->kept_graph = state->graph;
    state->graph = NULL;
    return rc;
}

/* --- targets --- */

uint32_t version_target_number(const struct version_fold *fold, uint32_t target)
{
    const struct fold_graphs *graphs = &fold->graphs;
    return graphs->count ? find(graphs->kept_graph, graphs->kept_count, target)
                         : version_fold_number(fold, target);
}

uint32_t version_added_target_number(const struct version_fold *fold, uint32_t i)
{
    return fold->graphs.count ? fold->graphs.kept_count + i
                              : delta_numbers_version(&fold->numbers, fold->base.node_count + i);
}

struct version_run version_target_run(const struct version_fold *fold, uint32_t target,
                                      uint32_t end)
{
    const struct fold_graphs *graphs = &fold->graphs;
    if (!graphs->count)
        return version_fold_run(fold, target, end);
    if (target >= graphs->kept_count)
        return (struct version_run){.node = target,
                                    .count = end - target,
                                    .is_added = true,
                                    .from = target - graphs->kept_count};
    struct version_run run = {.node = target, .count = 1, .from = graphs->kept_graph[target]};
    while (target + run.count < end && target + run.count < graphs->kept_count &&
           graphs->kept_graph[target + run.count] == run.from + run.count)
        run.count++;
    return run;
}
