#include "store/versions/fold_state.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_NODES = 64 };

void fold_state_release(struct fold_state *state)
{
    memory_free(state->added);
    memory_free(state->alive);
    memory_free(state->number);
    memory_free(state->mark);
    *state = (struct fold_state){0};
}

/* ---- nodes on the way ------------------------------------------------------------------------- */

static uint32_t base_nodes(const struct fold_state *state)
{
    return state->fold->base.node_count;
}

/* The node of the base behind `gone` [count] of which `node` nodes stay. */
static uint32_t select_node(const uint32_t *gone, uint32_t count, uint32_t node)
{
    uint32_t low = 0, high = count; /* how many gone ones stand before it */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (gone[middle] - middle > node)
            high = middle;
        else
            low = middle + 1;
    }
    return node + low;
}

uint32_t version_fold_origin(const struct version_fold *fold, uint32_t node)
{
    return select_node(fold->gone, fold->gone_nodes, node);
}

/* The lasting number of a node of the version before the delta, or of one that it adds. */
static uint32_t lasting(const struct fold_state *state, const struct dataset_delta *delta,
                        uint32_t node)
{
    const uint32_t stay = base_nodes(state) - state->gone_count;
    if (node < stay)
        return select_node(state->fold->gone, state->gone_count, node);
    if (node < delta->base_nodes)
        return base_nodes(state) + state->alive[node - stay];
    return base_nodes(state) + state->added_count + (node - delta->base_nodes);
}

static enum error_code check_delta(const struct fold_state *state,
                                   const struct dataset_delta *delta, struct error *err)
{
    const struct dataset_schema *base = &state->fold->base;
    const uint64_t nodes = (uint64_t)base->node_count - state->gone_count + state->alive_count;
    const struct task *task = version_label_task(base);
    const uint32_t width = task ? task->label_width(base->class_count) : 0;
    if (delta->base_nodes != nodes)
        return error_set(err, ERROR_CORRUPT,
                         "%s: is of a version of %" PRIu32 " nodes, expected %" PRIu64,
                         delta->view.key, delta->base_nodes, nodes);
    if ((uint64_t)base->node_count + state->added_count + delta->added_nodes >= NODE_GONE)
        return error_set(err, ERROR_CORRUPT, "%s: expected nodes of all versions below 2^32",
                         delta->view.key);
    if ((delta->added_nodes && delta->label_width != width) ||
        (delta->rows && delta->feature_dim != base->feature_dim) ||
        (delta->added_edges && !edge_widths_equal(&delta->columns.width, &base->edge_width)))
        return error_set(err, ERROR_CORRUPT,
                         "%s: labels, rows or edges are of other columns than those of %s",
                         delta->view.key, base->id);
    if (delta->added_nodes &&
        (base->node_id_form == NODE_ID_STRING) != (delta->new_ids.offset != NULL))
        return error_set(err, ERROR_CORRUPT, "%s: ids are of another form than those of %s",
                         delta->view.key, base->id);
    return ERROR_NONE;
}

/* ---- edges and rows on the way ------------------------------------------------------------------ */

/* All edges of the same ends; those of an undirected graph by the larger end first. */
static uint64_t key_of(const struct fold_state *state, uint32_t target, uint32_t source)
{
    const bool swap = state->fold->base.undirected && source > target;
    return swap ? (uint64_t)source << 32 | target : (uint64_t)target << 32 | source;
}

static enum error_code take_edges(struct fold_state *state, uint32_t which,
                                  const struct dataset_delta *delta, struct error *err)
{
    struct version_fold *fold = state->fold;
    enum error_code rc = memory_grow(&state->mark, &state->mark_room,
                                     state->mark_count + delta->gone_edges, "edges that go", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&fold->edge, &state->edge_room, fold->added_edges + delta->added_edges,
                         "new edges", err);
    if (rc == ERROR_NONE && delta->new_held)
        rc = memory_grow(&fold->held, &state->held_room, fold->held_edges + delta->added_edges,
                         "held-out edges", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->gone_edges; i++)
        state->mark[state->mark_count++] =
            (struct gone_mark){.key = key_of(state, lasting(state, delta, delta->gone_target[i]),
                                             lasting(state, delta, delta->gone_source[i])),
                               .delta = which};
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->added_edges; i++) {
        const struct fold_edge edge = {.target = lasting(state, delta, delta->target[i]),
                                       .source = lasting(state, delta, delta->source[i]),
                                       .delta = which,
                                       .index = i};
        if (delta->new_held && delta->new_held[i])
            fold->held[fold->held_edges++] = edge;
        else
            fold->edge[fold->added_edges++] = edge;
    }
    return rc;
}

static enum error_code take_rows(struct fold_state *state, uint32_t which,
                                 const struct dataset_delta *delta, struct error *err)
{
    struct version_fold *fold = state->fold;
    const enum error_code rc =
        memory_grow(&fold->row, &state->row_room, fold->rows + delta->rows, "new rows", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->rows; i++)
        fold->row[fold->rows++] = (struct fold_row){
            .node = lasting(state, delta, delta->row_node[i]), .delta = which, .index = i};
    return rc;
}

