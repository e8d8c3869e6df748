#include "stages/infer/outputs/event_rows.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/layers/layer.h"
#include "stages/infer/outputs/event_changes.h"
#include "stages/infer/rows/inference_tile.h"
#include "stages/infer/rows/type_inputs.h"
#include "stages/plan/model/edge_use.h"
#include "stages/sampling/rows/event_history.h"
#include "stages/sampling/rows/graph_row.h"
#include "stages/sampling/samplers/sampler.h"

#include <math.h>
#include <string.h>

enum {
    TILE_EDGES = 1 << 18,
    /* always exactly, so that no bit of a row depends on the other rows of the tile */
    TILE_NODES = 64,
    /* Rows, inputs and a tile get these shares of the budget; the neighbours of a tile get the
     * rest. */
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
    struct type_inputs *input; /* input rows of layer 1 */
    struct type_ranges ranges;
    int64_t *all_neighbors; /* [relations]: fan-outs */
    struct edge_use edge_use;
    struct inference_tile tile;               /* the current tile */
    struct arena arena;                       /* memory of the tile */
    float *row[LAYER_COUNT_MAX];              /* [nodes, output width] of each layer, from 0 */
    uint8_t *is_valid[LAYER_COUNT_MAX];       /* [nodes] */
    struct node_list wanted[LAYER_COUNT_MAX]; /* rows to be computed */
    struct node_list changed, of_type;
    uint32_t *mark; /* [nodes]: number of the last list that has the node */
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
    enum { NODE_BYTES = 1 + sizeof(uint32_t) }; /* a valid flag and a place in a list */
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
    const struct type_inputs_config config = {
        .context = rows->config->context,
        .model = model_of(rows),
        .identity = rows->config->identity,
        .layer = 1,
        .budget_bytes = rows->config->budget_bytes / INPUT_SHARE,
    };
    return type_inputs_open(&config, &rows->input, err);
}

static enum error_code open_sampler(struct event_rows *rows, struct error *err)
{
    const struct neighbor_sampler_config config = {
        .topology = topology_of(rows),
        .book = rows->config->context->book,
        .has_self_loops = rows->config->context->book->self_loop_count > 0,
        .budget_bytes = rows->config->budget_bytes / TILE_SHARE,
    };
    return neighbor_sampler_new(&config, &rows->sampler, err);
}

static enum error_code new_rows(struct event_rows *rows, struct error *err)
{
    const size_t nodes = topology_of(rows)->node_count;
    const uint32_t relations = topology_relations(topology_of(rows));
    enum error_code rc = memory_new(&rows->mark, nodes, "nodes of events", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&rows->all_neighbors, relations, "fan-outs of relations", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
        rows->all_neighbors[r] = FANOUT_ALL;
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
    rows->ranges = partition_book_ranges(context->book);
    rows->arena.limit = config->budget_bytes / TILE_SHARE;
    rc = edge_use_of(context->settings, config->model, &context->book->edge_width, &rows->edge_use,
                     err);
    if (rc == ERROR_NONE)
        rc = event_history_join(context->store, context->book, config->training, config->splits,
                                &rows->history, err);
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
    memory_free(rows->of_type.node);
    memory_free(rows->mark);
    memory_free(rows->all_neighbors);
    type_inputs_close(rows->input);
    neighbor_sampler_free(rows->sampler);
    arena_release(&rows->arena);
    event_changes_release(&rows->changes);
    joined_topology_close(&rows->history);
    memory_free(rows);
}

/* --- lists of distinct nodes --- */

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

/* --- the effects of an edge --- */

/* Adds the nodes that hear from `node` at the current time. */
static enum error_code add_hearers(struct event_rows *rows, uint32_t node, struct error *err)
{
    const struct event_changes *changes = &rows->changes;
    enum error_code rc = ERROR_NONE;
    for (uint64_t e = changes->start[node]; rc == ERROR_NONE && e < changes->start[node + 1]; e++)
        if (changes->heard[e].time < rows->now)
            rc = add_node(rows, &rows->changed, changes->heard[e].node, err);
    return rc;
}

/* Adds the nodes whose rows of `layer` change to the changed nodes of the layer below.
 * `arrived`: targets of new edges. */
static enum error_code spread(struct event_rows *rows, int layer, const uint32_t *arrived,
                              size_t arrivals, struct error *err)
{
    const size_t below = rows->changed.count;
    const bool weighs_sources = model_of(rows)->needs_degree || model_of(rows)->divides_by_ends ||
                                rows->edge_use.weight_sum;
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
    struct node_list *arrived = &rows->wanted[0]; /* free between two fetches */
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

/* Lists the layer's row of `node` if it must be computed. */
static enum error_code want(struct event_rows *rows, int layer, uint32_t node, struct error *err)
{
    return rows->is_valid[layer][node] ? ERROR_NONE
                                       : add_node(rows, &rows->wanted[layer], node, err);
}

/* Writes the row of a node in a relation, which is empty if the relation ends in another type. */
static enum error_code row_of(const struct event_rows *rows, uint32_t relation, uint32_t node,
                              struct graph_row *out, struct error *err)
{
    *out = (struct graph_row){.length = 0};
    return graph_row_is_there(topology_of(rows), relation, node)
               ? graph_row_of_relation(topology_of(rows), relation, node, out, err)
               : ERROR_NONE;
}

/* Lists the rows of `layer` that a node reads over a relation at the current time. */
static enum error_code want_sources(struct event_rows *rows, int layer, uint32_t relation,
                                    uint32_t node, struct error *err)
{
    struct graph_row row;
    enum error_code rc = row_of(rows, relation, node, &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t source = 0;
        if (graph_row_time(topology_of(rows), &row, k) >= rows->now)
            continue;
        rc = graph_row_neighbor(topology_of(rows), &row, k, &source, err);
        if (rc == ERROR_NONE)
            rc = want(rows, layer, source, err);
    }
    return rc;
}

/* Lists the rows of `layer` that the wanted rows of layer `layer` + 1 read. */
static enum error_code want_below(struct event_rows *rows, int layer, struct error *err)
{
    const struct node_list *above = &rows->wanted[layer + 1];
    const bool uses_edges = model_of(rows)->layer[layer + 1].type->uses_edges;
    const uint32_t relations = uses_edges ? topology_relations(topology_of(rows)) : 0;
    enum error_code rc = ERROR_NONE;
    begin_list(rows, &rows->wanted[layer]);
    for (size_t i = 0; rc == ERROR_NONE && i < above->count; i++) {
        rc = want(rows, layer, above->node[i], err);
        for (uint32_t r = 0; rc == ERROR_NONE && r < relations; r++)
            rc = want_sources(rows, layer, r, above->node[i], err);
    }
    return rc;
}

/* Adds the number of edges that a node sees at the current time to *edges. */
static enum error_code count_edges(const struct event_rows *rows, uint32_t node, uint64_t *edges,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < topology_relations(topology_of(rows)); r++) {
        struct graph_row row;
        rc = row_of(rows, r, node, &row, err);
        for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++)
            *edges += graph_row_time(topology_of(rows), &row, k) < rows->now;
    }
    return rc;
}

