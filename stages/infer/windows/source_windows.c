#include "stages/infer/windows/source_windows.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "stages/infer/rows/layer_reads.h"
#include "stages/infer/windows/window_kind.h"

#include <inttypes.h>
#include <string.h>

/* The share of the memory that sums get. A smaller share would need more passes over the
 * sources. A larger share would leave a small window, for which every sum is loaded into the
 * cache more often. */
enum { SUMS_SHARE = 5, ALL_SHARES = 8 };

static const char what[] = "windows of sources"; /* names the memory in messages */

/* Returns the kind of a layer; NULL if sums in windows are not possible. */
static const struct window_kind *kind_of(const struct model *model, int layer)
{
    static const struct window_kind *const kinds[] = {&sum_window_kind, &gat_window_kind,
                                                      &gatv2_window_kind, NULL};
    const struct window_kind *const *kind = kinds;
    while (*kind && !(*kind)->is_possible(model, layer - 1))
        kind++;
    return *kind;
}

bool source_windows_are_possible(const struct model *model, int layer)
{
    return kind_of(model, layer) != NULL;
}

bool source_windows_are_always(const struct model *model, int layer)
{
    const struct window_kind *kind = kind_of(model, layer);
    return kind && kind->always;
}

/* --- memory --- */

static struct feature_source *source_of(const struct source_windows *w, uint32_t type)
{
    return type_inputs_source(w->config.inputs, type);
}

uint32_t window_nodes(const struct source_windows *w, uint32_t type)
{
    return type_inputs_book(w->config.inputs, type)[w->ranges.part_count];
}

static uint32_t columns_of(const struct source_windows *w, uint32_t type)
{
    return layer_reads_columns(w->of->model, w->layer_number, type);
}

static uint64_t bytes_of_source(const struct source_windows *w, uint32_t type)
{
    return w->kind->floats(w, columns_of(w, type)).source * sizeof(float);
}

/* Returns whether the rows of a type are read through a window, block by block. Otherwise all
 * its rows are one window, in memory. */
static bool goes_by(const struct source_windows *w, uint32_t type)
{
    return source_of(w, type) &&
           (w->kind->always || !feature_source_is_resident(source_of(w, type)));
}

/* Returns the rows of the longest block of a type. */
static uint32_t longest_block(const struct source_windows *w, uint32_t type)
{
    uint32_t most = 0;
    for (uint32_t first = 0, end = 0; first < window_nodes(w, type); first = end) {
        end = feature_source_block_end(source_of(w, type), first);
        most = end - first > most ? end - first : most;
    }
    return most;
}

/* Returns the most bytes that sums of the destinations of one type in one part take. */
static uint64_t most_sums(const struct source_windows *w)
{
    uint64_t row[RELATION_TYPE_COUNT_MAX] = {0}, most = 0;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct relation *relation = partition_book_relation(w->of->context->book, r);
        row[relation->target_type] += window_row_bytes(w, columns_of(w, relation->source_type));
    }
    for (uint32_t t = 0; t < w->ranges.type_count; t++)
        for (int part = 0; part < w->ranges.part_count; part++) {
            const uint64_t bytes = type_ranges_count(&w->ranges, part, t) * row[t];
            most = bytes > most ? bytes : most;
        }
    return most + WINDOW_ALIGNMENT;
}

/* Divides the budget into fixed memory and `memory`, which sums and window share: the window
 * gets what sums leave. */
