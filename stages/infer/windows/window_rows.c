/*
 * Chooses the destinations that are summed together, and places their sums.
 */
#include "common/base/text.h"
#include "stages/infer/windows/window_kind.h"

#include <inttypes.h>
#include <string.h>

/* Counts a sum, its cursor and, if blocks list rows, its row number. */
uint64_t window_row_bytes(const struct source_windows *w, uint32_t columns)
{
    return w->kind->floats(w, columns).destination * sizeof(float) +
           (w->lists_rows ? 2 : 1) * sizeof(uint32_t);
}

enum error_code window_has_no_room(const struct source_windows *w, uint32_t count, uint64_t bytes,
                                   struct error *err)
{
    char wanted[32], budget[32];
    return error_set(err, ERROR_NO_MEMORY,
                     "the sums of %" PRIu32 " nodes and a block of the rows that layer %d reads "
                     "want %s, the budget is %s; " ADVICE "give more --memory",
                     count, w->config.layer,
                     text_size(w->beside_bytes + w->least_window + bytes, wanted),
                     text_size(w->config.budget_bytes, budget));
}

static bool has_edges(const struct topology_part *part, uint32_t row)
{
    return topology_row_start(part, row) < topology_row_start(part, row + 1);
}

/* Returns how many of the rows first .. end - 1 have a sum in the relation. */
static uint32_t count_rows(const struct source_windows *w, const struct topology_part *part,
                           uint32_t first, uint32_t end)
{
    uint32_t count = w->lists_rows ? 0 : end - first;
    for (uint32_t row = first; w->lists_rows && row < end; row++)
        count += has_edges(part, row);
    return count;
}

static uint64_t bytes_of_rows(const struct source_windows *w, uint32_t first, uint32_t end)
{
    uint64_t bytes = 0;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct relation_window *own = &w->relation[r];
        if (own->part)
            bytes += count_rows(w, own->part, first, end) * window_row_bytes(w, own->columns);
    }
    return bytes;
}

/* Checks that the rows of all relations have valid ends. */
static enum error_code check_rows(const struct source_windows *w, uint32_t first, uint32_t end,
                                  struct error *err)
{
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct topology_part *part = w->relation[r].part;
        for (uint32_t i = first; part && i < end; i++) {
            const uint64_t from = topology_row_start(part, i), to = topology_row_start(part, i + 1);
            if (to < from || to > part->edge_count || to - from > UINT32_MAX)
                return error_set(err, ERROR_CORRUPT,
                                 "topology: row of node %" PRIu32 ": expected edges in order up to "
                                 "%" PRIu64 ", found %" PRIu64 " to %" PRIu64,
                                 part->first_node + i, part->edge_count, from, to);
        }
    }
    return ERROR_NONE;
}

/* Finds whether a tile is summed here. */
static enum error_code takes_tile(struct source_windows *w, const struct inference_span *span,
                                  bool *out, struct error *err)
{
    struct inference_tile tile;
    *out = true;
    if (!w->kind->takes)
        return ERROR_NONE;
    const enum error_code rc =
        inference_tiles_draw(w->config.tiles, w->config.layer, span, &tile, err);
    if (rc == ERROR_NONE)
        *out = w->kind->takes(w, span->count, tile.sources);
    return rc;
}

/* Chooses as many whole tiles from `first` on as have room. */
static enum error_code choose_tiles(struct source_windows *w, const struct inference_span *first,
                                    uint32_t end, uint32_t *summed, uint64_t *bytes,
                                    struct error *err)
{
    const uint64_t left = w->memory_bytes - w->least_window;
    struct inference_span span = *first;
    enum error_code rc = ERROR_NONE;
    *bytes = WINDOW_ALIGNMENT;
    for (bool takes = true; span.first < end; span.first += span.count) {
        span.count = inference_tiles_size(w->config.tiles, span.type, span.part, span.first, end);
        const uint64_t more = bytes_of_rows(w, span.first, span.first + span.count);
        const bool is_first = span.first == first->first;
        if (*bytes + more > (is_first ? left : window_smaller(w->sums_room, left))) {
            if (is_first && w->kind->always)
                rc = window_has_no_room(w, span.count, more, err);
            break;
        }
        rc = takes_tile(w, &span, &takes, err);
        if (rc != ERROR_NONE || !takes)
            break;
        *bytes += more;
    }
    *summed = span.first;
    *bytes -= *bytes % WINDOW_ALIGNMENT;
    return rc;
}

/* Selects the relations that end in the type. */
static void begin_relations(struct source_windows *w, const struct inference_span *span)
{
    w->type = span->type;
    w->begin = type_inputs_book(w->config.inputs, span->type)[span->part];
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const bool is_one =
            partition_book_relation(w->of->context->book, r)->target_type == span->type;
        w->relation[r].part = is_one ? topology_rows(w->of->topology, span->part, r) : NULL;
        w->relation[r].count = 0;
    }
}

enum error_code window_rows_choose(struct source_windows *w, const struct inference_span *first,
                                   uint32_t end, uint32_t *summed, uint64_t *bytes,
                                   struct error *err)
{
    *summed = first->first;
    begin_relations(w, first);
    const enum error_code rc = check_rows(w, first->first, end, err);
    return rc == ERROR_NONE ? choose_tiles(w, first, end, summed, bytes, err) : rc;
}

void window_rows_place(struct source_windows *w, uint32_t first, uint32_t end)
{
    float *sum = (float *)(void *)(w->memory + w->memory_bytes - w->sums_bytes);
    w->first = w->begin + first;
    w->end = w->begin + end;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        struct relation_window *own = &w->relation[r];
        own->count = own->part ? count_rows(w, own->part, first, end) : 0;
        own->first = first;
        own->sum = sum;
        sum += own->count * own->width;
    }
    uint32_t *next = (uint32_t *)(void *)sum;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        struct relation_window *own = &w->relation[r];
        own->cursor = next;
        next += own->count;
        memset(own->cursor, 0, own->count * sizeof *own->cursor);
        own->row = w->lists_rows ? next : NULL;
        for (uint32_t row = first, k = 0; own->row && k < own->count; row++)
            if (has_edges(own->part, row))
                own->row[k++] = row;
        next += own->row ? own->count : 0;
    }
    must((char *)next <= w->memory + w->memory_bytes);
}

uint32_t window_rows_place_of(const struct relation_window *own, uint32_t row)
{
    uint32_t low = 0, high = own->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (relation_window_row(own, middle) < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void source_windows_take(struct source_windows *windows, struct inference_tile *tile)
{
    const struct source_windows *w = windows;
    const uint32_t first = tile->span.first, end = first + tile->span.count;
    for (uint32_t r = 0; r < w->relation_count; r++) {
        const struct relation_window *own = &w->relation[r];
        const uint32_t at = window_rows_place_of(own, first);
        must(tile->block.edges[r].block.destination_count == window_rows_place_of(own, end) - at);
        w->tile_sum[r] = relation_window_sum(own, at);
    }
    tile->sum = w->tile_sum;
}
