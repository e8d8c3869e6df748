#include "store/records/mini_batch.h"

#include "common/base/cpu_kernel.h"
#include "common/base/packed_integers.h"
#include "common/graph/edge_discovery.h"
#include "store/records/batch_form.h"
#include "store/records/edge_sections.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/*
 * The checks are linear passes without a branch in them, so that they run in vectors; only when a pass says
 * "something is wrong" does a second, slow one look for the first culprit. A batch of a million edges is
 * checked in about a millisecond, most of it for "no node twice".
 */

enum {
    VERSION_WITHOUT_FORM = 3,
    VERSION_WITHOUT_POSITIONS = 4,
    VERSION = 5,
    PREFETCH_DISTANCE = 16
};

/* The packed arrays, and so the elements of "width". */
enum { PACKED_NODE, PACKED_ROW_LENGTH, PACKED_NEIGHBOR, PACKED_DEGREE, PACKED_COUNT };

static const char weight_sum[] = "weight_sum", form_name[] = "form", edge_factor[] = "edge_factor",
                  seed_weight[] = "seed_weight", seed_of[] = "seed_of",
                  position_width[] = "position_width", edge_position[] = "edge_position";

static const char *const packed_name[PACKED_COUNT] = {"node", "row_length", "neighbor", "degree"};

CPU_KERNEL_OF(uint32_t, largest_of, (const uint32_t *value, uint32_t count), (value, count))
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = value[i] > largest ? value[i] : largest;
    return largest;
}

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

/* --- writing --- */

/* A record on its way. */
struct packing {
    struct record record;
    struct arena *scratch;
    uint32_t width[PACKED_COUNT];
    uint32_t form, position_width;
    struct seed_pairs_record pairs;
};

static enum error_code new_words(struct packing *packing, uint64_t count, unsigned width,
                                 uint64_t **out, struct error *err)
{
    return arena_new(packing->scratch, out, packed_integers_words(count, width),
                     "the record of a mini-batch", err);
}

