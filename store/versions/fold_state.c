#include "store/versions/fold_state.h"

#include "common/base/memory.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/fold_graphs.h"

#include <inttypes.h>
#include <string.h>

void fold_state_release(struct fold_state *state)
{
    memory_free(state->added);
    memory_free(state->alive);
    memory_free(state->number);
    memory_free(state->mark);
    memory_free(state->graph);
    memory_free(state->came);
    memory_free(state->graph_of);
    *state = (struct fold_state){0};
}

/* ---- nodes
 * ------------------------------------------------------------------------------------ */

/* Computes the numbers of the version from the nodes that are removed and alive now. */
static void number_nodes(struct fold_state *state)
{
    struct version_fold *fold = state->fold;
    fold->nodes.gone_node = fold->gone;
    fold->nodes.gone_nodes = state->gone_count;
    fold->nodes.added_nodes = state->alive_count;
    delta_numbers_init(&fold->numbers, &fold->nodes);
}

void fold_state_begin(struct fold_state *state)
{
    struct version_fold *fold = state->fold;
    const struct dataset_schema *base = &fold->base;
    fold->nodes = (struct dataset_delta){.base_nodes = base->node_count,
                                         .relation_count = version_relation_count(base)};
    for (uint32_t t = 0; base->node_type_count > 1 && t < base->node_type_count; t++)
        fold->base_of_type[t] = base->node_type[t].node_count;
    if (base->node_type_count > 1) {
        fold->nodes.type_count = base->node_type_count;
        fold->nodes.base_of_type = fold->base_of_type;
        fold->nodes.added_of_type = fold->added_of_type;
    }
    dataset_reverses(base, &state->reverses);
    number_nodes(state);
}

/* Returns the lasting number of a node of the version before the delta, or of a node that the delta
 * adds. */
static uint32_t lasting(const struct fold_state *state, const struct dataset_delta *delta,
                        uint32_t node)
{
    if (node >= delta->base_nodes)
        return fold_state_base(state) + state->added_count + (node - delta->base_nodes);
    const uint32_t own = delta_numbers_own(&state->fold->numbers, node);
    return own < fold_state_base(state)
               ? own
               : fold_state_base(state) + state->alive[own - fold_state_base(state)];
}

/* Returns whether the delta has the same types and relations as the version before it. */
static bool has_same_types(const struct fold_state *state, const struct dataset_delta *delta)
{
    const struct version_fold *fold = state->fold;
    const struct delta_numbers *numbers = &fold->numbers;
    bool same = delta->type_count == fold->nodes.type_count &&
                delta->relation_count == fold->nodes.relation_count;
    for (uint32_t t = 0; same && t < delta->type_count; t++)
        same = delta->base_of_type[t] == numbers->first[t + 1] - numbers->first[t] &&
               delta->columns_of_type[t] == dataset_type(&fold->base, t).feature_dim;
    return same;
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
    if (!has_same_types(state, delta))
        return error_set(err, ERROR_CORRUPT,
                         "%s: is of other types of nodes or edges than those of %s",
                         delta->view.key, base->id);
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

/* ---- edges and rows
 * ---------------------------------------------------------------------------- */

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
        state->mark[state->mark_count++] = (struct gone_mark){
            .key = fold_state_key(state, lasting(state, delta, delta->gone_target[i]),
                                  lasting(state, delta, delta->gone_source[i])),
            .relation = delta->relation_count ? delta->gone_relation[i] : 0,
            .delta = which};
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->added_edges; i++) {
        const struct fold_edge edge = {.target = lasting(state, delta, delta->target[i]),
                                       .source = lasting(state, delta, delta->source[i]),
                                       .delta = which,
                                       .index = i};
        const uint32_t relation = version_relation_of(fold, &delta->columns, i);
        if (!delta->new_held || !delta->new_held[i])
            fold->edge[fold->added_edges++] = edge;
        else if (relation_is_forward(&state->reverses, relation)) /* no list has reverse edges */
            fold->held[fold->held_edges++] = edge;
    }
    return rc;
}

