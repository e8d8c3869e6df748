#include "store/records/mini_batch.h"

#include "common/base/packed_integers.h"
#include "common/graph/edge_discovery.h"
#include "store/records/batch_form.h"
#include "store/records/batch_nodes.h"
#include "store/records/edge_sections.h"
#include "store/records/mini_batch_sections.h"
#include "store/records/packed_widths.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/*
 * The checks are linear passes without a branch in them, so that they run in vectors; only when a pass says
 * "something is wrong" does a second, slow one look for the first culprit. A batch of a million edges is
 * checked in about a millisecond, most of it for "no node twice".
 */

void mini_batch_forget(struct mini_batch *batch)
{
    arena_reset(&batch->memory);
    *batch = (struct mini_batch){.memory = batch->memory};
}

void mini_batch_release(struct mini_batch *batch)
{
    arena_release(&batch->memory);
    *batch = (struct mini_batch){0};
}

/* An array of a record: `count` values of `width` bits, with room for more elements before and after. */
struct packed_array {
    const char *name;
    uint32_t width;
    uint64_t count, before, after;
};

static enum error_code find_packed(const struct record_view *view, const char *name, uint64_t count,
                                   unsigned width, const uint64_t **out, struct error *err)
{
    const void *data = NULL;
    const enum error_code rc = record_section_get(
        view, name, ELEMENT_U64, (int64_t)packed_integers_words(count, width), &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = data;
    if (!packed_integers_end_in_zeros(data, count, width))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s: expected zeros behind %" PRIu64
                         " values of %u bits, found ones",
                         view->key, name, count, width);
    return ERROR_NONE;
}

/* Only what a section has the bits for is asked of memory. */
static enum error_code unpack(const struct record_view *view, const struct packed_array *array,
                              struct mini_batch *batch, uint32_t **out, struct error *err)
{
    const uint64_t *words = NULL;
    enum error_code rc = find_packed(view, array->name, array->count, array->width, &words, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&batch->memory, out, array->before + array->count + array->after,
                       "a mini-batch", err);
    if (rc == ERROR_NONE)
        packed_integers_unpack(words, array->count, array->width, *out + array->before);
    return rc;
}

static enum error_code read_form(const struct record_view *view, struct mini_batch *out,
                                 struct error *err)
{
    const void *data = NULL;
    if (!record_has(view, form_name))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, form_name, ELEMENT_U32, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t found = *(const uint32_t *)data;
    if (found >= BATCH_FORM_COUNT)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section form: expected below %d, found %" PRIu32, view->key,
                         BATCH_FORM_COUNT, found);
    out->form = (enum batch_form)found;
    return ERROR_NONE;
}

