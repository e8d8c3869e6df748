#include "store/records/relation_batch.h"

#include "common/base/ascending.h"
#include "common/base/packed_integers.h"
#include "store/records/edge_sections.h"
#include "store/records/packed_widths.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { VERSION = 32, SHAPE_SIZE = 3 };

/* The packed arrays, and so the elements of "width". */
enum { PACKED_NODE, PACKED_ROW, PACKED_ROW_LENGTH, PACKED_NEIGHBOR, PACKED_DEGREE, PACKED_COUNT };

static const char *const packed_name[PACKED_COUNT] = {"node", "row", "row_length", "neighbor",
                                                      "degree"};
static const char what[] = "a mini-batch of relations";

void relation_batch_forget(struct relation_batch *batch)
{
    arena_reset(&batch->memory);
    *batch = (struct relation_batch){.memory = batch->memory};
}

void relation_batch_release(struct relation_batch *batch)
{
    arena_release(&batch->memory);
    *batch = (struct relation_batch){0};
}

/* --- what is computed on --- */

/* Rows of a relation whose node is below `end`: a prefix. */
static uint32_t rows_below(const uint32_t *row, uint32_t count, uint32_t end)
{
    return (uint32_t)ascending_below(row, count, end);
}

void relation_batch_block(const struct relation_batch *batch, int layer,
                          uint32_t *destination_count, uint32_t *source_count,
                          struct relation_edges *edges, struct relation_block *out)
{
    const int hop = batch->hop_count - 1 - layer;
    must(layer >= 0 && hop >= 0);
    for (uint32_t t = 0; t < batch->type_count; t++) {
        destination_count[t] = relation_batch_known(batch, t, hop);
        source_count[t] = relation_batch_known(batch, t, hop + 1);
    }
    for (uint32_t r = 0; r < batch->relation_count; r++) {
        const uint32_t from = batch->row_begin[r], edge = batch->edge_begin[r];
        const uint32_t *row = batch->row + from;
        const uint32_t count = rows_below(row, batch->row_begin[r + 1] - from,
                                          destination_count[batch->ends[2 * (size_t)r + 1]]);
        const struct edge_columns_view columns = edge_columns_from(&batch->columns, edge);
        edges[r] = (struct relation_edges){
            .block = {.destination_count = count,
                      .source_count = source_count[batch->ends[2 * (size_t)r]],
                      .is_bipartite = true,
                      .row_start = batch->row_start + from + r,
                      .neighbor = batch->neighbor + edge,
                      .degree = batch->degree ? batch->degree + from : NULL,
                      .edge_value = columns.data[EDGE_WEIGHT],
                      .edge_feature = columns.data[EDGE_FEATURE],
                      .edge_feature_dim = columns.width.of[EDGE_FEATURE]},
            .row = row};
    }
    *out = (struct relation_block){destination_count, source_count, edges};
}

enum error_code relation_batch_numbers(const struct relation_batch *batch, uint32_t type,
                                       const struct type_ranges *ranges, const uint32_t *type_book,
                                       uint32_t *out, struct error *err)
{
    const uint32_t begin = batch->node_begin[type], count = batch->node_begin[type + 1] - begin;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = batch->node[begin + i];
        const bool is_known = node < ranges->part_start[ranges->part_count];
        const int part = is_known ? type_ranges_part(ranges, node) : 0;
        if (!is_known || node < type_ranges_first(ranges, part, type) ||
            node >= type_ranges_first(ranges, part, type + 1))
            return error_set(err, ERROR_CORRUPT,
                             "node[%" PRIu32 "]: expected a node of type %" PRIu32
                             ", found %" PRIu32,
                             begin + i, type, node);
        out[i] = type_book[part] + (node - type_ranges_first(ranges, part, type));
    }
    return ERROR_NONE;
}

/* --- writing --- */

/* A record on its way. */
struct packing {
    struct record record;
    struct arena *scratch;
    uint32_t width[PACKED_COUNT];
};

