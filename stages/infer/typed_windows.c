#include "stages/infer/typed_windows.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/nn/layers/layer.h"
#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/typed/typed_layer.h"
#include "common/parallel/first_failure.h"
#include "common/parallel/thread_pool.h"
#include "stages/infer/relation_window.h"
#include "store/features/feature_source.h"

#include <inttypes.h>
#include <string.h>

/* Of the room so much is for sums: a larger window costs passes over rows of edges, more sums fewer passes over sources. */
enum { SUMS_SHARE = 5, ALL_SHARES = 8 };

static const char what[] = "the sums of relations"; /* wants memory */

struct typed_windows {
    struct typed_windows_config config;
    const struct typed_tiles_config *of;
    struct type_ranges ranges;
    uint32_t relation_count;
    struct relation_window *relation; /* [relation_count] */
    const float **tile_sum;           /* [relation_count]: of the tile taken last */
    struct relation_piece *piece;     /* [threads] */
    char *memory;                     /* of rows, cursors and sums, and behind them the window */
    size_t memory_bytes, window_bytes;
    uint64_t least_window;
    float *row; /* of the window */
    struct typed_window window;
    uint32_t *block_end; /* [block_count] */
    size_t block_count, block_capacity;
    uint32_t at_work; /* the relation */
    struct first_failure failure;
};

bool typed_windows_are_possible(const struct model *model, int layer)
{
    const struct model_types *types = &model->config.types;
    const struct typed_kind *kind = model->layer[layer - 1].typed;
    bool is_stored = true;
    for (uint32_t t = 0; layer == 1 && t < types->schema.type_count; t++)
        is_stored &= !types->projects[t];
    return is_stored && kind && kind->sums;
}

void typed_windows_rest(struct typed_windows *windows)
{
    memory_unmap(windows->memory, windows->memory_bytes);
    windows->memory = NULL;
}

void typed_windows_free(struct typed_windows *windows)
{
    if (!windows)
        return;
    typed_windows_rest(windows);
    memory_free(windows->relation);
    memory_free(windows->tile_sum);
    memory_free(windows->piece);
    memory_free(windows->block_end);
    memory_free(windows);
}

static const struct relation *relation_of(const struct typed_windows *w, uint32_t r)
{
    return partition_book_relation(w->of->context->book, r);
}

static uint64_t row_end(const struct topology_part *part, uint32_t row)
{
    return topology_row_start(part, row + 1);
}

/* --- which rows, and room for them --- */

static uint32_t count_rows(const struct topology_part *part, uint32_t first, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++)
        count += topology_row_start(part, i) < row_end(part, i);
    return count;
}

/* Floats of a row, its place and its cursor. */
static uint64_t row_bytes(const struct relation_window *own)
{
    return own->dim * sizeof(float) + sizeof *own->row + sizeof *own->cursor;
}

/* What the rows first .. end - 1 want in all relations to the type. */
static uint64_t bytes_of_rows(const struct typed_windows *w, uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t r = 0; r < w->relation_count; r++)
        if (w->relation[r].part)
            bytes += count_rows(w->relation[r].part, first, end) * row_bytes(&w->relation[r]);
    return bytes;
}

/* How the rows of a relation are summed; nothing of it is of a row. */
static enum error_code weigh(const struct typed_windows *w, struct relation_window *own,
                             struct arena *arena, struct error *err)
{
    static const uint32_t no_rows[1] = {0};
    static const float some[1] = {0};
    const bool is_weighted = w->of->edge_columns >> EDGE_WEIGHT & 1;
    const struct message_block none = {
        .is_bipartite = true, .row_start = no_rows, .edge_value = is_weighted ? some : NULL};
    struct model_layer layer = w->of->model->layer[w->config.layer - 1];
    layer.input_dim = (uint32_t)own->dim;
    return neighbor_weights(&layer, &none, arena, &own->aggregation, err);
}

