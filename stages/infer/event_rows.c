#include "stages/infer/event_rows.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/layers/layer.h"
#include "stages/infer/event_changes.h"
#include "stages/plan/edge_use.h"
#include "stages/sampling/event_history.h"
#include "stages/sampling/graph_row.h"
#include "stages/sampling/sampler.h"
#include "store/features/feature_source.h"

#include <math.h>
#include <string.h>

enum {
    TILE_EDGES = 1 << 18,
    TILE_NODES = 64, /* exactly, so that no bit of a row depends on the rows beside it */
    /* These take 1/2, 1/4 and 1/8 of the budget; the neighbours of a tile have the rest. */
    ROWS_SHARE = 2,
    INPUT_SHARE = 4,
    TILE_SHARE = 8
};

struct node_list {
    uint32_t *node;
    size_t count, capacity;
};

struct event_rows {
    const struct event_rows_config *config;
    struct joined_topology history;
    struct event_changes changes;
    struct neighbor_sampler *sampler;
    struct feature_source *input; /* of layer 1 */
    struct edge_use edge_use;
    struct arena arena;                       /* of a tile */
    float *row[LAYER_COUNT_MAX];              /* [nodes, output width] of each layer, from 0 */
    uint8_t *is_valid[LAYER_COUNT_MAX];       /* [nodes] */
    struct node_list wanted[LAYER_COUNT_MAX]; /* to be computed */
    struct node_list changed;
    uint32_t *mark; /* [nodes] the last list that has the node, by: */
    uint32_t list;
    int64_t now;
    bool has_begun;
};

static const struct model *model_of(const struct event_rows *rows)
{
    return rows->config->model;
}

static const struct topology *topology_of(const struct event_rows *rows)
{
    return &rows->history.topology;
}

/* --- opening --- */

static enum error_code check_room(const struct event_rows *rows, struct error *err)
{
    enum {
        NODE_BYTES = 1 + sizeof(uint32_t)
    }; /* whether a row is valid, and its place in a list */
    const struct topology *topology = topology_of(rows);
    const uint64_t budget = rows->config->budget_bytes;
    uint64_t bytes = event_changes_bytes(topology);
    char want[32], have[32];
    for (int l = 0; l < model_of(rows)->config.layer_count; l++)
        bytes += (uint64_t)topology->node_count *
                 (model_layer_output_dim(model_of(rows), l) * sizeof(float) + NODE_BYTES);
    if (budget == 0 || bytes <= budget / ROWS_SHARE)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "rows of events at their times want %s, the budget for them is %s; " ADVICE
                     "give more "
                     "--memory, or set infer.history to training",
                     text_size(bytes, want), text_size(budget / ROWS_SHARE, have));
}

static enum error_code open_input(struct event_rows *rows, struct error *err)
{
    const struct stage_context *context = rows->config->context;
    const bool is_made = schedule_first_layer(context->schedule) == 0;
    const struct feature_source_config config = {
        .store = context->store,
        .origin = is_made ? FEATURES_OF_INFER_LAYER : FEATURES_OF_PARTITION,
        .id = is_made ? context->run_id : context->book->id,
        .weights = rows->config->identity,
        .part_count = context->book->part_count,
        .book = context->book->book,
        .tensor = is_made ? layer_tensor : "features",
        .budget_bytes = rows->config->budget_bytes / INPUT_SHARE,
        .sharers = context->sharers,
        .pool = context->pool,
    };
    return feature_source_open(&config, &rows->input, err);
}

static enum error_code open_sampler(struct event_rows *rows, struct error *err)
{
    const struct neighbor_sampler_config config = {
        .topology = topology_of(rows),
        .has_self_loops = rows->config->context->book->self_loop_count > 0,
        .budget_bytes = rows->config->budget_bytes / TILE_SHARE,
    };
    return neighbor_sampler_new(&config, &rows->sampler, err);
}

static enum error_code new_rows(struct event_rows *rows, struct error *err)
{
    const size_t nodes = topology_of(rows)->node_count;
    enum error_code rc = memory_new(&rows->mark, nodes, "nodes of events", err);
    for (int l = 0; rc == ERROR_NONE && l < model_of(rows)->config.layer_count; l++) {
        rc = memory_new(&rows->row[l], nodes * model_layer_output_dim(model_of(rows), l),
                        "rows of events", err);
        if (rc == ERROR_NONE)
            rc = memory_new(&rows->is_valid[l], nodes, "rows of events", err);
    }
    return rc;
}

