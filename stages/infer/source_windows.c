#include "stages/infer/source_windows.h"

#include "common/base/arena.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/nn/operators/aggregation.h"
#include "common/parallel/first_failure.h"

#include <inttypes.h>
#include <string.h>

/* Destinations that a thread takes at a time, and edges that it gathers before their rows are added. */
enum { TILE_DESTINATIONS = 256, PIECE_EDGES = 8192 };
/* Of the room for rows so much is for sums: a larger window costs passes over the sources, a smaller one has every sum
 * brought from memory more often. */
enum { SUMS_SHARE = 5, ALL_SHARES = 8 };

/* What a thread gathers: edges to rows of the window, by destination. */
struct piece {
    uint32_t row_start[TILE_DESTINATIONS + 1];
    uint32_t neighbor[PIECE_EDGES]; /* rows of the window */
};

struct source_windows {
    struct source_windows_config config;
    uint32_t dim, node_count;
    uint32_t destination_room, window_room, block_room;
    char *memory; /* the sums and the window, mapped */
    size_t memory_bytes;
    float *sum;          /* [destination_room, dim] */
    float *window;       /* [window_room, dim] */
    uint32_t *cursor;    /* [destination_room]: edges of each row that were added */
    uint32_t *degree;    /* [window_room], where the layer asks for it */
    float *value_sum;    /* likewise */
    uint32_t *block_end; /* [block_room]: of the blocks of the window */
    struct piece *piece; /* [threads] */
    float *
        value; /* [threads, PIECE_EDGES]: of these edges, where they count by their weights; else NULL */
    struct arena arena; /* the weights of a window's sources */

    /* The call, and its window: */
    const struct topology_part *part;
    uint32_t first, end;               /* destinations */
    uint32_t window_first, window_end; /* sources */
    uint32_t block_count;
    struct aggregation aggregation;

    struct first_failure failure; /* of its threads */
};

/* Whether edges count by their weights. */
static bool is_weighted(const struct source_windows *w)
{
    return w->config.edge_use.columns >> EDGE_WEIGHT & 1;
}

static uint64_t bytes_of_destination(const struct source_windows *w)
{
    return w->dim * sizeof(float) + sizeof *w->cursor;
}

/* Beside its row a source has a degree, and the weights that come of it. */
static uint64_t bytes_of_source(const struct source_windows *w)
{
    const bool weighs = w->config.model->needs_degree;
    return w->dim * sizeof(float) + sizeof *w->block_end +
           (weighs ? sizeof *w->degree + 2 * sizeof(float) : 0) +
           (w->config.edge_use.weight_sum ? sizeof *w->value_sum : 0);
}

static uint64_t bytes_beside(const struct source_windows *w)
{
    const uint64_t parts = (uint64_t)w->config.topology->part_count;
    const uint64_t values = is_weighted(w) ? PIECE_EDGES * sizeof *w->value : 0;
    return sizeof *w + (uint64_t)thread_pool_size(w->config.pool) * (sizeof *w->piece + values) +
           (parts + 2) * sizeof *w->block_end + 4096;
}

/* The widest block: rows that a window must have room for. */
static uint32_t least_window(const struct source_windows *w)
{
    uint32_t most = 0;
    for (uint32_t node = 0, end = 0; node < w->node_count; node = end) {
        end = feature_source_block_end(w->config.input, node);
        most = end - node > most ? end - node : most;
    }
    return most;
}

static uint32_t at_most(uint64_t count, uint32_t most)
{
    return count < most ? (uint32_t)count : most;
}