static void begin_relations(struct typed_windows *w, uint32_t type, int part)
{
    const struct model_layer *layer = &w->of->model->layer[w->config.layer - 1];
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct relation *relation = relation_of(w, r);
        w->relation[r] =
            (struct relation_window){.source_type = relation->source_type,
                                     .dim = layer->type_input_dim[relation->source_type]};
        if (relation->target_type == type)
            w->relation[r].part = topology_rows(w->of->topology, part, r);
    }
}

static struct feature_source *source_of(const struct typed_windows *w, uint32_t type)
{
    return type_inputs_source(w->config.inputs, type);
}

static uint32_t source_count(const struct typed_windows *w, uint32_t type)
{
    return type_inputs_first(w->config.inputs, type, w->ranges.part_count);
}

static size_t dim_of(const struct typed_windows *w, uint32_t type)
{
    return w->of->model->layer[w->config.layer - 1].type_input_dim[type];
}

/* Bytes of the longest block of rows that go by. */
static uint64_t least_window(const struct typed_windows *w)
{
    uint64_t most = 0;
    for (uint32_t t = 0; t < w->ranges.type_count; t++) {
        const struct feature_source *source = source_of(w, t);
        if (!source || feature_source_is_resident(source))
            continue;
        for (uint32_t first = 0, end = 0; first < source_count(w, t); first = end) {
            end = feature_source_block_end(source, first);
            const uint64_t bytes = (end - first) * (uint64_t)dim_of(w, t) * sizeof(float);
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

enum error_code typed_windows_new(const struct typed_windows_config *config,
                                  struct typed_windows **out, struct error *err)
{
    const struct typed_tiles_config *of = typed_tiles_config_of(config->tiles);
    const size_t threads = (size_t)thread_pool_size(of->context->pool);
    const uint64_t beside = threads * sizeof(struct relation_piece) +
                            partition_book_relations(of->context->book) *
                                (sizeof(struct relation_window) + sizeof(float *));
    struct typed_windows *w = NULL;
    enum error_code rc = memory_new(&w, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    w->config = *config;
    w->of = of;
    w->ranges = partition_book_ranges(of->context->book);
    w->relation_count = partition_book_relations(of->context->book);
    rc = memory_new(&w->relation, w->relation_count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->tile_sum, w->relation_count, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->piece, threads, what, err);
    if (rc != ERROR_NONE) {
        typed_windows_free(w);
        return rc;
    }
    w->least_window = least_window(w);
    w->config.budget_bytes -= beside < config->budget_bytes ? beside : config->budget_bytes;
    *out = w;
    return ERROR_NONE;
}

/* As many tiles as have room; the others' memory is the window. */
static uint32_t choose_rows(struct typed_windows *w, uint32_t type, int part, uint32_t first,
                            uint64_t *bytes)
{
    const uint32_t all = type_ranges_count(&w->ranges, part, type);
    const uint64_t least = w->least_window, budget = w->config.budget_bytes;
    const uint64_t left = budget > least ? budget - least : 0;
    const uint64_t share = budget / ALL_SHARES * SUMS_SHARE, room = share < left ? share : left;
    uint32_t next = first;
    *bytes = 0;
    while (next < all) {
        const uint32_t count = typed_tiles_size(w->config.tiles, type, part, next, all);
        const uint64_t more = bytes_of_rows(w, next, next + count);
        if (*bytes + more > (next == first ? left : room))
            break;
        *bytes += more;
        next += count;
    }
    return next;
}

/* Where the rows of each relation are, with sums of nothing. */
static void place_rows(struct typed_windows *w, uint32_t first, uint32_t end, uint64_t bytes)
{
    float *sum = (float *)(void *)w->memory;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        struct relation_window *own = &w->relation[r];
        own->count = own->part ? count_rows(own->part, first, end) : 0;
        own->is_there = own->count > 0;
        own->sum = sum;
        sum += own->count * own->dim;
    }
    uint32_t *next = (uint32_t *)(void *)sum;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        struct relation_window *own = &w->relation[r];
        own->row = next;
        own->cursor = next + own->count;
        next += 2 * (size_t)own->count;
        uint32_t k = 0;
        for (uint32_t i = first; own->is_there && i < end; i++)
            if (topology_row_start(own->part, i) < row_end(own->part, i)) {
                own->row[k] = i;
                own->cursor[k++] = 0;
            }
        const float none = aggregation_sum_of_none(&own->aggregation, true);
        for (size_t i = 0; i < own->count * own->dim; i++)
            own->sum[i] = none;
    }
    must((char *)next == w->memory + bytes);
    w->row = (float *)(void *)next;
    w->window_bytes = w->memory_bytes - bytes;
}

/* --- a window --- */

static void read_block(void *context, int64_t block, int thread)
{
    struct typed_windows *w = context;
    struct error err = {0};
    const uint32_t first = block ? w->block_end[block - 1] : w->window.first;
    (void)thread;
    const enum error_code rc =
        feature_source_read(source_of(w, w->window.type), first, w->block_end[block],
                            w->row + (first - w->window.first) * w->window.rows.stride, &err);
    first_failure_keep(&w->failure, rc, block, &err);
}

static enum error_code run(struct typed_windows *w, int64_t count, thread_pool_body body,
                           struct error *err)
{
    first_failure_init(&w->failure);
    thread_pool_run(w->of->context->pool, count, body, w);
    return first_failure_end(&w->failure, err);
}

/* As many whole blocks from w->window.first on as there is room for. */
static enum error_code place_window(struct typed_windows *w, struct error *err)
{
    const struct feature_source *source = source_of(w, w->window.type);
    const uint64_t room = w->window_bytes / (dim_of(w, w->window.type) * sizeof(float));
    enum error_code rc = ERROR_NONE;
    w->block_count = 0;
    for (w->window.end = w->window.first;
         rc == ERROR_NONE && w->window.end < source_count(w, w->window.type);) {
        const uint32_t end = feature_source_block_end(source, w->window.end);
        if (end - w->window.first > room)
            break;
        rc = memory_grow(&w->block_end, &w->block_capacity, w->block_count + 1,
                         "the blocks of a window", err);
        if (rc == ERROR_NONE)
            w->block_end[w->block_count++] = w->window.end = end;
    }
    must(rc != ERROR_NONE || w->window.end > w->window.first);
    return rc;
}

/* The window of rows of w->window.type that begins with w->window.first; of a type that is in memory all rows are one. */
static enum error_code read_window(struct typed_windows *w, struct error *err)
{
    const size_t dim = dim_of(w, w->window.type);
    if (stop_signal_seen())
        return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
    if (feature_source_is_resident(source_of(w, w->window.type))) {
        struct feature_rows all;
        w->window.end = source_count(w, w->window.type);
        const enum error_code rc =
            feature_source_fetch(source_of(w, w->window.type), NULL, 0, &all, err);
        w->window.rows = (struct input_rows){.base = all.base, .stride = all.stride};
        return rc;
    }
    w->window.rows = (struct input_rows){.base = w->row, .stride = dim};
    const enum error_code rc = place_window(w, err);
    stage_times_add_rows(w->of->context->times, w->window.end - w->window.first,
                         (w->window.end - w->window.first) * (uint64_t)dim * sizeof(float));
    return rc == ERROR_NONE ? run(w, (int64_t)w->block_count, read_block, err) : rc;
}

/* --- sums --- */

static void add_rows(void *context, int64_t tile, int thread)
{
    struct typed_windows *w = context;
    struct relation_window *own = &w->relation[w->at_work];
    const uint32_t first = (uint32_t)tile * RELATION_WINDOW_TILE, left = own->count - first;
    const uint32_t count = left < RELATION_WINDOW_TILE ? left : RELATION_WINDOW_TILE;
    struct error err = {0};
    const enum error_code rc =
        relation_window_add(own, &w->window, &w->piece[thread], first, first + count, &err);
    first_failure_keep(&w->failure, rc, tile, &err);
}

/* All rows of a source type, for the relations that begin there. */
static enum error_code sum_type(struct typed_windows *w, uint32_t type, struct error *err)
{
    const uint32_t count = source_count(w, type);
    enum error_code rc = ERROR_NONE;
    w->window = (struct typed_window){.ranges = &w->ranges,
                                      .book = type_inputs_book(w->config.inputs, type),
                                      .node_count = w->of->topology->node_count,
                                      .type = type};
    for (w->window.first = 0; rc == ERROR_NONE && w->window.first < count;
         w->window.first = w->window.end) {
        rc = read_window(w, err);
        for (uint32_t r = 0; rc == ERROR_NONE && r < w->relation_count; r++) {
            const struct relation_window *own = &w->relation[r];
            w->at_work = r;
            if (own->is_there && own->source_type == type)
                rc = run(w, ((int64_t)own->count + RELATION_WINDOW_TILE - 1) / RELATION_WINDOW_TILE,
                         add_rows, err);
        }
    }
    return rc;
}

/* --- all of it --- */

/* Rows end where they should. */
static enum error_code check_rows(const struct typed_windows *w, uint32_t first, uint32_t end,
                                  struct error *err)
{
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct topology_part *part = w->relation[r].part;
        for (uint32_t i = first; part && i < end; i++) {
            const uint64_t from = topology_row_start(part, i), to = row_end(part, i);
            if (to < from || to > part->edge_count || to - from > UINT32_MAX)
                return error_set(err, ERROR_CORRUPT,
                                 "topology: row of node %" PRIu32 ": expected edges in order up to "
                                 "%" PRIu64 ", found %" PRIu64 " to %" PRIu64,
                                 part->first_node + i, part->edge_count, from, to);
        }
    }
    return ERROR_NONE;
}

static enum error_code map_rows(struct typed_windows *w, struct error *err)
{
    if (w->memory)
        return ERROR_NONE;
    w->memory_bytes = (size_t)w->config.budget_bytes;
    w->memory = memory_map(w->memory_bytes);
    return w->memory
               ? ERROR_NONE
               : error_set(err, ERROR_NO_MEMORY, "no memory for sums: %zu bytes", w->memory_bytes);
}

static enum error_code sum_types(struct typed_windows *w, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < w->ranges.type_count; t++) {
        bool is_source = false;
        for (uint32_t r = 0; r < w->relation_count; r++)
            is_source |= w->relation[r].is_there && w->relation[r].source_type == t;
        if (is_source)
            rc = sum_type(w, t, err);
    }
    return rc;
}