enum error_code event_rows_new(const struct event_rows_config *config, struct event_rows **out,
                               struct error *err)
{
    const struct stage_context *context = config->context;
    struct event_rows *rows = NULL;
    enum error_code rc = memory_new(&rows, 1, "rows of events", err);
    *out = rows;
    if (rc != ERROR_NONE)
        return rc;
    rows->config = config;
    rows->arena.limit = config->budget_bytes / TILE_SHARE;
    rc = edge_use_of(context->settings, config->model, &context->book->edge_width, &rows->edge_use,
                     err);
    if (rc == ERROR_NONE)
        rc = event_history_join(context->store, config->training, config->splits, &rows->history,
                                err);
    if (rc == ERROR_NONE)
        rc = check_room(rows, err);
    if (rc == ERROR_NONE)
        rc = event_changes_init(&rows->changes, topology_of(rows), err);
    if (rc == ERROR_NONE)
        rc = new_rows(rows, err);
    if (rc == ERROR_NONE)
        rc = open_sampler(rows, err);
    return rc == ERROR_NONE ? open_input(rows, err) : rc;
}

void event_rows_free(struct event_rows *rows)
{
    if (!rows)
        return;
    for (int l = 0; l < LAYER_COUNT_MAX; l++) {
        memory_free(rows->row[l]);
        memory_free(rows->is_valid[l]);
        memory_free(rows->wanted[l].node);
    }
    memory_free(rows->changed.node);
    memory_free(rows->mark);
    feature_source_close(rows->input);
    neighbor_sampler_free(rows->sampler);
    arena_release(&rows->arena);
    event_changes_release(&rows->changes);
    joined_topology_close(&rows->history);
    memory_free(rows);
}

/* --- lists of nodes, each once --- */

static void begin_list(struct event_rows *rows, struct node_list *list)
{
    list->count = 0;
    if (++rows->list == 0) {
        memset(rows->mark, 0, topology_of(rows)->node_count * sizeof *rows->mark);
        rows->list = 1;
    }
}

static enum error_code add_node(struct event_rows *rows, struct node_list *list, uint32_t node,
                                struct error *err)
{
    if (rows->mark[node] == rows->list)
        return ERROR_NONE;
    rows->mark[node] = rows->list;
    const enum error_code rc =
        memory_grow(&list->node, &list->capacity, list->count + 1, "nodes of events", err);
    if (rc == ERROR_NONE)
        list->node[list->count++] = node;
    return rc;
}

/* --- what an edge changes --- */

/* Adds the nodes that read `node` by now. */
static enum error_code add_hearers(struct event_rows *rows, uint32_t node, struct error *err)
{
    const struct event_changes *changes = &rows->changes;
    enum error_code rc = ERROR_NONE;
    for (uint64_t e = changes->start[node]; rc == ERROR_NONE && e < changes->start[node + 1]; e++)
        if (changes->heard[e].time < rows->now)
            rc = add_node(rows, &rows->changed, changes->heard[e].node, err);
    return rc;
}

/* Adds those of `layer` to the changed nodes of the layer below. `arrived`: targets of new
 * edges. */
static enum error_code spread(struct event_rows *rows, int layer, const uint32_t *arrived,
                              size_t arrivals, struct error *err)
{
    const size_t below = rows->changed.count;
    const bool weighs_sources = model_of(rows)->needs_degree || rows->edge_use.weight_sum;
    enum error_code rc = ERROR_NONE;
    if (!model_of(rows)->layer[layer].type->uses_edges)
        return ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < below; i++)
        rc = add_hearers(rows, rows->changed.node[i], err);
    for (size_t i = 0; rc == ERROR_NONE && i < arrivals; i++) {
        rc = add_node(rows, &rows->changed, arrived[i], err);
        if (rc == ERROR_NONE && weighs_sources)
            rc = add_hearers(rows, arrived[i], err);
    }
    return rc;
}

static void forget_all(struct event_rows *rows)
{
    rows->changes.next = 0;
    for (int l = 0; l < model_of(rows)->config.layer_count; l++)
        memset(rows->is_valid[l], 0, topology_of(rows)->node_count);
}

enum error_code event_rows_advance(struct event_rows *rows, int64_t time, struct error *err)
{
    struct node_list *arrived = &rows->wanted[0]; /* the last fetch is done with it */
    const bool is_start = !rows->has_begun || time < rows->now;
    uint32_t node = 0;
    enum error_code rc = ERROR_NONE;
    if (is_start)
        forget_all(rows);
    rows->has_begun = true;
    rows->now = time;
    begin_list(rows, arrived);
    while (rc == ERROR_NONE && event_changes_next(&rows->changes, time, &node))
        if (!is_start)
            rc = add_node(rows, arrived, node, err);
    if (rc != ERROR_NONE || arrived->count == 0)
        return rc;
    begin_list(rows, &rows->changed);
    for (int l = 0; rc == ERROR_NONE && l < model_of(rows)->config.layer_count; l++) {
        rc = spread(rows, l, arrived->node, arrived->count, err);
        for (size_t i = 0; i < rows->changed.count; i++)
            rows->is_valid[l][rows->changed.node[i]] = 0;
    }
    return rc;
}