static enum error_code read_hops(const struct record_view *view, struct mini_batch *out,
                                 struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0;
    uint32_t *hop_end = NULL;
    enum error_code rc = record_section_get(view, "hop_end", ELEMENT_U32, -1, &data, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    if (count < 1 || count > HOP_COUNT_MAX + 1)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section hop_end: expected 1 to %d elements, found %" PRIu64,
                         view->key, HOP_COUNT_MAX + 1, count);
    rc = arena_new(&out->memory, &hop_end, count, "a mini-batch", err);
    if (rc == ERROR_NONE)
        rc = read_form(view, out, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(hop_end, data, count * sizeof *hop_end);
    out->hop_count = (int)count - 1;
    out->hop_end = hop_end;
    out->seed_count = hop_end[0];
    out->node_count = hop_end[out->hop_count];
    out->row_count = (uint32_t)batch_form_rows(out);
    rc = batch_form_check_hops(out, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "record %s", view->key);
}

/* Before memory is asked for them: nodes have bits, or "seed_of" has some for each that is there again. */
static enum error_code check_node_count(const struct record_view *view, uint32_t width,
                                        const struct mini_batch *batch, struct error *err)
{
    const uint64_t *words = NULL;
    const uint64_t times =
        record_has(view, seed_of) ? batch->seed_count : 1; /* that a node may be there */
    if (batch->node_count > times << width) /* one would be there more often, maybe without a bit */
        return error_set(err, ERROR_CORRUPT,
                         "record %s: width[%d]: expected more bits for %" PRIu32
                         " nodes, found %" PRIu32,
                         view->key, PACKED_NODE, batch->node_count, width);
    return find_packed(view, packed_name[PACKED_NODE], batch->node_count, width, &words, err);
}

static enum error_code read_seeds(const struct record_view *view, struct mini_batch *out,
                                  struct error *err)
{
    uint32_t *seed = NULL;
    const struct packed_array array = {seed_of, packed_integers_width_of(out->seed_count - 1),
                                       out->node_count, 0, 0};
    if (!record_has(view, seed_of))
        return ERROR_NONE;
    const enum error_code rc = unpack(view, &array, out, &seed, err);
    out->seed_of = seed;
    return rc;
}

static enum error_code read_nodes(const struct record_view *view, uint32_t width,
                                  struct mini_batch *out, struct error *err)
{
    const struct packed_array array = {packed_name[PACKED_NODE], width, out->node_count, 0, 0};
    uint32_t *node = NULL;
    const enum error_code rc = unpack(view, &array, out, &node, err);
    if (rc != ERROR_NONE)
        return rc;
    out->node = node;
    out->node_limit = batch_nodes_largest(node, out->node_count) + 1;
    return ERROR_NONE;
}

/* Lengths become starts in place. */
static enum error_code read_rows(const struct record_view *view, uint32_t width,
                                 struct mini_batch *out, struct error *err)
{
    const struct packed_array array = {packed_name[PACKED_ROW_LENGTH], width, out->row_count, 1, 0};
    uint32_t *start = NULL;
    const enum error_code rc = unpack(view, &array, out, &start, err);
    if (rc != ERROR_NONE)
        return rc;
    uint64_t end = 0;
    start[0] = 0;
    for (uint32_t i = 0; i < out->row_count; i++) {
        end += start[i + 1];
        start[i + 1] = (uint32_t)end;
    }
    if (end > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: row_length: expected rows of at most %" PRIu32
                         " edges together, found %" PRIu64,
                         view->key, UINT32_MAX, end);
    out->row_start = start;
    out->edge_count = (uint32_t)end;
    return ERROR_NONE;
}

static enum error_code read_edges(const struct record_view *view, uint32_t width,
                                  struct mini_batch *out, struct error *err)
{
    const uint64_t *is_new = NULL;
    uint32_t *neighbor = NULL;
    enum error_code rc = find_packed(view, "is_new", out->edge_count, 1, &is_new, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t found = edge_discovery_count(is_new, out->edge_count);
    if (found > out->node_count - out->seed_count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: is_new: expected at most %" PRIu32
                         " edges that find a node, found %" PRIu64,
                         view->key, out->node_count - out->seed_count, found);
    const struct packed_array array = {packed_name[PACKED_NEIGHBOR], width, out->edge_count - found,
                                       found, EDGE_DISCOVERY_SLACK};
    rc = unpack(view, &array, out, &neighbor, err);
    if (rc != ERROR_NONE)
        return rc;
    edge_discovery_restore(is_new, out->edge_count, array.count, out->seed_count, neighbor);
    out->neighbor = neighbor;
    return ERROR_NONE;
}

/* A copy of what lies in the record, which goes. */
static enum error_code keep(struct mini_batch *batch, const void *data, uint64_t bytes,
                            const void **out, struct error *err)
{
    uint64_t *copy = NULL;
    const enum error_code rc =
        arena_new(&batch->memory, &copy, (bytes + 7) / 8, "a mini-batch", err);
    if (rc == ERROR_NONE && bytes)
        memcpy(copy, data, bytes);
    *out = copy;
    return rc;
}

static enum error_code read_columns(const struct record_view *view, struct mini_batch *out,
                                    struct error *err)
{
    enum error_code rc = edge_sections_get(view, out->edge_count, &out->columns, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++) {
        const uint32_t width = out->columns.width.of[c];
        if (width)
            rc = keep(out, out->columns.data[c],
                      out->edge_count * (uint64_t)edge_column_bytes((enum edge_column)c, width),
                      &out->columns.data[c], err);
    }
    return rc;
}

/* A section of floats that may be there. */
static enum error_code read_floats(const struct record_view *view, const char *name, uint32_t count,
                                   struct mini_batch *batch, const float **out, struct error *err)
{
    const void *data = NULL;
    if (!record_has(view, name))
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, name, ELEMENT_F32, count, &data, NULL, err);
    if (rc == ERROR_NONE)
        rc = keep(batch, data, count * (uint64_t)sizeof **out, &data, err);
    *out = data;
    return rc;
}

static enum error_code read_positions(const struct record_view *view, struct mini_batch *out,
                                      struct error *err)
{
    const void *data = NULL;
    uint32_t *position = NULL;
    if (!record_has(view, edge_position))
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, position_width, ELEMENT_U32, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t width = *(const uint32_t *)data;
    if (width > PACKED_WIDTH_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s: expected at most %d bits, found %" PRIu32,
                         view->key, position_width, PACKED_WIDTH_MAX, width);
    const struct packed_array array = {edge_position, width, out->edge_count, 0, 0};
    rc = unpack(view, &array, out, &position, err);
    out->edge_position = position;
    return rc;
}

static enum error_code read_optional(const struct record_view *view, uint32_t width,
                                     struct mini_batch *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (record_has(view, packed_name[PACKED_DEGREE])) {
        const struct packed_array array = {packed_name[PACKED_DEGREE], width, out->node_count, 0,
                                           0};
        uint32_t *degree = NULL;
        rc = unpack(view, &array, out, &degree, err);
        out->degree = degree;
    }
    if (rc == ERROR_NONE)
        rc = read_floats(view, weight_sum, out->node_count, out, &out->weight_sum, err);
    if (rc == ERROR_NONE)
        rc = read_floats(view, edge_factor, out->edge_count, out, &out->edge_factor, err);
    if (rc == ERROR_NONE)
        rc = read_floats(view, seed_weight, out->seed_count, out, &out->seed_weight, err);
    if (rc == ERROR_NONE && out->edge_factor && !out->degree)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: expected a section degree beside edge_factor, found none",
                         view->key);
    if (rc == ERROR_NONE)
        rc = seed_pairs_read(view, out->seed_count, &out->memory, &out->pairs, err);
    if (rc == ERROR_NONE)
        rc = read_positions(view, out, err);
    return rc == ERROR_NONE ? read_columns(view, out, err) : rc;
}

