#include "stages/infer/source_windows.h"

#include "common/base/arena.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/nn/layers/gat_windows.h"
#include "common/nn/layers/layer.h"
#include "common/nn/operators/aggregation.h"
#include "common/parallel/first_failure.h"
#include "store/features/feature_shard.h"

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
    size_t width; /* of a sum */
    bool is_gat;
    struct gat_windows gat; /* and if so */
    float *scratch;         /* [threads, scratch_size] */
    size_t scratch_size;
    uint64_t rows_ahead; /* read for the terms, and not counted yet */
    uint32_t destination_room, window_room, block_room;
    char *memory; /* the sums and the window, mapped */
    size_t memory_bytes;
    float *sum;          /* [destination_room, width] */
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
    return w->width * sizeof(float) + sizeof *w->cursor;
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
    const uint64_t scratch = w->scratch_size * sizeof *w->scratch;
    const uint64_t terms =
        w->is_gat ? gat_windows_bytes(&w->config.model->layer[w->config.layer], w->node_count) : 0;
    return sizeof *w + terms +
           (uint64_t)thread_pool_size(w->config.pool) * (sizeof *w->piece + values + scratch) +
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

/* Room for sums and the window, unless it is there. */
static enum error_code map_rows(struct source_windows *w, struct error *err)
{
    const size_t sums = (size_t)w->destination_room * w->width;
    if (w->memory)
        return ERROR_NONE;
    w->memory_bytes = (sums + (size_t)w->window_room * w->dim) * sizeof(float);
    w->memory = memory_map(w->memory_bytes);
    if (!w->memory)
        return error_set(err, ERROR_NO_MEMORY, "no memory for sums: %zu bytes", w->memory_bytes);
    w->sum = (float *)(void *)w->memory;
    w->window = w->sum + sums;
    return ERROR_NONE;
}

void source_windows_rest(struct source_windows *windows)
{
    memory_unmap(windows->memory, windows->memory_bytes);
    windows->memory = NULL;
}

static enum error_code allocate(struct source_windows *w, struct error *err)
{
    enum error_code rc = map_rows(w, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->cursor, w->destination_room, "edges of sums", err);
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
    if (rc == ERROR_NONE && w->is_gat)
        rc = memory_new(&w->scratch, (size_t)thread_pool_size(w->config.pool) * w->scratch_size,
                        "shares of edges", err);
    return rc;
}

bool source_windows_are_possible(const struct model *model, int layer)
{
    return model_sums_sources(model, layer) || gat_windows_are_possible(&model->layer[layer]);
}

/* What is held of each destination. */
static void find_width(struct source_windows *w)
{
    const struct model_layer *layer = &w->config.model->layer[w->config.layer];
    w->is_gat = gat_windows_are_possible(layer);
    w->width = w->is_gat ? gat_windows_row(layer) : w->dim;
    w->scratch_size = w->is_gat ? gat_windows_scratch(layer) : 0;
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
    memory_free(windows->scratch);
    gat_windows_release(&windows->gat);
    arena_release(&windows->arena);
    memory_free(windows);
}

uint64_t source_windows_bytes(const struct source_windows *windows)
{
    return bytes_beside(windows) + windows->destination_room * bytes_of_destination(windows) +
           windows->window_room * bytes_of_source(windows);
}

uint64_t source_windows_resting_bytes(const struct source_windows *windows)
{
    return source_windows_bytes(windows) - (windows->destination_room * windows->width +
                                            (uint64_t)windows->window_room * windows->dim) *
                                               sizeof(float);
}

uint32_t source_windows_destinations(const struct source_windows *windows)
{
    return windows->destination_room;
}

size_t source_windows_width(const struct source_windows *windows)
{
    return windows->width;
}

bool source_windows_choose(const struct source_windows *windows)
{
    return windows->is_gat;
}

bool source_windows_take(const struct source_windows *windows, uint32_t destinations,
                         uint32_t sources)
{
    const struct model_layer *layer = &windows->config.model->layer[windows->config.layer];
    return !windows->is_gat || gat_windows_pay(layer, destinations, sources);
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
    if (w->is_gat) { /* each edge has a weight of its own; a node itself comes in the end */
        w->aggregation = (struct aggregation){.skip_self_loops = true};
        return ERROR_NONE;
    }
    return model_weigh_block(w->config.model, w->config.layer, &sources, &w->arena, &w->aggregation,
                             err);
}

static void read_terms_of_block(void *context, int64_t block, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = block ? w->block_end[block - 1] : w->window_first;
    read_block(context, block, thread);
    gat_windows_read(&w->gat, first, w->block_end[block] - first,
                     w->window + (size_t)(first - w->window_first) * w->dim);
}