static void share_out(struct source_windows *w)
{
    const size_t threads = (size_t)thread_pool_size(w->of->context->pool);
    const uint64_t of_thread = sizeof *w->piece + w->scratch_floats * sizeof *w->scratch;
    const uint64_t of_source = sizeof *w->block_end + w->kind->source_bytes(w);
    uint64_t narrowest = UINT64_MAX, largest = 0, most_window = 0;
    for (uint32_t t = 0; t < w->ranges.type_count; t++) {
        if (!goes_by(w, t))
            continue;
        const uint64_t row = bytes_of_source(w, t);
        const uint32_t longest = longest_block(w, t);
        narrowest = window_smaller(row, narrowest);
        largest = window_nodes(w, t) > largest ? window_nodes(w, t) : largest;
        most_window =
            row * window_nodes(w, t) > most_window ? row * window_nodes(w, t) : most_window;
        w->longest_block = longest > w->longest_block ? longest : w->longest_block;
        w->least_window = longest * row > w->least_window ? longest * row : w->least_window;
    }
    w->beside_bytes = sizeof *w + w->kind->bytes(w) + threads * of_thread +
                      w->relation_count * (sizeof *w->relation + sizeof *w->tile_sum) + 4096;
    const uint64_t left =
        w->config.budget_bytes - window_smaller(w->beside_bytes, w->config.budget_bytes);
    w->source_room =
        largest ? (uint32_t)window_smaller(left / (narrowest + of_source), largest) : 0;
    const uint64_t rows = left - w->source_room * of_source;
    const uint64_t all = window_smaller(rows, most_sums(w) + most_window);
    w->beside_bytes += w->source_room * of_source;
    w->memory_bytes = (size_t)(all - all % WINDOW_ALIGNMENT);
    w->sums_room = rows / ALL_SHARES * SUMS_SHARE;
    if (w->memory_bytes - window_smaller(most_window, w->memory_bytes) > w->sums_room)
        w->sums_room = w->memory_bytes - most_window;
}

/* Maps the memory for sums and window, unless it is mapped. */
static enum error_code map_rows(struct source_windows *w, struct error *err)
{
    if (w->memory)
        return ERROR_NONE;
    w->memory = memory_map(w->memory_bytes);
    if (!w->memory)
        return error_set(err, ERROR_NO_MEMORY, "no memory for sums: %zu bytes", w->memory_bytes);
    w->window = (float *)(void *)w->memory;
    w->held_type = UINT32_MAX;
    return ERROR_NONE;
}

void source_windows_rest(struct source_windows *windows)
{
    memory_unmap(windows->memory, windows->memory_bytes);
    windows->memory = NULL;
}

static enum error_code allocate(struct source_windows *w, struct error *err)
{
    const size_t threads = (size_t)thread_pool_size(w->of->context->pool);
    enum error_code rc = memory_new(&w->block_end, w->source_room, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->piece, threads, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&w->tile_sum, w->relation_count, what, err);
    if (rc == ERROR_NONE && w->scratch_floats)
        rc = memory_new(&w->scratch, threads * w->scratch_floats, what, err);
    return rc;
}

/* Sets the fields of the relations that do not depend on the destinations. */
static enum error_code find_relations(struct source_windows *w, struct error *err)
{
    const enum error_code rc = memory_new(&w->relation, w->relation_count, what, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < w->relation_count; r++) {
        struct relation_window *own = &w->relation[r];
        own->source_type = partition_book_relation(w->of->context->book, r)->source_type;
        own->columns = columns_of(w, own->source_type);
        const struct window_floats floats = w->kind->floats(w, own->columns);
        own->width = floats.destination;
        w->scratch_floats = floats.scratch > w->scratch_floats ? floats.scratch : w->scratch_floats;
    }
    return rc;
}

void window_begin_type(struct source_windows *w, uint32_t type)
{
    w->source_type = type;
    w->rows =
        (struct input_rows){.base = w->window, .stride = bytes_of_source(w, type) / sizeof(float)};
}

/* Returns whether a block fits beside sums. */
static bool has_room(const struct source_windows *w)
{
    return w->memory_bytes > w->least_window && w->source_room >= w->longest_block;
}

static enum error_code open_windows(struct source_windows *w, struct error *err)
{
    enum error_code rc = allocate(w, err);
    if (rc == ERROR_NONE)
        rc = map_rows(w, err);
    window_begin_type(w, 0);
    return rc == ERROR_NONE ? w->kind->open(w, err) : rc;
}