static enum error_code add_packed(struct packing *packing, int array, const uint32_t *value,
                                  uint32_t count, struct error *err)
{
    uint64_t *words = NULL;
    const unsigned width = packed_integers_width(value, count);
    const uint64_t size = packed_integers_words(count, width);
    const enum error_code rc = arena_new(packing->scratch, &words, size, what, err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(value, count, width, words);
    packing->width[array] = width;
    record_add(&packing->record, packed_name[array], ELEMENT_U64, words, size);
    return ERROR_NONE;
}

static enum error_code add_row_lengths(struct packing *packing, const struct relation_batch *batch,
                                       struct error *err)
{
    uint32_t *length = NULL;
    const enum error_code rc = arena_new(packing->scratch, &length, batch->row_count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < batch->relation_count; r++)
        for (uint32_t i = batch->row_begin[r]; i < batch->row_begin[r + 1]; i++)
            length[i] = batch->row_start[i + r + 1] - batch->row_start[i + r];
    return add_packed(packing, PACKED_ROW_LENGTH, length, batch->row_count, err);
}

enum error_code relation_batch_put(struct store *store, const char *key, const char *run_id,
                                   const struct relation_batch *batch, struct arena *scratch,
                                   struct error *err)
{
    struct packing packing = {.record = {.kind = RECORD_MINI_BATCH, .version = VERSION},
                              .scratch = scratch};
    const uint32_t shape[SHAPE_SIZE] = {(uint32_t)batch->hop_count, batch->type_count,
                                        batch->relation_count};
    uint32_t *row_count = NULL;
    must(batch->hop_count >= 1 && batch->hop_count <= HOP_COUNT_MAX);
    arena_reset(scratch);
    enum error_code rc = arena_new(scratch, &row_count, batch->relation_count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < batch->relation_count; r++)
        row_count[r] = batch->row_begin[r + 1] - batch->row_begin[r];
    struct record *record = &packing.record;
    record_add(record, "shape", ELEMENT_U32, shape, SHAPE_SIZE);
    record_add(record, "ends", ELEMENT_U16, batch->ends, 2 * (uint64_t)batch->relation_count);
    record_add(record, "hop_end", ELEMENT_U32, batch->hop_end,
               batch->type_count * ((uint64_t)batch->hop_count + 1));
    record_add(record, "row_count", ELEMENT_U32, row_count, batch->relation_count);
    record_add(record, "width", ELEMENT_U32, packing.width, PACKED_COUNT);
    rc = add_packed(&packing, PACKED_NODE, batch->node, batch->node_count, err);
    if (rc == ERROR_NONE)
        rc = add_packed(&packing, PACKED_ROW, batch->row, batch->row_count, err);
    if (rc == ERROR_NONE)
        rc = add_row_lengths(&packing, batch, err);
    if (rc == ERROR_NONE)
        rc = add_packed(&packing, PACKED_NEIGHBOR, batch->neighbor, batch->edge_count, err);
    if (rc == ERROR_NONE && batch->degree)
        rc = add_packed(&packing, PACKED_DEGREE, batch->degree, batch->row_count, err);
    struct seed_pairs_record pairs;
    if (rc == ERROR_NONE && batch->pairs.positive_count)
        rc = seed_pairs_add(record, &pairs, &batch->pairs,
                            relation_batch_seeds(batch, batch->type_count), scratch, err);
    if (rc != ERROR_NONE)
        return rc;
    edge_sections_add(record, &batch->columns, batch->edge_count);
    return store_put(store, key, run_id, record, STORE_RECOMPUTABLE, err);
}

/* --- reading --- */

/* A copy of a section of exactly `count` elements, which the record may take with it. */
static enum error_code keep(const struct record_view *view, const char *name,
                            enum element_type type, uint64_t count, struct relation_batch *batch,
                            void *out, struct error *err)
{
    const void *data = NULL;
    char *copy = NULL;
    enum error_code rc = record_section_get(view, name, type, (int64_t)count, &data, NULL, err);
    const uint64_t bytes = count * element_size(type);
    if (rc == ERROR_NONE)
        rc = arena_new(&batch->memory, &copy, bytes + 1, what, err);
    if (rc == ERROR_NONE && bytes)
        memcpy(copy, data, bytes);
    memcpy(out, &copy, sizeof copy);
    return rc;
}

/* Only what a section has the bits for is asked of memory; `before` elements are left free in front. */
static enum error_code unpack(const struct record_view *view, int array, const uint32_t *width,
                              uint64_t count, struct relation_batch *batch, uint32_t **out,
                              struct error *err)
{
    const void *words = NULL;
    enum error_code rc =
        record_section_get(view, packed_name[array], ELEMENT_U64,
                           (int64_t)packed_integers_words(count, width[array]), &words, NULL, err);
    if (rc == ERROR_NONE && !packed_integers_end_in_zeros(words, count, width[array]))
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: section %s: expected zeros behind %" PRIu64
                       " values of %u bits, found ones",
                       view->key, packed_name[array], count, width[array]);
    if (rc == ERROR_NONE)
        rc = arena_new(&batch->memory, out, count + 1, what, err);
    if (rc == ERROR_NONE)
        packed_integers_unpack(words, count, width[array], *out);
    return rc;
}