static enum error_code share_out(struct source_windows *w, struct error *err)
{
    const struct source_windows_config *config = &w->config;
    const uint64_t beside = bytes_beside(w), least = least_window(w);
    const uint64_t wanted =
        beside + config->destinations_least * bytes_of_destination(w) + least * bytes_of_source(w);
    char wanted_text[32], budget_text[32];
    if (wanted > config->budget_bytes)
        return error_set(
            err, ERROR_NO_MEMORY,
            "the sums of %" PRIu32 " nodes and a block of the rows that layer %d reads "
            "want %s, the budget is %s; give more --memory",
            config->destinations_least, config->layer + 1, text_size(wanted, wanted_text),
            text_size(config->budget_bytes, budget_text));
    const uint64_t rows = config->budget_bytes - beside;
    const uint64_t for_window = least * bytes_of_source(w);
    uint64_t for_sums = rows / ALL_SHARES * SUMS_SHARE;
    for_sums = for_sums < rows - for_window ? for_sums : rows - for_window;
    w->destination_room = at_most(for_sums / bytes_of_destination(w), config->destinations_most);
    if (w->destination_room < config->destinations_least)
        w->destination_room = config->destinations_least;
    w->window_room = at_most(
        (rows - w->destination_room * bytes_of_destination(w)) / bytes_of_source(w), w->node_count);
    w->block_room = w->window_room;
    return ERROR_NONE;
}

static enum error_code allocate(struct source_windows *w, struct error *err)
{
    const size_t sums = (size_t)w->destination_room * w->dim;
    w->memory_bytes = (sums + (size_t)w->window_room * w->dim) * sizeof(float);
    w->memory = memory_map(w->memory_bytes);
    if (!w->memory)
        return error_set(err, ERROR_NO_MEMORY, "no memory for sums: %zu bytes", w->memory_bytes);
    w->sum = (float *)(void *)w->memory;
    w->window = w->sum + sums;
    enum error_code rc = memory_new(&w->cursor, w->destination_room, "edges of sums", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->block_end, w->block_room, "the blocks of a window", err);
    if (rc == ERROR_NONE && w->config.model->needs_degree)
        rc = memory_new(&w->degree, w->window_room, "degrees", err);
    if (rc == ERROR_NONE && w->config.edge_use.weight_sum)
        rc = memory_new(&w->value_sum, w->window_room, "sums of weights", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->piece, (size_t)thread_pool_size(w->config.pool), "edges", err);
    if (rc == ERROR_NONE && is_weighted(w))
        rc = memory_new(&w->value, (size_t)thread_pool_size(w->config.pool) * PIECE_EDGES,
                        "weights of edges", err);
    return rc;
}

enum error_code source_windows_new(const struct source_windows_config *config,
                                   struct source_windows **out, struct error *err)
{
    struct source_windows *w = NULL;
    enum error_code rc = memory_new(&w, 1, "windows of sources", err);
    if (rc != ERROR_NONE)
        return rc;
    w->config = *config;
    w->dim = model_layer_input_dim(config->model, config->layer);
    w->node_count = config->topology->node_count;
    rc = share_out(w, err);
    if (rc == ERROR_NONE)
        rc = allocate(w, err);
    if (rc != ERROR_NONE) {
        source_windows_free(w);
        return rc;
    }
    *out = w;
    return ERROR_NONE;
}

void source_windows_free(struct source_windows *windows)
{
    if (!windows)
        return;
    memory_unmap(windows->memory, windows->memory_bytes);
    memory_free(windows->cursor);
    memory_free(windows->block_end);
    memory_free(windows->degree);
    memory_free(windows->value_sum);
    memory_free(windows->piece);
    memory_free(windows->value);
    arena_release(&windows->arena);
    memory_free(windows);
}

uint64_t source_windows_bytes(const struct source_windows *windows)
{
    return bytes_beside(windows) + windows->destination_room * bytes_of_destination(windows) +
           windows->window_room * bytes_of_source(windows);
}

uint32_t source_windows_destinations(const struct source_windows *windows)
{
    return windows->destination_room;
}

static enum error_code run(struct source_windows *w, int64_t count, thread_pool_body body,
                           struct error *err)
{
    first_failure_init(&w->failure);
    thread_pool_run(w->config.pool, count, body, w);
    return first_failure_end(&w->failure, err);
}

/* --- reading a window --- */

