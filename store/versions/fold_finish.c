/* Finishes a fold: converts the content of all deltas to the numbers of the version. Declared in
 * fold_state.h. */
#include "common/base/memory.h"
#include "store/versions/fold_graphs.h"
#include "store/versions/fold_state.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_NODES = 64 };

/* --- nodes --- */

static enum error_code count_gone(struct version_fold *fold, struct error *err)
{
    const size_t words = (size_t)fold->base.node_count / WORD_NODES + 1;
    if (fold->gone_nodes == 0)
        return ERROR_NONE;
    enum error_code rc = memory_new(&fold->gone_bits, words, "marks of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&fold->gone_before, words, "counts of nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < fold->gone_nodes; i++)
        fold->gone_bits[fold->gone[i] / WORD_NODES] |= UINT64_C(1) << fold->gone[i] % WORD_NODES;
    for (size_t word = 1; rc == ERROR_NONE && word < words; word++)
        fold->gone_before[word] =
            fold->gone_before[word - 1] + (uint32_t)__builtin_popcountll(fold->gone_bits[word - 1]);
    return rc;
}

static enum error_code finish_nodes(struct fold_state *state, struct error *err)
{
    struct version_fold *fold = state->fold;
    fold->gone_nodes = state->gone_count;
    fold->added_nodes = state->alive_count;
    fold->node_count = delta_numbers_count(&fold->numbers);
    /* Nodes that were added before the last type shift all later nodes. */
    fold->moves = fold->gone_nodes || fold->numbers.added_first[fold->numbers.type_count - 1];
    if (fold->node_count == 0)
        return error_set(err, ERROR_CORRUPT, "version %s has no nodes", fold->kept.name);
    enum error_code rc = count_gone(fold, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&state->number, state->added_count, "numbers of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&fold->added, fold->added_nodes, "new nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < state->added_count; i++)
        state->number[i] = NODE_GONE;
    for (uint32_t i = 0; i < state->alive_count; i++) {
        fold->added[i] = state->added[state->alive[i]];
        state->number[state->alive[i]] =
            delta_numbers_version(&fold->numbers, fold_state_base(state) + i);
    }
    return ERROR_NONE;
}

/* Converts a lasting number to the number in the version. */
static uint32_t number_of(const struct fold_state *state, uint32_t node)
{
    return node < fold_state_base(state) ? version_fold_number(state->fold, node)
                                         : state->number[node - fold_state_base(state)];
}

/* --- edges --- */

/* Orders marks by key and relation, the newest first. */
static int by_key(const void *left, const void *right)
{
    const struct gone_mark *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->relation != b->relation)
        return a->relation < b->relation ? -1 : 1;
    return a->delta > b->delta ? -1 : a->delta < b->delta;
}

static int by_gone_key(const void *left, const void *right)
{
    const struct fold_gone *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->relation < b->relation ? -1 : a->relation > b->relation;
}

static bool is_before(const struct gone_mark *mark, uint64_t key, uint32_t relation)
{
    return mark->key < key || (mark->key == key && mark->relation < relation);
}

/* Returns whether an edge that an update added is removed, by ends in lasting numbers: some later
 * delta removes these ends. A delta removes before it adds, so its own edges stay. */
static bool is_removed(const struct fold_state *state, const struct fold_edge *edge)
{
    const struct version_fold *fold = state->fold;
    const uint64_t key = fold_state_key(state, edge->target, edge->source);
    const uint32_t relation = version_relation_of(fold, fold_edge_columns(fold, edge), edge->index);
    uint64_t low = 0, high = state->mark_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (is_before(&state->mark[middle], key, relation))
            low = middle + 1;
        else
            high = middle;
    }
    return low < state->mark_count && state->mark[low].key == key &&
           state->mark[low].relation == relation && state->mark[low].delta > edge->delta;
}

static enum error_code finish_gone_edges(struct fold_state *state, struct error *err)
{
    struct version_fold *fold = state->fold;
    uint64_t count = 0;
    const enum error_code rc =
        memory_new(&fold->gone_edge, 2 * state->mark_count, "edges that go", err);
    if (rc != ERROR_NONE)
        return rc;
    if (state->mark_count)
        qsort(state->mark, state->mark_count, sizeof *state->mark, by_key);
    for (uint64_t i = 0; i < state->mark_count; i++) {
        const uint64_t key = state->mark[i].key;
        const uint32_t target = (uint32_t)(key >> 32), source = (uint32_t)key;
        const uint32_t relation = state->mark[i].relation;
        const bool again = i && !is_before(&state->mark[i - 1], key, relation);
        if (again || target >= fold_state_base(state) || source >= fold_state_base(state))
            continue;
        fold->gone_edge[count++] = (struct fold_gone){key, relation};
        if (fold->base.undirected && source != target)
            fold->gone_edge[count++] =
                (struct fold_gone){(uint64_t)source << 32 | target, relation};
    }
    if (fold->base.undirected && count)
        qsort(fold->gone_edge, count, sizeof *fold->gone_edge, by_gone_key);
    fold->gone_edges = count;
    return ERROR_NONE;
}