/* Finds how many of node [count] go into a tile. The number of nodes and of edges limits it. */
static enum error_code tile_size(const struct event_rows *rows, const uint32_t *node, size_t count,
                                 uint32_t *out, struct error *err)
{
    uint64_t edges = 0;
    enum error_code rc = ERROR_NONE;
    for (*out = 0; *out < count && *out < TILE_NODES; (*out)++) {
        rc = count_edges(rows, node[*out], &edges, err);
        if (rc != ERROR_NONE || (*out > 0 && edges > TILE_EDGES))
            break;
    }
    return rc;
}

/* Fills in the nodes of a tile and the times at which they see edges. Copies of the last node,
 * which see no edges, fill the rest. */
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

/* Draws the neighbourhoods of a tile's nodes. A layer without edges gets the nodes only. */
static enum error_code draw(struct event_rows *rows, int layer, const uint32_t *node,
                            uint32_t count, struct inference_tile *tile, struct error *err)
{
    const struct model *model = model_of(rows);
    struct relation_edges *edges = NULL;
    int64_t *time = NULL;
    uint32_t *seed = NULL;
    enum error_code rc = fill_tile(rows, node, count, &seed, &time, err);
    const struct neighbor_request request = {.hop_count = model->layer[layer].type->uses_edges,
                                             .fanout = rows->all_neighbors,
                                             .seed_node = seed,
                                             .seed_count = TILE_NODES,
                                             .times = {.seed_time = time, .only_earlier = true},
                                             .wants_degree = model->needs_degree,
                                             .wants_ends = model->divides_by_ends,
                                             .wants_weight_sum = rows->edge_use.weight_sum,
                                             .edge_columns = rows->edge_use.columns};
    if (rc == ERROR_NONE)
        rc = pipeline_sampler(rows->config->context->settings)
                 ->draw(rows->sampler, &request, &tile->batch, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < rows->ranges.type_count; t++)
        tile->sources[t] = mini_batch_known(&tile->batch, t, request.hop_count);
    if (rc != ERROR_NONE || request.hop_count == 0)
        return rc;
    rc = arena_new(&rows->arena, &edges, mini_batch_relations(&tile->batch), "relations of a tile",
                   err);
    if (rc == ERROR_NONE)
        mini_batch_relation_block(&tile->batch, 0, tile->destinations, tile->sources, edges,
                                  &tile->block);
    return rc;
}