/* As many whole blocks as there is room for. */
static void place_window(struct source_windows *w, uint32_t first)
{
    w->window_first = w->window_end = first;
    w->block_count = 0;
    while (w->window_end < w->node_count) {
        const uint32_t end = feature_source_block_end(w->config.input, w->window_end);
        if (end - first > w->window_room)
            break;
        w->block_end[w->block_count++] = w->window_end = end;
    }
}

/* And the sums of weights, where they are asked for. */
static void find_degrees(const struct source_windows *w, uint32_t first, uint32_t end)
{
    const struct topology *topology = w->config.topology;
    const struct topology_part *part = &topology->part[topology_part_of(topology, first)];
    for (uint32_t node = first; node < end; node++)
        w->degree[node - w->window_first] =
            topology_degree(part, node - part->first_node, w->config.has_self_loops);
    for (uint32_t node = first; w->value_sum && node < end; node++)
        w->value_sum[node - w->window_first] = *topology_weight_sum(part, node - part->first_node);
}

static void read_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    struct error err = {0};
    const uint32_t first = block ? w->block_end[block - 1] : w->window_first;
    const uint32_t end = w->block_end[block];
    (void)thread;
    const enum error_code rc = feature_source_read(
        w->config.input, first, end, w->window + (size_t)(first - w->window_first) * w->dim, &err);
    first_failure_keep(&w->failure, rc, block, &err);
    if (rc == ERROR_NONE && w->degree)
        find_degrees(w, first, end); /* a block is of one part */
}

static enum error_code read_window(struct source_windows *w, struct error *err)
{
    static const uint32_t no_rows[1] = {0};
    const struct message_block sources = {.source_count = w->window_end - w->window_first,
                                          .row_start = no_rows,
                                          .degree = w->degree,
                                          .edge_value = w->value,
                                          .value_sum = w->value_sum};
    const enum error_code rc = run(w, w->block_count, read_block, err);
    if (rc != ERROR_NONE)
        return rc;
    arena_reset(&w->arena);
    return model_weigh_block(w->config.model, w->config.layer, &sources, &w->arena, &w->aggregation,
                             err);
}

/* --- adding it --- */

static void row_is_wrong(struct source_windows *w, uint32_t node, uint32_t found)
{
    struct error err = {0};
    const enum error_code rc =
        error_set(&err, ERROR_CORRUPT,
                  "topology: row of node %" PRIu32 ": expected sources below %" PRIu32
                  ", ascending, found %" PRIu32,
                  node, w->node_count, found);
    first_failure_keep(&w->failure, rc, node, &err);
}

/* Gathers the edges of destination i to the window, behind the `count` that are there; false: there is no more room. */
static bool take_edges(struct source_windows *w, struct piece *piece, float *value, uint32_t i,
                       uint32_t *count)
{
    const uint32_t node = w->first + i, row = node - w->part->first_node;
    const uint64_t start = topology_row_start(w->part, row);
    const uint64_t end = topology_row_start(w->part, row + 1);
    const bool skips = w->aggregation.skip_self_loops;
    uint64_t e = start + w->cursor[i];
    for (; e < end; e++) {
        const uint32_t source = *topology_neighbor(w->part, e);
        if (source >= w->window_end)
            break;
        if (source < w->window_first) {
            row_is_wrong(w, node, source);
            break;
        }
        if (*count == PIECE_EDGES)
            break;
        if (skips && source == node)
            continue;
        if (value)
            memcpy(&value[*count], topology_column(w->part, EDGE_WEIGHT, e), sizeof *value);
        piece->neighbor[(*count)++] = source - w->window_first;
    }
    w->cursor[i] = (uint32_t)(e - start);
    return *count < PIECE_EDGES;
}