/* Nodes of the base that go, into fold->gone, which stays ascending: from behind. */
static enum error_code take_gone_of_base(struct fold_state *state,
                                         const struct dataset_delta *delta, uint32_t count,
                                         struct error *err)
{
    uint32_t *more = NULL;
    enum error_code rc = memory_new(&more, count, "nodes that go", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&state->fold->gone, &state->gone_room, (size_t)state->gone_count + count,
                         "nodes that go", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        more[i] = lasting(state, delta, delta->gone_node[i]);
    if (rc == ERROR_NONE) {
        uint32_t *gone = state->fold->gone, left = state->gone_count, right = count;
        for (uint32_t to = left + right; right; to--)
            gone[to - 1] = left && gone[left - 1] > more[right - 1] ? gone[--left] : more[--right];
        state->gone_count += count;
    }
    memory_free(more);
    return rc;
}

static enum error_code take_nodes(struct fold_state *state, uint32_t which,
                                  const struct dataset_delta *delta, struct error *err)
{
    const uint32_t stay = base_nodes(state) - state->gone_count;
    uint32_t of_base = 0, kept = 0, next = 0;
    while (of_base < delta->gone_nodes && delta->gone_node[of_base] < stay)
        of_base++;
    next = of_base;
    for (uint32_t i = 0; i < state->alive_count; i++) { /* added ones that go */
        const bool goes = next < delta->gone_nodes && delta->gone_node[next] == stay + i;
        next += goes;
        if (!goes)
            state->alive[kept++] = state->alive[i];
    }
    const enum error_code rc = take_gone_of_base(state, delta, of_base, err);
    const size_t added = (size_t)state->added_count + delta->added_nodes;
    state->alive_count = kept;
    if (rc != ERROR_NONE)
        return rc;
    enum error_code grown = memory_grow(&state->added, &state->added_room, added, "new nodes", err);
    if (grown == ERROR_NONE)
        grown = memory_grow(&state->alive, &state->alive_room, (size_t)kept + delta->added_nodes,
                            "new nodes", err);
    for (uint32_t i = 0; grown == ERROR_NONE && i < delta->added_nodes; i++) {
        state->alive[state->alive_count++] = state->added_count;
        state->added[state->added_count++] = (struct fold_node){.delta = which, .index = i};
    }
    return grown;
}

/* Edges and rows are told in the numbers from before the nodes change. */
enum error_code fold_state_take(struct fold_state *state, uint32_t which, struct error *err)
{
    const struct dataset_delta *delta = &state->fold->delta[which];
    enum error_code rc = check_delta(state, delta, err);
    if (rc == ERROR_NONE)
        rc = take_edges(state, which, delta, err);
    if (rc == ERROR_NONE)
        rc = take_rows(state, which, delta, err);
    return rc == ERROR_NONE ? take_nodes(state, which, delta, err) : rc;
}

/* ---- the end: nodes ----------------------------------------------------------------------------- */

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
    fold->stay = fold->base.node_count - fold->gone_nodes;
    fold->added_nodes = state->alive_count;
    fold->node_count = fold->stay + fold->added_nodes;
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
        state->number[state->alive[i]] = fold->stay + i;
    }
    return ERROR_NONE;
}

/* What a node of a lasting number is in the version. */
static uint32_t number_of(const struct fold_state *state, uint32_t node)
{
    return node < base_nodes(state) ? version_fold_number(state->fold, node)
                                    : state->number[node - base_nodes(state)];
}

/* ---- the end: edges ------------------------------------------------------------------------------ */

/* Of one key the newest first. */
static int by_key(const void *left, const void *right)
{
    const struct gone_mark *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->delta > b->delta ? -1 : a->delta < b->delta;
}

static int by_number(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Whether edges of the key that came with `delta` are gone: a delta removes before it adds. */
static bool is_removed(const struct fold_state *state, uint64_t key, uint32_t delta)
{
    uint64_t low = 0, high = state->mark_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (state->mark[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < state->mark_count && state->mark[low].key == key && state->mark[low].delta > delta;
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
        const bool again = i && state->mark[i - 1].key == key;
        if (again || target >= base_nodes(state) || source >= base_nodes(state))
            continue;
        fold->gone_edge[count++] = key;
        if (fold->base.undirected && source != target)
            fold->gone_edge[count++] = (uint64_t)source << 32 | target;
    }
    if (fold->base.undirected && count)
        qsort(fold->gone_edge, count, sizeof *fold->gone_edge, by_number);
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

/* Those that are there, each where it lies, of an undirected graph both ways. */
static enum error_code place_edges(struct fold_state *state, struct error *err)
{
    struct version_fold *fold = state->fold;
    uint64_t count = 0;
    const uint64_t all = fold->added_edges;
    const enum error_code rc =
        memory_grow(&fold->edge, &state->edge_room, 2 * all, "new edges", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < all; i++) {
        struct fold_edge edge = fold->edge[i];
        const uint64_t key = key_of(state, edge.target, edge.source);
        edge.target = number_of(state, edge.target);
        edge.source = number_of(state, edge.source);
        if (edge.target == NODE_GONE || edge.source == NODE_GONE ||
            (fold->skips_self_loops && edge.target == edge.source) ||
            is_removed(state, key, edge.delta))
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

/* Held-out ones that are there. */
static void place_held(struct fold_state *state)
{
    struct version_fold *fold = state->fold;
    uint64_t count = 0;
    for (uint64_t i = 0; i < fold->held_edges; i++) {
        struct fold_edge edge = fold->held[i];
        const uint64_t key = key_of(state, edge.target, edge.source);
        const uint32_t target = number_of(state, edge.target),
                       source = number_of(state, edge.source);
        const bool turns = fold->base.undirected && source > target;
        if (target == NODE_GONE || source == NODE_GONE || is_removed(state, key, edge.delta))
            continue;
        edge.target = turns ? source : target;
        edge.source = turns ? target : source;
        fold->held[count++] = edge;
    }
    if (count)
        qsort(fold->held, count, sizeof *fold->held, by_ends);
    fold->held_edges = count;
}

/* Edges of the same ends by the columns that distinguish them; equal ones stay in order. */
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

/* ---- the end: rows -------------------------------------------------------------------------------- */

/* Of one node the newest first. */
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
        rc = finish_edges(state, err);
    if (rc == ERROR_NONE)
        finish_rows(state);
    return rc;
}