static enum error_code read_shape(const struct record_view *view, struct relation_batch *out,
                                  struct error *err)
{
    const void *data = NULL;
    enum error_code rc =
        record_section_get(view, "shape", ELEMENT_U32, SHAPE_SIZE, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *shape = data;
    if (shape[0] < 1 || shape[0] > HOP_COUNT_MAX || shape[1] < 1 ||
        shape[1] > RELATION_TYPE_COUNT_MAX || shape[2] < 1 || shape[2] > RELATION_COUNT_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: shape: expected 1 to %d hops, 1 to %d types and 1 to %d "
                         "relations, found %" PRIu32 ", %" PRIu32 " and %" PRIu32,
                         view->key, HOP_COUNT_MAX, RELATION_TYPE_COUNT_MAX, RELATION_COUNT_MAX,
                         shape[0], shape[1], shape[2]);
    out->hop_count = (int)shape[0];
    out->type_count = shape[1];
    out->relation_count = shape[2];
    rc = keep(view, "ends", ELEMENT_U16, 2 * (uint64_t)out->relation_count, out, &out->ends, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < 2 * out->relation_count; i++)
        if (out->ends[i] >= out->type_count)
            rc = error_set(err, ERROR_CORRUPT,
                           "record %s: ends[%" PRIu32 "]: expected a type below %" PRIu32
                           ", found %d",
                           view->key, i, out->type_count, out->ends[i]);
    return rc;
}

static enum error_code read_hops(const struct record_view *view, struct relation_batch *out,
                                 struct error *err)
{
    uint32_t *begin = NULL;
    uint64_t nodes = 0, seeds = 0;
    const size_t width = (size_t)out->hop_count + 1;
    enum error_code rc =
        keep(view, "hop_end", ELEMENT_U32, out->type_count * width, out, &out->hop_end, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&out->memory, &begin, (size_t)out->type_count + 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    begin[0] = 0;
    for (uint32_t t = 0; t < out->type_count; t++) {
        for (int hop = 0; hop < out->hop_count; hop++)
            if (relation_batch_known(out, t, hop + 1) < relation_batch_known(out, t, hop))
                return error_set(err, ERROR_CORRUPT,
                                 "record %s: hop_end: type %" PRIu32 ": expected at least %" PRIu32
                                 " nodes after hop %d, found %" PRIu32,
                                 view->key, t, relation_batch_known(out, t, hop), hop + 1,
                                 relation_batch_known(out, t, hop + 1));
        nodes += relation_batch_known(out, t, out->hop_count);
        seeds += relation_batch_known(out, t, 0);
        begin[t + 1] = (uint32_t)nodes;
    }
    if (nodes > UINT32_MAX || seeds == 0)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: hop_end: expected seeds and at most %" PRIu32
                         " nodes, found %" PRIu64 " and %" PRIu64,
                         view->key, UINT32_MAX, seeds, nodes);
    out->node_begin = begin;
    out->node_count = (uint32_t)nodes;
    return ERROR_NONE;
}

/* The index of the first node that was there before, or node_count. `set` [2^bits], all zero, has at least twice as many
 * places; a place holds the node plus one. */
static uint32_t first_repeated(const struct relation_batch *batch, uint32_t *set, unsigned bits)
{
    const uint32_t mask = (uint32_t)((1ULL << bits) - 1);
    for (uint32_t i = 0; i < batch->node_count; i++) {
        const uint32_t node = batch->node[i];
        uint32_t at = (uint32_t)(node * 2654435769U) >> (32 - bits);
        while (set[at] != 0 && set[at] != node + 1)
            at = (at + 1) & mask;
        if (set[at] != 0)
            return i;
        set[at] = node + 1;
    }
    return batch->node_count;
}

static enum error_code check_nodes(const struct record_view *view, struct relation_batch *batch,
                                   struct error *err)
{
    unsigned bits = 1;
    uint32_t *set = NULL;
    if (batch->node_count > 1U << 31) /* the set would have no free place left to stop at */
        return error_set(err, ERROR_CORRUPT,
                         "record %s: expected at most 2147483648 nodes, found %" PRIu32, view->key,
                         batch->node_count);
    while (bits < 32 && (1ULL << bits) < 2 * (uint64_t)batch->node_count)
        bits++;
    for (uint32_t i = 0; i < batch->node_count; i++)
        if (batch->node[i] == UINT32_MAX)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: node[%" PRIu32 "]: expected at most %" PRIu32
                             ", found %" PRIu32,
                             view->key, i, UINT32_MAX - 1, UINT32_MAX);
    const enum error_code rc = arena_new(&batch->memory, &set, 1ULL << bits, what, err);
    if (rc != ERROR_NONE)
        return rc;
    memset(set, 0, (1ULL << bits) * sizeof *set);
    const uint32_t twice = first_repeated(batch, set, bits);
    return twice == batch->node_count
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT,
                           "record %s: node[%" PRIu32 "]: expected each node once, found %" PRIu32
                           " a second time",
                           view->key, twice, batch->node[twice]);
}