static enum error_code read_sections(const struct record_view *view, struct mini_batch *out,
                                     struct error *err)
{
    const uint32_t *width = NULL;
    enum error_code rc = read_hops(view, out, err);
    if (rc == ERROR_NONE)
        rc = packed_widths_get(view, packed_name, PACKED_COUNT, &width, err);
    if (rc == ERROR_NONE)
        rc = check_node_count(view, width[PACKED_NODE], out, err);
    if (rc == ERROR_NONE)
        rc = read_seeds(view, out, err);
    if (rc == ERROR_NONE)
        rc = read_nodes(view, width[PACKED_NODE], out, err);
    if (rc == ERROR_NONE)
        rc = read_rows(view, width[PACKED_ROW_LENGTH], out, err);
    if (rc == ERROR_NONE)
        rc = read_edges(view, width[PACKED_NEIGHBOR], out, err);
    if (rc == ERROR_NONE)
        rc = read_optional(view, width[PACKED_DEGREE], out, err);
    return rc;
}

enum error_code mini_batch_decode(const struct record_view *view, struct mini_batch *out,
                                  struct error *err)
{
    mini_batch_forget(out);
    enum error_code rc = record_expect_among(view, RECORD_MINI_BATCH, MINI_BATCH_WITHOUT_FORM,
                                             MINI_BATCH_VERSION, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = read_sections(view, out, err);
    if (rc == ERROR_NONE) {
        rc = batch_form_check_neighbors(out, err);
        if (rc == ERROR_NONE)
            rc = batch_nodes_check_ids(out, err);
        if (rc == ERROR_NONE)
            rc = out->seed_of ? batch_form_check_disjoint(out, err)
                              : batch_nodes_check_once(out, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "record %s", view->key);
    }
    if (rc != ERROR_NONE)
        mini_batch_forget(out);
    return rc;
}

enum error_code mini_batch_get(struct store *store, const char *key, const char *run_id,
                               struct mini_batch *out, struct error *err)
{
    struct record_view view = {0};
    mini_batch_forget(out);
    enum error_code rc = store_get(store, key, run_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = mini_batch_decode(&view, out, err);
    store_release_record(&view);
    return rc;
}