enum error_code source_windows_new(const struct source_windows_config *config,
                                   struct source_windows **out, struct error *err)
{
    const struct inference_tiles_config *of = inference_tiles_config_of(config->tiles);
    struct source_windows *w = NULL;
    enum error_code rc = memory_new(&w, 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    *w = (struct source_windows){.config = *config,
                                 .of = of,
                                 .kind = kind_of(of->model, config->layer),
                                 .layer = &of->model->layer[config->layer - 1],
                                 .layer_number = config->layer - 1,
                                 .lists_rows = layer_reads_listed_rows(of->model),
                                 .ranges = partition_book_ranges(of->context->book),
                                 .relation_count = partition_book_relations(of->context->book),
                                 .held_type = UINT32_MAX};
    must(w->kind);
    rc = find_relations(w, err);
    if (rc == ERROR_NONE)
        share_out(w);
    if (rc == ERROR_NONE && has_room(w))
        rc = open_windows(w, err);
    else if (rc == ERROR_NONE && w->kind->always)
        rc = window_has_no_room(w, 1, 0, err);
    if (rc == ERROR_NONE && has_room(w))
        *out = w;
    else
        source_windows_free(w);
    return rc;
}

void source_windows_free(struct source_windows *windows)
{
    if (!windows)
        return;
    windows->kind->release(windows);
    source_windows_rest(windows);
    memory_free(windows->relation);
    memory_free(windows->tile_sum);
    memory_free(windows->block_end);
    memory_free(windows->piece);
    memory_free(windows->scratch);
    memory_free(windows);
}

uint64_t source_windows_bytes(const struct source_windows *windows)
{
    return windows->beside_bytes + windows->memory_bytes;
}

uint64_t source_windows_resting_bytes(const struct source_windows *windows)
{
    return windows->beside_bytes;
}

uint64_t source_windows_rows(const struct source_windows *windows)
{
    return windows->rows_read;
}

/* --- windows --- */

enum error_code window_run(struct source_windows *w, int64_t count, thread_pool_body body,
                           struct error *err)
{
    first_failure_init(&w->failure);
    thread_pool_run(w->of->context->pool, count, body, w);
    return first_failure_end(&w->failure, err);
}

uint32_t window_room(const struct source_windows *w)
{
    return (uint32_t)window_smaller(
        (w->memory_bytes - w->sums_bytes) / (w->rows.stride * sizeof(float)), w->source_room);
}

void window_place(struct source_windows *w, uint32_t first)
{
    const uint32_t room = window_room(w), count = window_nodes(w, w->source_type);
    w->window_first = w->window_end = first;
    w->block_count = 0;
    while (w->window_end < count) {
        const uint32_t end = feature_source_block_end(source_of(w, w->source_type), w->window_end);
        if (end - first > room)
            break;
        w->block_end[w->block_count++] = w->window_end = end;
    }
    must(w->window_end > first);
}

bool window_read_rows(struct source_windows *w, uint32_t first, uint32_t end, int64_t tile,
                      float *out)
{
    struct error err = {0};
    const enum error_code rc =
        feature_source_read(source_of(w, w->source_type), first, end, out, &err);
    first_failure_keep(&w->failure, rc, tile, &err);
    return rc == ERROR_NONE;
}

void window_count_rows(struct source_windows *w, uint32_t type, uint32_t count)
{
    w->rows_read += count;
    stage_times_add_rows(w->of->context->times, count,
                         count * (uint64_t)columns_of(w, type) * sizeof(float));
}

/* Makes one window of the rows that are in memory. */
static enum error_code take_all_rows(struct source_windows *w, struct error *err)
{
    struct feature_rows all = {0};
    const enum error_code rc =
        feature_source_fetch(source_of(w, w->source_type), NULL, 0, &all, err);
    w->window_first = 0;
    w->window_end = window_nodes(w, w->source_type);
    w->rows = (struct input_rows){.base = all.base, .stride = all.stride};
    return rc;
}

/* Reads the window from `first` on. A window that holds all rows of the type is kept. */
static enum error_code read_window(struct source_windows *w, uint32_t first, struct error *err)
{
    if (stop_signal_seen())
        return error_set(err, ERROR_UNAVAILABLE, "stopped inside a part");
    if (!goes_by(w, w->source_type))
        return take_all_rows(w, err);
    window_place(w, first);
    if (w->held_type == w->source_type)
        return ERROR_NONE;
    const enum error_code rc = window_run(w, w->block_count, w->kind->read, err);
    const bool is_all = first == 0 && w->window_end == window_nodes(w, w->source_type);
    w->held_type = rc == ERROR_NONE && is_all ? w->source_type : UINT32_MAX;
    w->weighed = UINT32_MAX;
    window_count_rows(w, w->source_type, w->window_end - w->window_first);
    return rc;
}

static void add_tile(void *context, int64_t tile, int thread)
{
    struct source_windows *w = context;
    const uint32_t first = (uint32_t)tile * WINDOW_TILE, count = window_relation(w)->count;
    w->kind->add(w, thread, first, count - first < WINDOW_TILE ? count : first + WINDOW_TILE);
}

/* Adds the sources in the window for the current relation. */
static enum error_code add_window(struct source_windows *w, struct error *err)
{
    const int64_t tiles = ((int64_t)window_relation(w)->count + WINDOW_TILE - 1) / WINDOW_TILE;
    enum error_code rc = ERROR_NONE;
    if (w->kind->arrive && (w->weighed != w->at_work || w->held_type != w->source_type)) {
        rc = w->kind->arrive(w, err);
        w->weighed = w->at_work;
    }
    return rc == ERROR_NONE ? window_run(w, tiles, add_tile, err) : rc;
}

/* Reads all rows of a type, and adds them for all relations that begin there. */
static enum error_code sum_type(struct source_windows *w, uint32_t type, struct error *err)
{
    const uint32_t count = window_nodes(w, type);
    enum error_code rc = ERROR_NONE;
    if (count == 0)
        return error_set(err, ERROR_CORRUPT,
                         "topology: expected nodes of type %s, found edges alone",
                         partition_book_type_name(w->of->context->book, type));
    window_begin_type(w, type);
    for (uint32_t at = 0; rc == ERROR_NONE && at < count; at = w->window_end) {
        rc = read_window(w, at, err);
        for (w->at_work = 0; rc == ERROR_NONE && w->at_work < w->relation_count; w->at_work++)
            if (window_relation(w)->count && window_relation(w)->source_type == type)
                rc = add_window(w, err);
    }
    return rc;
}

/* --- all windows --- */

static enum error_code sum_rows(struct source_windows *w, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    w->at_work = 0;
    window_begin_type(w, window_relation(w)->source_type);
    if (w->kind->begin)
        rc = w->kind->begin(w, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < w->ranges.type_count; t++) {
        bool is_source = false;
        for (uint32_t r = 0; r < w->relation_count; r++)
            is_source |= w->relation[r].count && w->relation[r].source_type == t;
        if (is_source)
            rc = sum_type(w, t, err);
    }
    return rc;
}

enum error_code source_windows_sum(struct source_windows *windows,
                                   const struct inference_span *first, uint32_t end,
                                   uint32_t *summed, struct error *err)
{
    struct source_windows *w = windows;
    uint64_t bytes = 0;
    enum error_code rc = window_rows_choose(w, first, end, summed, &bytes, err);
    if (rc != ERROR_NONE || *summed == first->first)
        return rc;
    rc = map_rows(w, err);
    if (rc != ERROR_NONE)
        return rc;
    w->sums_bytes = (size_t)bytes;
    if (w->held_type != UINT32_MAX &&
        window_nodes(w, w->held_type) * bytes_of_source(w, w->held_type) > w->memory_bytes - bytes)
        w->held_type = UINT32_MAX;
    window_rows_place(w, first->first, *summed);
    return sum_rows(w, err);
}