/* --- computing --- */

/* Whether the layer's row of `node` has to be computed; if so it is listed. */
static enum error_code want(struct event_rows *rows, int layer, uint32_t node, struct error *err)
{
    return rows->is_valid[layer][node] ? ERROR_NONE
                                       : add_node(rows, &rows->wanted[layer], node, err);
}

/* Lists what the rows that are wanted of layer `layer` + 1 read of `layer`. */
static enum error_code want_below(struct event_rows *rows, int layer, struct error *err)
{
    const struct node_list *above = &rows->wanted[layer + 1];
    const bool uses_edges = model_of(rows)->layer[layer + 1].type->uses_edges;
    enum error_code rc = ERROR_NONE;
    begin_list(rows, &rows->wanted[layer]);
    for (size_t i = 0; rc == ERROR_NONE && i < above->count; i++) {
        struct graph_row row;
        rc = want(rows, layer, above->node[i], err);
        if (rc == ERROR_NONE && uses_edges)
            rc = graph_row_of(topology_of(rows), above->node[i], &row, err);
        for (uint32_t k = 0; rc == ERROR_NONE && uses_edges && k < row.length; k++) {
            uint32_t source = 0;
            if (graph_row_time(&row, k) >= rows->now)
                continue;
            rc = graph_row_neighbor(topology_of(rows), &row, k, &source, err);
            if (rc == ERROR_NONE)
                rc = want(rows, layer, source, err);
        }
    }
    return rc;
}

/* Returns how many of node [count] go into a tile, by the number of nodes and of their edges. */
static enum error_code tile_size(const struct event_rows *rows, const uint32_t *node, size_t count,
                                 uint32_t *out, struct error *err)
{
    uint64_t edges = 0;
    enum error_code rc = ERROR_NONE;
    for (*out = 0; *out < count && *out < TILE_NODES; (*out)++) {
        struct graph_row row;
        rc = graph_row_of(topology_of(rows), node[*out], &row, err);
        if (rc != ERROR_NONE)
            return rc;
        for (uint32_t k = 0; k < row.length; k++)
            edges += graph_row_time(&row, k) < rows->now;
        if (*out > 0 && edges > TILE_EDGES)
            break;
    }
    return rc;
}

/* Fills the nodes of a tile and the times at which they see their edges. Copies of the last node,
 * which see no edges, fill up the tile. */
static enum error_code fill_tile(struct event_rows *rows, const uint32_t *node, uint32_t count,
                                 uint32_t **tile, int64_t **time, struct error *err)
{
    enum error_code rc = arena_new(&rows->arena, tile, TILE_NODES, "nodes of a tile", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&rows->arena, time, TILE_NODES, "times of nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < TILE_NODES; i++) {
        (*tile)[i] = node[i < count ? i : count - 1];
        (*time)[i] = i < count ? rows->now : INT64_MIN;
    }
    return rc;
}

/* Makes the neighbourhoods of a tile, or its nodes alone for a layer that uses no edges. */
static enum error_code draw(struct event_rows *rows, int layer, const uint32_t *node,
                            uint32_t count, struct mini_batch *batch, struct error *err)
{
    static const int64_t all_neighbors[1] = {FANOUT_ALL};
    int64_t *time = NULL;
    uint32_t *tile = NULL;
    const enum error_code rc = fill_tile(rows, node, count, &tile, &time, err);
    const struct neighbor_request request = {.hop_count = 1,
                                             .fanout = all_neighbors,
                                             .seed_node = tile,
                                             .seed_count = TILE_NODES,
                                             .times = {.seed_time = time, .only_earlier = true},
                                             .wants_degree = model_of(rows)->needs_degree,
                                             .wants_weight_sum = rows->edge_use.weight_sum,
                                             .edge_columns = rows->edge_use.columns};
    *batch = (struct mini_batch){.seed_count = TILE_NODES, .node_count = TILE_NODES, .node = tile};
    return rc == ERROR_NONE && model_of(rows)->layer[layer].type->uses_edges
               ? pipeline_sampler(rows->config->context->settings)
                     ->draw(rows->sampler, &request, batch, err)
               : rc;
}

/* Copies rows of layer `from` of the nodes, one after the other. */
static enum error_code copy_rows(struct event_rows *rows, int from, const uint32_t *node,
                                 uint32_t count, const float **out, struct error *err)
{
    const size_t width = model_layer_output_dim(model_of(rows), from);
    float *copy = NULL;
    const enum error_code rc =
        arena_new(&rows->arena, &copy, count * width, "rows of a layer", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++)
        memcpy(copy + i * width, rows->row[from] + node[i] * width, width * sizeof *copy);
    *out = copy;
    return rc;
}