static enum error_code add_packed(struct packing *packing, int array, const uint32_t *value,
                                  uint32_t count, struct error *err)
{
    uint64_t *words = NULL;
    const unsigned width = packed_integers_width(value, count);
    const enum error_code rc = new_words(packing, count, width, &words, err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(value, count, width, words);
    packing->width[array] = width;
    record_add(&packing->record, packed_name[array], ELEMENT_U64, words,
               packed_integers_words(count, width));
    return ERROR_NONE;
}

static enum error_code add_rows(struct packing *packing, const struct mini_batch *batch,
                                struct error *err)
{
    uint32_t *length = NULL;
    const enum error_code rc =
        arena_new(packing->scratch, &length, batch->row_count, "the record of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < batch->row_count; i++)
        length[i] = batch->row_start[i + 1] - batch->row_start[i];
    return add_packed(packing, PACKED_ROW_LENGTH, length, batch->row_count, err);
}

static enum error_code add_edges(struct packing *packing, const struct mini_batch *batch,
                                 struct error *err)
{
    uint64_t *is_new = NULL, *rest = NULL;
    enum error_code rc = new_words(packing, batch->edge_count, 1, &is_new, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct edge_discovery discovery =
        edge_discovery_mark(batch->neighbor, batch->edge_count, batch->seed_count, is_new);
    rc = new_words(packing, discovery.rest_count, discovery.rest_width, &rest, err);
    if (rc != ERROR_NONE)
        return rc;
    edge_discovery_pack_rest(batch->neighbor, batch->edge_count, is_new, discovery.rest_width,
                             rest);
    packing->width[PACKED_NEIGHBOR] = discovery.rest_width;
    record_add(&packing->record, "is_new", ELEMENT_U64, is_new,
               packed_integers_words(batch->edge_count, 1));
    record_add(&packing->record, packed_name[PACKED_NEIGHBOR], ELEMENT_U64, rest,
               packed_integers_words(discovery.rest_count, discovery.rest_width));
    return ERROR_NONE;
}

/* What version 3 does not have. */
static enum error_code add_form(struct packing *packing, const struct mini_batch *batch,
                                struct error *err)
{
    struct record *record = &packing->record;
    uint64_t *words = NULL;
    if (batch->form == BATCH_NESTED && !batch->edge_factor && !batch->seed_weight &&
        !batch->seed_of && !batch->pairs.positive_count)
        return ERROR_NONE;
    record->version = VERSION_WITHOUT_POSITIONS;
    packing->form = batch->form;
    record_add(record, form_name, ELEMENT_U32, &packing->form, 1);
    if (batch->edge_factor)
        record_add(record, edge_factor, ELEMENT_F32, batch->edge_factor, batch->edge_count);
    if (batch->seed_weight)
        record_add(record, seed_weight, ELEMENT_F32, batch->seed_weight, batch->seed_count);
    if (batch->pairs.positive_count) {
        const enum error_code rc = seed_pairs_add(record, &packing->pairs, &batch->pairs,
                                                  batch->seed_count, packing->scratch, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    if (!batch->seed_of)
        return ERROR_NONE;
    const unsigned width = packed_integers_width_of(batch->seed_count - 1);
    const enum error_code rc = new_words(packing, batch->node_count, width, &words, err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(batch->seed_of, batch->node_count, width, words);
    record_add(record, seed_of, ELEMENT_U64, words,
               packed_integers_words(batch->node_count, width));
    return ERROR_NONE;
}

/* What version 4 does not have. */
static enum error_code add_positions(struct packing *packing, const struct mini_batch *batch,
                                     struct error *err)
{
    struct record *record = &packing->record;
    const uint32_t count = batch->edge_count;
    uint64_t *words = NULL;
    if (!batch->edge_position)
        return ERROR_NONE;
    const unsigned width = packed_integers_width(batch->edge_position, count);
    const enum error_code rc = new_words(packing, count, width, &words, err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(batch->edge_position, count, width, words);
    record->version = VERSION;
    packing->position_width = width;
    record_add(record, position_width, ELEMENT_U32, &packing->position_width, 1);
    record_add(record, edge_position, ELEMENT_U64, words, packed_integers_words(count, width));
    return ERROR_NONE;
}

enum error_code mini_batch_put(struct store *store, const char *key, const char *run_id,
                               const struct mini_batch *batch, struct arena *scratch,
                               struct error *err)
{
    struct packing packing = {
        .record = {.kind = RECORD_MINI_BATCH, .version = VERSION_WITHOUT_FORM}, .scratch = scratch};
    must(batch->hop_count >= 0 && batch->hop_count <= HOP_COUNT_MAX);
    must(batch->row_count == batch_form_rows(batch));
    must(batch->row_start[0] == 0 && batch->row_start[batch->row_count] == batch->edge_count);
    arena_reset(scratch);
    record_add(&packing.record, "hop_end", ELEMENT_U32, batch->hop_end,
               (uint64_t)batch->hop_count + 1);
    record_add(&packing.record, "width", ELEMENT_U32, packing.width, PACKED_COUNT);
    enum error_code rc = add_packed(&packing, PACKED_NODE, batch->node, batch->node_count, err);
    if (rc == ERROR_NONE)
        rc = add_rows(&packing, batch, err);
    if (rc == ERROR_NONE)
        rc = add_edges(&packing, batch, err);
    if (rc == ERROR_NONE && batch->degree)
        rc = add_packed(&packing, PACKED_DEGREE, batch->degree, batch->node_count, err);
    if (rc != ERROR_NONE)
        return rc;
    if (batch->weight_sum)
        record_add(&packing.record, weight_sum, ELEMENT_F32, batch->weight_sum, batch->node_count);
    edge_sections_add(&packing.record, &batch->columns, batch->edge_count);
    rc = add_form(&packing, batch, err);
    if (rc == ERROR_NONE)
        rc = add_positions(&packing, batch, err);
    return rc == ERROR_NONE
               ? store_put(store, key, run_id, &packing.record, STORE_RECOMPUTABLE, err)
               : rc;
}

/* --- checks --- */

static inline uint32_t slot_of(uint32_t node, unsigned shift)
{
    return (uint32_t)(node * 2654435769U) >> shift;
}

static enum error_code node_twice(const struct mini_batch *batch, uint32_t index, struct error *err)
{
    uint32_t first = 0;
    while (batch->node[first] != batch->node[index])
        first++;
    return error_set(err, ERROR_CORRUPT,
                     "node[%" PRIu32 "]: expected each node once, found %" PRIu32
                     ", which is node[%" PRIu32 "] too",
                     index, batch->node[index], first);
}

/* Enters every node into an open-addressing set of at least twice as many places; a place holds the
 * node plus one, so that zero is empty. The index of the first node that was there, or node_count. */
static uint32_t enter_hashed(const struct mini_batch *batch, uint32_t *set, unsigned bits)
{
    const uint32_t mask = (uint32_t)((1ULL << bits) - 1);
    const unsigned shift = 32 - bits;
    for (uint32_t i = 0; i < batch->node_count; i++) {
        if (batch->node_count - i > PREFETCH_DISTANCE)
            __builtin_prefetch(&set[slot_of(batch->node[i + PREFETCH_DISTANCE], shift)], 1);
        const uint32_t node = batch->node[i];
        uint32_t at = slot_of(node, shift);
        while (set[at] != 0 && set[at] != node + 1)
            at = (at + 1) & mask;
        if (set[at] != 0)
            return i;
        set[at] = node + 1;
    }
    return batch->node_count;
}

/* The same with one bit for each node up to the largest: for graphs of up to some ten million nodes a set
 * that stays in cache. */
static uint32_t enter_bits(const struct mini_batch *batch, uint64_t *set)
{
    uint64_t twice = 0;
    for (uint32_t i = 0; i < batch->node_count; i++) {
        const uint32_t node = batch->node[i];
        const uint64_t word = set[node / 64];
        twice |= word >> (node % 64) & 1;
        set[node / 64] = word | 1ULL << (node % 64);
    }
    if (!twice)
        return batch->node_count;
    memset(set, 0, (largest_of(batch->node, batch->node_count) / 64 + 1ULL) * sizeof *set);
    for (uint32_t i = 0; i < batch->node_count; i++) {
        uint64_t *word = &set[batch->node[i] / 64];
        const uint64_t bit = 1ULL << (batch->node[i] % 64);
        if (*word & bit)
            return i;
        *word |= bit;
    }
    return batch->node_count;
}

/* UINT32_MAX is no node id: ids are below a 32-bit count. */
static enum error_code check_ids(const struct mini_batch *batch, struct error *err)
{
    for (uint32_t i = 0; batch->node_limit == 0 && i < batch->node_count; i++)
        if (batch->node[i] == UINT32_MAX)
            return error_set(err, ERROR_CORRUPT,
                             "node[%" PRIu32 "]: expected at most %" PRIu32 ", found %" PRIu32, i,
                             UINT32_MAX - 1, UINT32_MAX);
    return ERROR_NONE;
}

/* Whichever set is smaller. */
static enum error_code check_nodes(struct mini_batch *batch, struct error *err)
{
    unsigned bits = 1;
    while (bits < 32 && (1ULL << bits) < 2 * (uint64_t)batch->node_count)
        bits++;
    if (batch->node_count > 1U << 31) /* the set would have no free place left to stop at */
        return error_set(err, ERROR_CORRUPT, "expected at most 2147483648 nodes, found %" PRIu32,
                         batch->node_count);
    const uint64_t bit_words = batch->node_limit / 64 + 1ULL;
    const bool is_hashed = bit_words * 64 > (1ULL << bits) * 32;
    const uint64_t words = is_hashed ? (1ULL << bits) / 2 : bit_words;
    uint64_t *set = NULL;
    const enum error_code rc =
        arena_new(&batch->memory, &set, words, "the check of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    memset(set, 0, words * sizeof *set);
    const uint32_t twice =
        is_hashed ? enter_hashed(batch, (uint32_t *)(void *)set, bits) : enter_bits(batch, set);
    return twice < batch->node_count ? node_twice(batch, twice, err) : ERROR_NONE;
}

/* --- reading --- */

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

static enum error_code read_widths(const struct record_view *view, const uint32_t **out,
                                   struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, "width", ELEMENT_U32, PACKED_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = data;
    for (int i = 0; i < PACKED_COUNT; i++)
        if ((*out)[i] > PACKED_WIDTH_MAX)
            return error_set(
                err, ERROR_CORRUPT,
                "record %s: width[%d]: expected at most %d bits for section %s, found %" PRIu32,
                view->key, i, PACKED_WIDTH_MAX, packed_name[i], (*out)[i]);
    return ERROR_NONE;
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
    const uint64_t times = out->seed_of ? out->seed_count : 1; /* that a node may be there */
    if (out->node_count > times << width) /* one would be there more often, maybe without a bit */
        return error_set(err, ERROR_CORRUPT,
                         "record %s: width[%d]: expected more bits for %" PRIu32
                         " nodes, found %" PRIu32,
                         view->key, PACKED_NODE, out->node_count, width);
    const enum error_code rc = unpack(view, &array, out, &node, err);
    if (rc != ERROR_NONE)
        return rc;
    out->node = node;
    out->node_limit = largest_of(node, out->node_count) + 1;
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
        rc = read_widths(view, &width, err);
    if (rc == ERROR_NONE) /* first: it has a bit at least for each node that may be there again */
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
    enum error_code rc =
        record_expect_among(view, RECORD_MINI_BATCH, VERSION_WITHOUT_FORM, VERSION, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = read_sections(view, out, err);
    if (rc == ERROR_NONE) {
        rc = batch_form_check_neighbors(out, err);
        if (rc == ERROR_NONE)
            rc = check_ids(out, err);
        if (rc == ERROR_NONE)
            rc = out->seed_of ? batch_form_check_disjoint(out, err) : check_nodes(out, err);
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