static enum error_code read_nodes(const struct record_view *view, const uint32_t *width,
                                  struct relation_batch *out, struct error *err)
{
    uint32_t *node = NULL;
    if (out->node_count > 1ULL << width[PACKED_NODE])
        return error_set(err, ERROR_CORRUPT,
                         "record %s: width[%d]: expected more bits for %" PRIu32
                         " nodes, found %" PRIu32,
                         view->key, PACKED_NODE, out->node_count, width[PACKED_NODE]);
    const enum error_code rc = unpack(view, PACKED_NODE, width, out->node_count, out, &node, err);
    out->node = node;
    return rc == ERROR_NONE ? check_nodes(view, out, err) : rc;
}

static enum error_code count_rows(const struct record_view *view, struct relation_batch *out,
                                  struct error *err)
{
    const void *data = NULL;
    uint32_t *begin = NULL;
    uint64_t rows = 0;
    enum error_code rc =
        record_section_get(view, "row_count", ELEMENT_U32, out->relation_count, &data, NULL, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&out->memory, &begin, (size_t)out->relation_count + 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    begin[0] = 0;
    for (uint32_t r = 0; r < out->relation_count; r++) {
        const uint32_t count = ((const uint32_t *)data)[r], target = out->ends[2 * (size_t)r + 1];
        const uint32_t most = relation_batch_known(out, target, out->hop_count - 1);
        rows += count;
        if (count > most || rows > UINT32_MAX - RELATION_COUNT_MAX)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: row_count[%" PRIu32 "]: expected at most %" PRIu32
                             ", found %" PRIu32,
                             view->key, r, most, count);
        begin[r + 1] = (uint32_t)rows;
    }
    out->row_begin = begin;
    out->row_count = (uint32_t)rows;
    return ERROR_NONE;
}

/* Row starts of all relations out of row lengths. */
static enum error_code read_row_starts(const struct record_view *view, const uint32_t *width,
                                       struct relation_batch *out, struct error *err)
{
    uint32_t *length = NULL, *start = NULL, *edge_begin = NULL;
    uint64_t edges = 0;
    enum error_code rc = unpack(view, PACKED_ROW_LENGTH, width, out->row_count, out, &length, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&out->memory, &start, (size_t)out->row_count + out->relation_count, what,
                       err);
    if (rc == ERROR_NONE)
        rc = arena_new(&out->memory, &edge_begin, (size_t)out->relation_count + 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    edge_begin[0] = 0;
    for (uint32_t r = 0; r < out->relation_count; r++) {
        start[out->row_begin[r] + r] = 0;
        for (uint32_t i = out->row_begin[r]; i < out->row_begin[r + 1]; i++) {
            edges += length[i];
            if (length[i] == 0 || edges > UINT32_MAX)
                return error_set(err, ERROR_CORRUPT,
                                 "record %s: row_length[%" PRIu32 "]: expected 1 or more, and at "
                                 "most %" PRIu32 " edges in all, found %" PRIu32,
                                 view->key, i, UINT32_MAX, length[i]);
            start[i + r + 1] = (uint32_t)edges - edge_begin[r];
        }
        edge_begin[r + 1] = (uint32_t)edges;
    }
    out->row_start = start;
    out->edge_begin = edge_begin;
    out->edge_count = (uint32_t)edges;
    return ERROR_NONE;
}

/* The hop at which a node of the type was expanded. */
static int hop_of(const struct relation_batch *batch, uint32_t type, uint32_t node)
{
    int hop = 0;
    while (node >= relation_batch_known(batch, type, hop))
        hop++;
    return hop;
}

static enum error_code check_relation(const struct record_view *view,
                                      const struct relation_batch *batch, uint32_t r,
                                      struct error *err)
{
    const uint32_t source = batch->ends[2 * (size_t)r], target = batch->ends[2 * (size_t)r + 1];
    const uint32_t end = relation_batch_known(batch, target, batch->hop_count - 1);
    for (uint32_t i = batch->row_begin[r]; i < batch->row_begin[r + 1]; i++) {
        const uint32_t row = batch->row[i];
        if (row >= end || (i > batch->row_begin[r] && row <= batch->row[i - 1]))
            return error_set(err, ERROR_CORRUPT,
                             "record %s: row[%" PRIu32 "]: expected ascending below %" PRIu32
                             ", found %" PRIu32,
                             view->key, i, end, row);
        const uint32_t known = relation_batch_known(batch, source, hop_of(batch, target, row) + 1);
        const uint32_t first = batch->edge_begin[r] + batch->row_start[i + r];
        const uint32_t last = batch->edge_begin[r] + batch->row_start[i + r + 1];
        for (uint32_t e = first; e < last; e++)
            if (batch->neighbor[e] >= known)
                return error_set(err, ERROR_CORRUPT,
                                 "record %s: neighbor[%" PRIu32 "]: expected below %" PRIu32
                                 ", found %" PRIu32,
                                 view->key, e, known, batch->neighbor[e]);
        if (batch->degree && batch->degree[i] < last - first)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: degree[%" PRIu32 "]: expected at least %" PRIu32
                             ", found %" PRIu32,
                             view->key, i, last - first, batch->degree[i]);
    }
    return ERROR_NONE;
}

