#include "stages/infer/source_windows.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "stages/infer/windows/window_kind.h"

#include <inttypes.h>
#include <string.h>

/* Of the room for rows so much is for sums: a larger window costs passes over the sources, a smaller one has every sum
 * brought from memory more often. */
enum { SUMS_SHARE = 5, ALL_SHARES = 8 };

/* NULL: none. */
static const struct window_kind *kind_of(const struct model *model, int layer)
{
    static const struct window_kind *const kinds[] = {&sum_window_kind, &gat_window_kind,
                                                      &gatv2_window_kind, NULL};
    const struct window_kind *const *kind = kinds;
    while (*kind && !(*kind)->is_possible(model, layer))
        kind++;
    return *kind;
}

bool source_windows_are_possible(const struct model *model, int layer)
{
    return kind_of(model, layer) != NULL;
}

bool source_windows_sum_all(const struct model *model, int layer)
{
    const struct window_kind *kind = kind_of(model, layer);
    return kind && kind->sums_all;
}

bool source_windows_are_always(const struct model *model, int layer)
{
    const struct window_kind *kind = kind_of(model, layer);
    return kind && kind->always;
}

/* --- memory --- */

static uint64_t bytes_of_destination(const struct source_windows *w)
{
    return w->floats.destination * sizeof(float) + sizeof *w->cursor;
}

static uint64_t bytes_of_source(const struct source_windows *w)
{
    return w->floats.source * sizeof(float) + sizeof *w->block_end + w->kind->source_bytes(w);
}

static uint64_t bytes_beside(const struct source_windows *w)
{
    const uint64_t parts = (uint64_t)w->config.topology->part_count;
    const uint64_t of_thread = sizeof *w->piece + w->floats.scratch * sizeof *w->scratch;
    return sizeof *w + w->kind->bytes(w) + (uint64_t)thread_pool_size(w->config.pool) * of_thread +
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
            "want %s, the budget is %s; " ADVICE "give more --memory",
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
    const size_t sums = (size_t)w->destination_room * w->floats.destination;
    if (w->memory)
        return ERROR_NONE;
    w->memory_bytes = (sums + (size_t)w->window_room * w->floats.source) * sizeof(float);
    w->memory = memory_map(w->memory_bytes);
    if (!w->memory)
        return error_set(err, ERROR_NO_MEMORY, "no memory for sums: %zu bytes", w->memory_bytes);
    w->sum = (float *)(void *)w->memory;
    w->window = w->sum + sums;
    w->is_read = false;
    return ERROR_NONE;
}

void source_windows_rest(struct source_windows *windows)
{
    memory_unmap(windows->memory, windows->memory_bytes);
    windows->memory = NULL;
}

static enum error_code allocate(struct source_windows *w, struct error *err)
{
    const size_t threads = (size_t)thread_pool_size(w->config.pool);
    enum error_code rc = map_rows(w, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->cursor, w->destination_room, "edges of sums", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->block_end, w->block_room, "the blocks of a window", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->piece, threads, "edges", err);
    if (rc == ERROR_NONE && w->floats.scratch)
        rc = memory_new(&w->scratch, threads * w->floats.scratch, "rows and shares of edges", err);
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
    w->kind = kind_of(config->model, config->layer);
    must(w->kind);
    w->layer = &config->model->layer[config->layer];
    w->dim = model_layer_input_dim(config->model, config->layer);
    w->node_count = config->topology->node_count;
    w->floats = w->kind->floats(w);
    rc = share_out(w, err);
    if (rc == ERROR_NONE)
        rc = allocate(w, err);
    if (rc == ERROR_NONE)
        rc = w->kind->open(w, err);
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
    windows->kind->release(windows);
    memory_unmap(windows->memory, windows->memory_bytes);
    memory_free(windows->cursor);
    memory_free(windows->block_end);
    memory_free(windows->piece);
    memory_free(windows->scratch);
    memory_free(windows);
}

uint64_t source_windows_bytes(const struct source_windows *windows)
{
    return bytes_beside(windows) + windows->destination_room * bytes_of_destination(windows) +
           windows->window_room * bytes_of_source(windows);
}

uint64_t source_windows_resting_bytes(const struct source_windows *windows)
{
    return source_windows_bytes(windows) -
           (windows->destination_room * windows->floats.destination +
            (uint64_t)windows->window_room * windows->floats.source) *
               sizeof(float);
}

uint32_t source_windows_destinations(const struct source_windows *windows)
{
    return windows->destination_room;
}

size_t source_windows_width(const struct source_windows *windows)
{
    return windows->floats.destination;
}

bool source_windows_choose(const struct source_windows *windows)
{
    return !windows->kind->sums_all;
}

bool source_windows_take(const struct source_windows *windows, uint32_t destinations,
                         uint32_t sources)
{
    return windows->kind->sums_all || gat_windows_pay(windows->layer, destinations, sources);
}

/* --- windows --- */

enum error_code window_run(struct source_windows *w, int64_t count, thread_pool_body body,
                           struct error *err)
{
    first_failure_init(&w->failure);
    thread_pool_run(w->config.pool, count, body, w);
    return first_failure_end(&w->failure, err);
}

void window_place(struct source_windows *w, uint32_t first)
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

bool window_read_rows(struct source_windows *w, uint32_t first, uint32_t end, int64_t tile,
                      float *out)
{
    struct error err = {0};
    const enum error_code rc = feature_source_read(w->config.input, first, end, out, &err);
    first_failure_keep(&w->failure, rc, tile, &err);
    return rc == ERROR_NONE;
}

/* The window from `first` on; one that holds all rows stays. */
static enum error_code read_window(struct source_windows *w, uint32_t first, uint64_t *row_count,
                                   struct error *err)
{
    if (stop_signal_seen())
        return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
    window_place(w, first);
    if (w->is_read)
        return ERROR_NONE;
    enum error_code rc = window_run(w, w->block_count, w->kind->read, err);
    if (rc == ERROR_NONE && w->kind->arrive)
        rc = w->kind->arrive(w, err);
    w->is_read = rc == ERROR_NONE && first == 0 && w->window_end == w->node_count;
    *row_count += w->window_end - w->window_first;
    return rc;
}

static void add_tile(void *context, int64_t tile, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = (uint32_t)tile * WINDOW_TILE, count = w->end - w->first;
    const uint32_t end = count - first < WINDOW_TILE ? count : first + WINDOW_TILE;
    if (w->window_first == 0)
        memset(w->cursor + first, 0, (end - first) * sizeof *w->cursor);
    w->kind->add(w, thread, first, end);
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
    if (rc == ERROR_NONE && w->kind->begin)
        rc = w->kind->begin(w, row_count, err);
    for (uint32_t at = 0; rc == ERROR_NONE && at < w->node_count; at = w->window_end) {
        rc = read_window(w, at, row_count, err);
        if (rc == ERROR_NONE)
            rc = window_run(w, ((int64_t)(end - first) + WINDOW_TILE - 1) / WINDOW_TILE, add_tile,
                            err);
    }
    if (rc == ERROR_NONE)
        rc = check_rows(w, true, err);
    *sum = w->sum;
    return rc;
}