static enum error_code join_lower(struct event_rows *rows, int layer, const uint32_t *node,
                                  uint32_t count, struct input_rows *out, struct error *err)
{
    const struct model *model = model_of(rows);
    const uint32_t width = model_layer_input_dim(model, layer);
    const float *lower[LAYER_COUNT_MAX];
    size_t stride[LAYER_COUNT_MAX];
    float *joined = NULL;
    enum error_code rc =
        arena_new(&rows->arena, &joined, (size_t)count * width, "joined layers", err);
    for (int l = 0; rc == ERROR_NONE && l < layer; l++) {
        rc = copy_rows(rows, l, node, count, &lower[l], err);
        stride[l] = model_layer_output_dim(model, l);
    }
    if (rc == ERROR_NONE)
        model_join_rows(model, lower, stride, count, joined);
    *out = (struct input_rows){.base = joined, .stride = width};
    return rc;
}

/* Reads the inputs of the layer for the nodes of the batch, whose seeds are its destinations. */
static enum error_code read_input(struct event_rows *rows, int layer,
                                  const struct mini_batch *batch, struct layer_input *input,
                                  struct error *err)
{
    const struct model_layer *kind = &model_of(rows)->layer[layer];
    const uint32_t count = batch->seed_count;
    struct feature_rows found = {0};
    enum error_code rc = ERROR_NONE;
    input->block = batch->hop_count
                       ? mini_batch_block(batch, 0)
                       : (struct message_block){.destination_count = count, .source_count = count};
    if (layer == 0) {
        rc = feature_source_fetch(rows->input, batch->node, batch->node_count, &found, err);
        input->rows = (struct input_rows){
            .base = found.base, .stride = found.stride, .row_index = found.row_index};
    } else {
        input->rows =
            (struct input_rows){.base = rows->row[layer - 1],
                                .stride = model_layer_output_dim(model_of(rows), layer - 1),
                                .row_index = batch->node};
    }
    if (rc == ERROR_NONE && kind->second_input >= 0)
        rc = copy_rows(rows, kind->second_input, batch->node, count, &input->second, err);
    return rc == ERROR_NONE && kind->reads_all
               ? join_lower(rows, layer, batch->node, count, &input->rows, err)
               : rc;
}

static enum error_code compute_tile(struct event_rows *rows, int layer, const uint32_t *node,
                                    uint32_t count, struct error *err)
{
    const struct model *model = model_of(rows);
    const size_t width = model_layer_output_dim(model, layer);
    const struct model_workspace workspace = {.arena = &rows->arena,
                                              .pool = rows->config->context->pool};
    struct mini_batch batch = {0};
    struct layer_input input = {0};
    float *output = NULL;
    arena_reset(&rows->arena);
    enum error_code rc =
        arena_new(&rows->arena, &output, TILE_NODES * width, "a layer's output", err);
    if (rc == ERROR_NONE)
        rc = draw(rows, layer, node, count, &batch, err);
    if (rc == ERROR_NONE)
        rc = read_input(rows, layer, &batch, &input, err);
    if (rc == ERROR_NONE)
        rc =
            model_infer_layer(model, rows->config->weights, layer, &input, &workspace, output, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        memcpy(rows->row[layer] + node[i] * width, output + i * width, width * sizeof *output);
        rows->is_valid[layer][node[i]] = 1;
    }
    return rc;
}

static enum error_code compute_layer(struct event_rows *rows, int layer, struct error *err)
{
    const struct node_list *wanted = &rows->wanted[layer];
    enum error_code rc = ERROR_NONE;
    uint32_t count = 0;
    for (size_t first = 0; rc == ERROR_NONE && first < wanted->count; first += count) {
        rc = tile_size(rows, wanted->node + first, wanted->count - first, &count, err);
        if (rc == ERROR_NONE)
            rc = compute_tile(rows, layer, wanted->node + first, count, err);
    }
    return rc;
}

enum error_code event_rows_fetch(void *opaque, const uint32_t *node, size_t count, float *out,
                                 struct error *err)
{
    struct event_rows *rows = opaque;
    const int last = model_of(rows)->config.layer_count - 1;
    const size_t width = model_layer_output_dim(model_of(rows), last);
    enum error_code rc = ERROR_NONE;
    must(rows->has_begun);
    begin_list(rows, &rows->wanted[last]);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = want(rows, last, node[i], err);
    for (int l = last - 1; rc == ERROR_NONE && l >= 0; l--)
        rc = want_below(rows, l, err);
    for (int l = 0; rc == ERROR_NONE && l <= last; l++)
        rc = compute_layer(rows, l, err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        memcpy(out + i * width, rows->row[last] + node[i] * width, width * sizeof *out);
    return rc;
}