static enum error_code take_rows(struct fold_state *state, uint32_t which,
                                 const struct dataset_delta *delta, struct error *err)
{
    struct version_fold *fold = state->fold;
    const enum error_code rc =
        memory_grow(&fold->row, &state->row_room, fold->rows + delta->rows, "new rows", err);
    uint64_t first = 0;
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->rows; i++) {
        fold->row[fold->rows++] = (struct fold_row){
            .node = lasting(state, delta, delta->row_node[i]), .delta = which, .first = first};
        first += dataset_delta_columns(delta, delta->row_node[i]);
    }
    return rc;
}

/* Merges more [count] into fold->gone in ascending order. Works backwards, so that it needs no
 * copy. */
static enum error_code merge_gone(struct fold_state *state, const uint32_t *more, uint32_t count,
                                  struct error *err)
{
    const enum error_code rc = memory_grow(&state->fold->gone, &state->gone_room,
                                           (size_t)state->gone_count + count, "nodes that go", err);
    if (rc != ERROR_NONE)
        return rc;
    uint32_t *gone = state->fold->gone, left = state->gone_count, right = count;
    for (uint32_t to = left + right; right; to--)
        gone[to - 1] = left && gone[left - 1] > more[right - 1] ? gone[--left] : more[--right];
    state->gone_count += count;
    return ERROR_NONE;
}

/* Removes nodes: those of the base are added to `gone`, those that were added are taken out of
 * `alive`. */
static enum error_code take_gone(struct fold_state *state, const struct dataset_delta *delta,
                                 struct error *err)
{
    uint32_t *of_base = NULL, count = 0;
    enum error_code rc = memory_new(&of_base, delta->gone_nodes, "nodes that go", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < delta->gone_nodes; i++) {
        const uint32_t own = delta_numbers_own(&state->fold->numbers, delta->gone_node[i]);
        if (own < fold_state_base(state))
            of_base[count++] = own;
        else
            state->alive[own - fold_state_base(state)] = NODE_GONE;
    }
    if (rc == ERROR_NONE)
        rc = merge_gone(state, of_base, count, err);
    memory_free(of_base);
    return rc;
}

/* Appends new nodes to those of their type that are alive. */
static enum error_code take_added(struct fold_state *state, uint32_t which,
                                  const struct dataset_delta *delta, struct error *err)
{
    struct version_fold *fold = state->fold;
    const size_t added = (size_t)state->added_count + delta->added_nodes;
    uint32_t *alive = NULL, count = 0;
    enum error_code rc = memory_grow(&state->added, &state->added_room, added, "new nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&alive, (size_t)state->alive_count + delta->added_nodes, "new nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t t = 0, next = 0; t < fold->numbers.type_count; t++) {
        const uint32_t before = count;
        const uint32_t more = delta->type_count ? delta->added_of_type[t] : delta->added_nodes;
        for (uint32_t i = fold->numbers.added_first[t]; i < fold->numbers.added_first[t + 1]; i++)
            if (state->alive[i] != NODE_GONE)
                alive[count++] = state->alive[i];
        for (uint32_t i = 0; i < more; i++, next++) {
            alive[count++] = state->added_count;
            state->added[state->added_count++] = (struct fold_node){.delta = which, .index = next};
        }
        fold->added_of_type[t] = count - before;
    }
    memory_free(state->alive);
    state->alive = alive;
    state->alive_count = count;
    return ERROR_NONE;
}

static enum error_code take_nodes(struct fold_state *state, uint32_t which,
                                  const struct dataset_delta *delta, struct error *err)
{
    enum error_code rc = take_gone(state, delta, err);
    if (rc == ERROR_NONE)
        rc = take_added(state, which, delta, err);
    if (rc == ERROR_NONE)
        number_nodes(state);
    return rc;
}

/* Takes a delta. Edges and rows come before nodes, because a delta names them by the numbers that
 * it found. */
enum error_code fold_state_take(struct fold_state *state, uint32_t which, struct error *err)
{
    const struct dataset_delta *delta = &state->fold->delta[which];
    enum error_code rc = check_delta(state, delta, err);
    if (rc == ERROR_NONE)
        rc = take_edges(state, which, delta, err);
    if (rc == ERROR_NONE)
        rc = take_rows(state, which, delta, err);
    if (rc == ERROR_NONE)
        rc = fold_graphs_take(state, which, err);
    return rc == ERROR_NONE ? take_nodes(state, which, delta, err) : rc;
}