/* Copies the rows of layer `from` for the tile's own nodes, one after the other. */
static enum error_code copy_rows(struct event_rows *rows, int from,
                                 const struct inference_tile *tile, const float **out,
                                 struct error *err)
{
    const size_t width = model_layer_output_dim(model_of(rows), from);
    const uint32_t *node = tile->batch.node + mini_batch_node_begin(&tile->batch, tile->span.type);
    float *copy = NULL;
    const enum error_code rc =
        arena_new(&rows->arena, &copy, TILE_NODES * width, "rows of a layer", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < TILE_NODES; i++)
        memcpy(copy + i * width, rows->row[from] + node[i] * width, width * sizeof *copy);
    *out = copy;
    return rc;
}

/* Reads feature rows. They are multiplied as they are, even if they are mostly zero. */
static enum error_code read_features(struct event_rows *rows, struct inference_tile *tile,
                                     struct error *err)
{
    const enum error_code rc = type_inputs_fetch(rows->input, tile, err);
    for (uint32_t t = 0; t < rows->ranges.type_count; t++)
        tile->rows[t].mostly_zero = false;
    return rc;
}

/* Reads the rows that the layer reads of the tile's nodes. */
static enum error_code read_input(struct event_rows *rows, int layer, struct inference_tile *tile,
                                  struct error *err)
{
    const struct model *model = model_of(rows);
    const float *lower[LAYER_COUNT_MAX] = {NULL};
    enum error_code rc = layer == 0 ? read_features(rows, tile, err) : ERROR_NONE;
    for (uint32_t t = 0; layer > 0 && t < rows->ranges.type_count; t++)
        tile->rows[t] = (struct input_rows){.base = rows->row[layer - 1],
                                            .stride = model_layer_output_dim(model, layer - 1),
                                            .row_index = tile->batch.node +
                                                         mini_batch_node_begin(&tile->batch, t)};
    for (int l = 0; rc == ERROR_NONE && l < layer; l++)
        if (model->layer[layer].reads_all || model->layer[layer].second_input == l)
            rc = copy_rows(rows, l, tile, &lower[l], err);
    return rc == ERROR_NONE ? inference_tile_add_lower(tile, model, layer + 1, lower, err) : rc;
}

/* Computes the rows of node [count] of one type. */
static enum error_code compute_tile(struct event_rows *rows, int layer, uint32_t type,
                                    const uint32_t *node, uint32_t count, struct error *err)
{
    const struct model *model = model_of(rows);
    const size_t width = model_layer_output_dim(model, layer);
    const struct model_workspace workspace = {.arena = &rows->arena,
                                              .pool = rows->config->context->pool};
    struct inference_tile *tile = &rows->tile;
    float *output = NULL;
    memset(tile, 0, sizeof *tile);
    tile->span = (struct inference_span){.type = type, .count = TILE_NODES};
    tile->is_drawn = true;
    tile->destinations[type] = TILE_NODES;
    tile->arena = &rows->arena;
    arena_reset(&rows->arena);
    enum error_code rc =
        arena_new(&rows->arena, &output, TILE_NODES * width, "a layer's output", err);
    if (rc == ERROR_NONE)
        rc = draw(rows, layer, node, count, tile, err);
    if (rc == ERROR_NONE)
        rc = read_input(rows, layer, tile, err);
    const struct typed_layer_input input = {.block = tile->block.edges ? &tile->block : NULL,
                                            .count = tile->destinations,
                                            .start = tile->has_start ? tile->start : NULL,
                                            .rows = tile->rows};
    if (rc == ERROR_NONE)
        rc = model_infer_types(model, rows->config->weights, layer, &input, type, &workspace,
                               output, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        memcpy(rows->row[layer] + node[i] * width, output + i * width, width * sizeof *output);
        rows->is_valid[layer][node[i]] = 1;
    }
    return rc;
}

static uint32_t type_of(const struct event_rows *rows, uint32_t node)
{
    return type_ranges_type(&rows->ranges, type_ranges_part(&rows->ranges, node), node);
}

/* Lists the nodes of one type whose rows the layer must compute. */
static enum error_code choose_type(struct event_rows *rows, int layer, uint32_t type,
                                   struct error *err)
{
    const struct node_list *wanted = &rows->wanted[layer];
    struct node_list *chosen = &rows->of_type;
    chosen->count = 0;
    const enum error_code rc =
        memory_grow(&chosen->node, &chosen->capacity, wanted->count, "nodes of events", err);
    for (size_t i = 0; rc == ERROR_NONE && i < wanted->count; i++)
        if (type_of(rows, wanted->node[i]) == type)
            chosen->node[chosen->count++] = wanted->node[i];
    return rc;
}

static enum error_code compute_layer(struct event_rows *rows, int layer, struct error *err)
{
    const struct node_list *chosen = &rows->of_type;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < rows->ranges.type_count; t++) {
        uint32_t count = 0;
        rc = choose_type(rows, layer, t, err);
        for (size_t first = 0; rc == ERROR_NONE && first < chosen->count; first += count) {
            rc = tile_size(rows, chosen->node + first, chosen->count - first, &count, err);
            if (rc == ERROR_NONE)
                rc = compute_tile(rows, layer, t, chosen->node + first, count, err);
        }
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