/* Adds the edges of the destinations from `first` on, until the piece is full; returns the first that has some left. */
static uint32_t add_piece(struct source_windows *w, int thread, uint32_t first, uint32_t end)
{
    struct piece *piece = &w->piece[thread];
    float *value = w->value ? w->value + (size_t)thread * PIECE_EDGES : NULL;
    const struct input_rows input = {.base = w->window, .stride = w->dim};
    uint32_t count = 0, i = first;
    bool has_room = true;
    for (; i < end && has_room; i++) {
        piece->row_start[i - first] = count;
        has_room = take_edges(w, piece, value, i, &count);
    }
    piece->row_start[i - first] = count;
    const struct message_block block = {.destination_count = i - first,
                                        .source_count = w->window_end - w->window_first,
                                        .row_start = piece->row_start,
                                        .neighbor = piece->neighbor};
    struct aggregation aggregation = w->aggregation;
    aggregation.edge_value = w->aggregation.edge_value ? value : NULL; /* the kind's own choice */
    aggregation_add(&aggregation, &block, &input, w->dim, 0, i - first,
                    w->sum + (size_t)first * w->dim);
    return has_room ? i : i - 1;
}

static void begin_sums(struct source_windows *w, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const uint32_t row = w->first + i - w->part->first_node;
        const bool has_edges =
            topology_row_start(w->part, row) < topology_row_start(w->part, row + 1);
        const float none = aggregation_sum_of_none(&w->aggregation, has_edges);
        float *sum = w->sum + (size_t)i * w->dim;
        for (uint32_t c = 0; c < w->dim; c++)
            sum[c] = none;
    }
}

static void add_tile(void *context, int64_t tile, int thread)
{
    struct source_windows *w = context;
    uint32_t first = (uint32_t)tile * TILE_DESTINATIONS;
    const uint32_t count = w->end - w->first;
    const uint32_t end = count - first < TILE_DESTINATIONS ? count : first + TILE_DESTINATIONS;
    if (w->window_first == 0) {
        begin_sums(w, first, end);
        memset(w->cursor + first, 0, (end - first) * sizeof *w->cursor);
    }
    while (first < end)
        first = add_piece(w, thread, first, end);
}

/* Rows end where they should, and no edge is left behind the last window. */
static enum error_code check_rows(const struct source_windows *w, bool done, struct error *err)
{
    for (uint32_t i = 0; i < w->end - w->first; i++) {
        const uint32_t row = w->first + i - w->part->first_node;
        const uint64_t start = topology_row_start(w->part, row);
        const uint64_t end = topology_row_start(w->part, row + 1);
        if (end < start || end > w->part->edge_count || end - start > UINT32_MAX)
            return error_set(err, ERROR_CORRUPT,
                             "topology: row of node %" PRIu32 ": expected edges in order up to "
                             "%" PRIu64 ", found %" PRIu64 " to %" PRIu64,
                             w->first + i, w->part->edge_count, start, end);
        if (done && w->cursor[i] != end - start)
            return error_set(err, ERROR_CORRUPT,
                             "topology: row of node %" PRIu32 ": expected sources below %" PRIu32
                             ", found %" PRIu32,
                             w->first + i, w->node_count,
                             *topology_neighbor(w->part, start + w->cursor[i]));
    }
    return ERROR_NONE;
}

enum error_code source_windows_sum(struct source_windows *windows, int part, uint32_t first,
                                   uint32_t end, const float **sum, uint64_t *row_count,
                                   struct error *err)
{
    struct source_windows *w = windows;
    must(end > first && end - first <= w->destination_room);
    w->part = &w->config.topology->part[part];
    w->first = first;
    w->end = end;
    enum error_code rc = check_rows(w, false, err);
    for (uint32_t at = 0; rc == ERROR_NONE && at < w->node_count; at = w->window_end) {
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        place_window(w, at);
        rc = read_window(w, err);
        if (rc == ERROR_NONE)
            rc = run(w, ((int64_t)(end - first) + TILE_DESTINATIONS - 1) / TILE_DESTINATIONS,
                     add_tile, err);
        *row_count += w->window_end - w->window_first;
    }
    if (rc == ERROR_NONE)
        rc = check_rows(w, true, err);
    *sum = w->sum;
    return rc;
}