static int by_ends(const void *left, const void *right)
{
    const struct fold_edge *a = left, *b = right;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->delta != b->delta)
        return a->delta < b->delta ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Places the edges that still exist in the order of rows; in an undirected graph both ways. */
static enum error_code place_edges(struct fold_state *state, struct error *err)
{
    struct version_fold *fold = state->fold;
    uint64_t count = 0;
    const uint64_t all = fold->added_edges;
    const enum error_code rc =
        memory_grow(&fold->edge, &state->edge_room, 2 * all, "new edges", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < all; i++) {
        struct fold_edge edge = fold->edge[i];
        const bool goes = is_removed(state, &edge);
        edge.target = number_of(state, edge.target);
        edge.source = number_of(state, edge.source);
        if (edge.target == NODE_GONE || edge.source == NODE_GONE ||
            (fold->skips_self_loops && edge.target == edge.source) || goes)
            continue;
        fold->edge[count++] = edge;
    }
    const uint64_t forward = count;
    for (uint64_t i = 0; rc == ERROR_NONE && fold->base.undirected && i < forward; i++) {
        const struct fold_edge edge = fold->edge[i];
        if (edge.target != edge.source)
            fold->edge[count++] = (struct fold_edge){.target = edge.source,
                                                     .source = edge.target,
                                                     .delta = edge.delta,
                                                     .is_way_back = 1,
                                                     .index = edge.index};
    }
    fold->added_edges = count;
    return rc;
}

/* Places the held-out edges that still exist. */
static void place_held(struct fold_state *state)
{
    struct version_fold *fold = state->fold;
    uint64_t count = 0;
    for (uint64_t i = 0; i < fold->held_edges; i++) {
        struct fold_edge edge = fold->held[i];
        const bool goes = is_removed(state, &edge);
        const uint32_t target = number_of(state, edge.target),
                       source = number_of(state, edge.source);
        const bool turns = fold->base.undirected && source > target;
        if (target == NODE_GONE || source == NODE_GONE || goes)
            continue;
        edge.target = turns ? source : target;
        edge.source = turns ? target : source;
        fold->held[count++] = edge;
    }
    if (count)
        qsort(fold->held, count, sizeof *fold->held, by_ends);
    fold->held_edges = count;
}

/* Sorts edges with the same ends by the columns that distinguish them; equal ones keep their
 * order. */
static void order_parallel(struct version_fold *fold)
{
    for (uint64_t i = 1; i < fold->added_edges; i++) {
        const struct fold_edge edge = fold->edge[i];
        uint64_t to = i;
        for (; to > 0 && fold->edge[to - 1].target == edge.target &&
               fold->edge[to - 1].source == edge.source &&
               edge_columns_compare(fold_edge_columns(fold, &fold->edge[to - 1]),
                                    fold->edge[to - 1].index, fold_edge_columns(fold, &edge),
                                    edge.index) > 0;
             to--)
            fold->edge[to] = fold->edge[to - 1];
        fold->edge[to] = edge;
    }
}

static enum error_code finish_edges(struct fold_state *state, struct error *err)
{
    struct version_fold *fold = state->fold;
    enum error_code rc = finish_gone_edges(state, err);
    if (rc == ERROR_NONE)
        rc = place_edges(state, err);
    if (rc == ERROR_NONE)
        place_held(state);
    if (rc == ERROR_NONE && fold->added_edges)
        qsort(fold->edge, fold->added_edges, sizeof *fold->edge, by_ends);
    if (rc == ERROR_NONE && edge_widths_distinguish(&fold->base.edge_width))
        order_parallel(fold);
    return rc;
}

/* --- rows --- */

/* Orders rows by node, the newest first. */
static int by_node(const void *left, const void *right)
{
    const struct fold_row *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return a->delta > b->delta ? -1 : a->delta < b->delta;
}

static void finish_rows(struct fold_state *state)
{
    struct version_fold *fold = state->fold;
    uint64_t count = 0;
    for (uint64_t i = 0; i < fold->rows; i++) {
        fold->row[i].node = number_of(state, fold->row[i].node);
        if (fold->row[i].node != NODE_GONE)
            fold->row[count++] = fold->row[i];
    }
    if (count)
        qsort(fold->row, count, sizeof *fold->row, by_node);
    fold->rows = 0;
    for (uint64_t i = 0; i < count; i++)
        if (fold->rows == 0 || fold->row[fold->rows - 1].node != fold->row[i].node)
            fold->row[fold->rows++] = fold->row[i];
}

enum error_code fold_state_finish(struct fold_state *state, struct error *err)
{
    enum error_code rc = finish_nodes(state, err);
    if (rc == ERROR_NONE)
        rc = fold_graphs_finish(state, err);
    if (rc == ERROR_NONE)
        rc = finish_edges(state, err);
    if (rc == ERROR_NONE)
        finish_rows(state);
    return rc;
}