static enum error_code read_edges(const struct record_view *view, const uint32_t *width,
                                  struct relation_batch *out, struct error *err)
{
    uint32_t *row = NULL, *neighbor = NULL, *degree = NULL;
    enum error_code rc = unpack(view, PACKED_ROW, width, out->row_count, out, &row, err);
    if (rc == ERROR_NONE)
        rc = unpack(view, PACKED_NEIGHBOR, width, out->edge_count, out, &neighbor, err);
    if (rc == ERROR_NONE && record_has(view, packed_name[PACKED_DEGREE]))
        rc = unpack(view, PACKED_DEGREE, width, out->row_count, out, &degree, err);
    out->row = row;
    out->neighbor = neighbor;
    out->degree = degree;
    for (uint32_t r = 0; rc == ERROR_NONE && r < out->relation_count; r++)
        rc = check_relation(view, out, r, err);
    return rc;
}

static enum error_code read_columns(const struct record_view *view, struct relation_batch *out,
                                    struct error *err)
{
    enum error_code rc = edge_sections_get(view, out->edge_count, &out->columns, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++) {
        const uint32_t width = out->columns.width.of[c];
        if (width)
            rc = keep(view, edge_column[c].name, edge_column[c].type,
                      (uint64_t)out->edge_count * width, out, &out->columns.data[c], err);
    }
    return rc;
}

enum error_code relation_batch_decode(const struct record_view *view, struct relation_batch *out,
                                      struct error *err)
{
    const uint32_t *width = NULL;
    relation_batch_forget(out);
    enum error_code rc = record_expect(view, RECORD_MINI_BATCH, VERSION, err);
    if (rc == ERROR_NONE)
        rc = read_shape(view, out, err);
    if (rc == ERROR_NONE)
        rc = read_hops(view, out, err);
    if (rc == ERROR_NONE)
        rc = packed_widths_get(view, packed_name, PACKED_COUNT, &width, err);
    if (rc == ERROR_NONE)
        rc = read_nodes(view, width, out, err);
    if (rc == ERROR_NONE)
        rc = count_rows(view, out, err);
    if (rc == ERROR_NONE)
        rc = read_row_starts(view, width, out, err);
    if (rc == ERROR_NONE)
        rc = read_edges(view, width, out, err);
    if (rc == ERROR_NONE)
        rc = read_columns(view, out, err);
    if (rc == ERROR_NONE)
        rc = seed_pairs_read(view, relation_batch_seeds(out, out->type_count), &out->memory,
                             &out->pairs, err);
    if (rc != ERROR_NONE)
        relation_batch_forget(out);
    return rc;
}

enum error_code relation_batch_get(struct store *store, const char *key, const char *run_id,
                                   struct relation_batch *out, struct error *err)
{
    struct record_view view = {0};
    relation_batch_forget(out);
    enum error_code rc = store_get(store, key, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = relation_batch_decode(&view, out, err);
    store_release_record(&view);
    return rc;
}