/* The terms of all nodes: all rows go by once. */
static enum error_code read_terms(struct source_windows *w, struct error *err)
{
    enum error_code rc = gat_windows_init(&w->gat, w->config.model, w->config.weights,
                                          w->config.layer, w->node_count, err);
    for (uint32_t at = 0; rc == ERROR_NONE && at < w->node_count; at = w->window_end) {
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
        place_window(w, at);
        rc = run(w, w->block_count, read_terms_of_block, err);
    }
    w->rows_ahead = w->node_count;
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
    find_width(w);
    rc = share_out(w, err);
    if (rc == ERROR_NONE)
        rc = allocate(w, err);
    if (rc == ERROR_NONE && w->is_gat)
        rc = read_terms(w, err);
    if (rc != ERROR_NONE) {
        source_windows_free(w);
        return rc;
    }
    *out = w;
    return ERROR_NONE;
}

/* Own rows in pieces of this many. */
enum { OWN_ROWS = FEATURE_BLOCK_ROWS };

static void read_own_rows(void *context, int64_t piece, int thread)
{
    struct source_windows *w = context;
    struct error err = {0};
    const uint32_t at = (uint32_t)piece * OWN_ROWS, left = w->window_end - w->window_first - at;
    const uint32_t count = left < OWN_ROWS ? left : OWN_ROWS, first = w->window_first + at;
    float *rows = w->window + (size_t)at * w->dim;
    (void)thread;
    const enum error_code rc =
        feature_source_read(w->config.input, first, first + count, rows, &err);
    if (rc == ERROR_NONE)
        gat_windows_read_own(&w->gat, count, rows, w->sum + (first - w->first) * w->width);
    first_failure_keep(&w->failure, rc, piece, &err);
}

/* The terms of the destinations, from their own rows. */
static enum error_code read_own_terms(struct source_windows *w, uint64_t *row_count,
                                      struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t at = w->first; rc == ERROR_NONE && at < w->end; at = w->window_end) {
        w->window_first = at;
        w->window_end = w->end - at < w->window_room ? w->end : at + w->window_room;
        rc = run(w, ((int64_t)w->window_end - at + OWN_ROWS - 1) / OWN_ROWS, read_own_rows, err);
    }
    *row_count += w->end - w->first;
    return rc;
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

/* The sources of row i from edge *e on that are not i itself, into the piece; false: there are no more. */
static bool take_sources(struct source_windows *w, struct piece *piece, uint32_t i, uint64_t *e,
                         uint32_t *count)
{
    const uint32_t node = w->first + i, row = node - w->part->first_node;
    const uint64_t end = topology_row_start(w->part, row + 1);
    for (*count = 0; *e < end && *count < PIECE_EDGES; ++*e) {
        const uint32_t source = *topology_neighbor(w->part, *e);
        if (source >= w->node_count) {
            row_is_wrong(w, node, source);
            return false;
        }
        if (source != node)
            piece->neighbor[(*count)++] = source;
    }
    return *count > 0;
}

/* What the shares of a destination's edges are made of, from the terms of its sources. */
static void begin_shares(struct source_windows *w, int thread, uint32_t i)
{
    struct piece *piece = &w->piece[thread];
    float *scratch = w->scratch + (size_t)thread * w->scratch_size;
    float *sum = w->sum + (size_t)i * w->width;
    const uint32_t node = w->first + i;
    const uint64_t start = topology_row_start(w->part, node - w->part->first_node);
    uint32_t count = 0;
    gat_windows_begin(&w->gat, node, sum);
    for (uint64_t e = start; take_sources(w, piece, i, &e, &count);)
        gat_windows_greatest(&w->gat, piece->neighbor, count, scratch, sum);
    for (uint64_t e = start; take_sources(w, piece, i, &e, &count);)
        gat_windows_total(&w->gat, piece->neighbor, count, scratch, sum);
    gat_windows_share(&w->gat, node, sum);
}

/* Adds the edges of these destinations from the window by their shares. */
static void add_shared_rows(struct source_windows *w, int thread, uint32_t first, uint32_t end)
{
    struct piece *piece = &w->piece[thread];
    float *scratch = w->scratch + (size_t)thread * w->scratch_size;
    for (uint32_t i = first; i < end; i++) {
        bool is_done = false;
        if (w->window_first == 0)
            begin_shares(w, thread, i);
        while (!is_done) {
            uint32_t count = 0;
            is_done = take_edges(w, piece, NULL, i, &count);
            gat_windows_add(&w->gat, piece->neighbor, count, w->window_first, w->window, scratch,
                            w->sum + (size_t)i * w->width);
        }
    }
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
    if (w->window_first == 0)
        memset(w->cursor + first, 0, (end - first) * sizeof *w->cursor);
    if (w->is_gat) {
        add_shared_rows(w, thread, first, end);
        return;
    }
    if (w->window_first == 0)
        begin_sums(w, first, end);
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
    *row_count += w->rows_ahead;
    w->rows_ahead = 0;
    w->part = &w->config.topology->part[part];
    w->first = first;
    w->end = end;
    enum error_code rc = map_rows(w, err);
    if (rc == ERROR_NONE)
        rc = check_rows(w, false, err);
    if (rc == ERROR_NONE && w->is_gat)
        rc = read_own_terms(w, row_count, err);
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