enum error_code typed_windows_sum(struct typed_windows *windows, uint32_t type, int part,
                                  uint32_t first, uint32_t *summed, struct error *err)
{
    struct typed_windows *w = windows;
    struct arena arena = {0};
    uint64_t bytes = 0;
    begin_relations(w, type, part);
    enum error_code rc = check_rows(w, first, type_ranges_count(&w->ranges, part, type), err);
    *summed = rc == ERROR_NONE ? choose_rows(w, type, part, first, &bytes) : first;
    if (rc != ERROR_NONE || *summed == first)
        return rc;
    rc = map_rows(w, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < w->relation_count; r++)
        rc = weigh(w, &w->relation[r], &arena, err);
    if (rc == ERROR_NONE) {
        place_rows(w, first, *summed, bytes);
        rc = sum_types(w, err);
    }
    arena_release(&arena); /* nothing of it is looked at behind the sums */
    return rc;
}

enum error_code typed_windows_take(const struct typed_windows *windows, struct typed_tile *tile,
                                   struct error *err)
{
    const struct typed_windows *w = windows;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct relation_window *own = &w->relation[r];
        const uint32_t at = relation_window_place(own, tile->span.first);
        const uint32_t rows = tile->block.edges[r].block.destination_count;
        const uint32_t found = relation_window_place(own, tile->span.first + tile->span.count) - at;
        w->tile_sum[r] = own->sum + at * own->dim;
        if (rows != found)
            return error_set(err, ERROR_CORRUPT,
                             "relation %s: expected %" PRIu32 " rows with edges, found %" PRIu32,
                             relation_of(w, r)->name, rows, found);
    }
    tile->sum = w->tile_sum;
    memcpy(tile->sources, tile->destinations, sizeof tile->sources);
    return ERROR_NONE;
}
