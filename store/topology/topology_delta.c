#include "store/topology/topology_delta.h"

#include "common/base/memory.h"
#include "store/topology/topology_array.h"

#include <inttypes.h>
#include <string.h>

/* --- base and version --- */

static enum error_code check_parts(const struct partition_book *book,
                                   const struct topology_base *base, struct error *err)
{
    const struct partition_delta *delta = &base->delta;
    const struct type_ranges ranges = partition_book_ranges(book);
    if (delta->part_count != book->part_count || delta->type_count != book->type_count)
        return error_set(
            err, ERROR_CORRUPT, "%s: %d parts of %" PRIu32 " types, expected %d of %" PRIu32,
            key_partition(book->id, "delta").text, delta->part_count, partition_delta_types(delta),
            book->part_count, partition_book_types(book));
    for (int p = 0; p < book->part_count; p++)
        for (uint32_t t = 0; t < partition_delta_types(delta); t++) {
            const uint32_t expected = type_ranges_count(&ranges, p, t);
            const uint64_t found =
                (uint64_t)node_shift_left(&base->shift, p, t) + partition_delta_added(delta, p, t);
            if (found != expected)
                return error_set(err, ERROR_CORRUPT,
                                 "%s: %" PRIu64 " nodes of type %" PRIu32
                                 " in part %d, expected %" PRIu32,
                                 key_partition(book->id, "delta").text, found, t, p, expected);
        }
    return ERROR_NONE;
}

static enum error_code copy_relations(const struct partition_book *book, struct relation **out,
                                      struct error *err)
{
    const uint32_t count = partition_book_relations(book);
    const enum error_code rc = memory_new(out, count, "the relations of a delta", err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < count; r++)
        (*out)[r] = *partition_book_relation(book, r);
    return rc;
}

enum error_code topology_base_read(struct store *store, const struct partition_book *book,
                                   struct topology_base *out, struct error *err)
{
    enum error_code rc = partition_delta_get(store, book->id, &out->delta, err);
    if (rc == ERROR_NONE)
        rc = node_shift_init(&out->shift, &out->delta, err);
    if (rc == ERROR_NONE)
        rc = copy_relations(book, &out->relation, err);
    return rc == ERROR_NONE ? check_parts(book, out, err) : rc;
}

void topology_base_release(struct topology_base *base)
{
    memory_free(base->relation);
    node_shift_release(&base->shift);
    store_release_record(&base->delta.view);
    *base = (struct topology_base){.delta = {.base = ""}};
}

/* --- rows --- */

/* The edges of a row, in the file of the delta or of the base. */
struct row_source {
    const uint32_t *const *neighbor_chunk;
    const char *const *const *column_chunk; /* [EDGE_COLUMN_COUNT] */
    uint64_t from, end;
    bool is_of_base;
};

struct merging {
    const struct topology_base *base;
    const struct topology_part *old; /* of the base */
    const struct held_arrays *own;
    const struct topology_part *part;
    uint32_t source_type;
    uint32_t left; /* rows of the base that still exist */
    struct merged_rows *to;
    /* The position of the pass over the rows. */
    uint32_t own_row, old_row;
};

static enum error_code wrong_row(const struct merging *m, uint32_t row, const char *what,
                                 struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "the row of node %" PRIu32 " %s",
                     m->part->first_node + row, what);
}

/* Finds the source of the next row, `row` of the part. */
static enum error_code find_row(struct merging *m, uint32_t row, struct row_source *out,
                                struct error *err)
{
    const uint32_t node = m->part->first_node + row;
    const bool is_left = row < m->left;
    uint64_t edges = m->own->edge_count;
    while (is_left && node_shift_is_gone(&m->base->shift, m->old->first_node + m->old_row))
        m->old_row++;
    if (m->own_row < m->own->row_count && held_row_node(m->own, m->own_row) == node) {
        *out = (struct row_source){.neighbor_chunk = m->own->neighbor_chunk,
                                   .column_chunk = (const char *const *const *)m->own->column_chunk,
                                   .from = held_row_start(m->own, m->own_row),
                                   .end = held_row_start(m->own, m->own_row + 1)};
        m->own_row++;
    } else if (!is_left) {
        return wrong_row(m, row, "is in neither file: expected a new one in that of the delta",
                         err);
    } else {
        edges = m->old->edge_count;
        *out = (struct row_source){.neighbor_chunk = m->old->neighbor_chunk,
                                   .column_chunk = (const char *const *const *)m->old->column_chunk,
                                   .from = topology_row_start(m->old, m->old_row),
                                   .end = topology_row_start(m->old, m->old_row + 1),
                                   .is_of_base = true};
    }
    m->old_row += is_left;
    return out->end < out->from || out->end > edges
               ? wrong_row(m, row, "ends beyond the edges of its file", err)
               : ERROR_NONE;
}

static enum error_code count_rows(void *merging, struct error *err)
{
    struct merging *m = merging;
    uint64_t *start = merged_rows_at(m->to, TOPOLOGY_ROW_START);
    enum error_code rc = ERROR_NONE;
    m->own_row = m->old_row = 0;
    start[0] = 0;
    for (uint32_t row = 0; rc == ERROR_NONE && row < m->part->node_count; row++) {
        struct row_source source = {.from = 0};
        rc = find_row(m, row, &source, err);
        start[row + 1] = start[row] + (source.end - source.from);
        if (rc == ERROR_NONE && start[row + 1] > m->part->edge_count)
            return wrong_row(m, row, "goes beyond the edges of the part", err);
    }
    if (rc != ERROR_NONE)
        return rc;
    if (m->own_row != m->own->row_count)
        return error_set(err, ERROR_CORRUPT,
                         "row %" PRIu32 " of the delta is of node %" PRIu32
                         ", expected ascending nodes of the part",
                         m->own_row, held_row_node(m->own, m->own_row));
    if (start[m->part->node_count] != m->part->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "base and delta have %" PRIu64 " edges, expected %" PRIu64,
                         start[m->part->node_count], m->part->edge_count);
    return ERROR_NONE;
}

static uint32_t neighbor_at(const struct row_source *source, uint64_t edge)
{
    return source->neighbor_chunk[edge >> TOPOLOGY_CHUNK_SHIFT]
                                 [edge & ((UINT64_C(1) << TOPOLOGY_CHUNK_SHIFT) - 1)];
}

/* Converts the neighbours of a row. They ascend, so their parts do too. */
static enum error_code shift_neighbors(const struct merging *m, uint32_t row,
                                       const struct row_source *source, uint32_t *to,
                                       struct error *err)
{
    const struct type_ranges ranges = partition_delta_ranges(&m->base->delta);
    uint32_t first = 0, end = 0; /* nodes of the source type in `part` */
    int part = 0;
    for (uint64_t e = source->from; e < source->end; e++) {
        const uint32_t node = neighbor_at(source, e);
        if (node >= ranges.part_start[ranges.part_count] ||
            node_shift_is_gone(&m->base->shift, node))
            return wrong_row(m, row, "has a source that the version has not", err);
        if (node < first || node >= end) {
            part = type_ranges_part(&ranges, node);
            first = type_ranges_first(&ranges, part, m->source_type);
            end = type_ranges_first(&ranges, part, m->source_type + 1);
        }
        if (node < first || node >= end)
            return wrong_row(m, row, "has a source that is not of the relation's type", err);
        to[e - source->from] = node_shift_of(&m->base->shift, part, m->source_type, node);
    }
    return ERROR_NONE;
}

/* Copies a column of a row, chunk by chunk. */
static void copy_column(const struct merging *m, enum edge_column column,
                        const struct row_source *source, uint64_t to)
{
    const uint32_t width = m->part->width.of[column];
    const size_t bytes = edge_column_bytes(column, width);
    const unsigned shift = bytes ? topology_column_shift(column, width) : 0;
    const uint64_t chunk_edges = UINT64_C(1) << shift;
    for (uint64_t e = source->from; bytes && e < source->end;) {
        const uint64_t in_chunk = chunk_edges - (e & (chunk_edges - 1));
        const uint64_t count = source->end - e < in_chunk ? source->end - e : in_chunk;
        memcpy(merged_rows_column(m->to, column, to),
               source->column_chunk[column][e >> shift] + (e & (chunk_edges - 1)) * bytes,
               count * bytes);
        e += count;
        to += count;
    }
}

static enum error_code fill_rows(void *merging, struct error *err)
{
    struct merging *m = merging;
    const uint64_t *start = merged_rows_at(m->to, TOPOLOGY_ROW_START);
    uint32_t *neighbor = merged_rows_at(m->to, TOPOLOGY_NEIGHBOR);
    enum error_code rc = ERROR_NONE;
    m->own_row = m->old_row = 0;
    for (uint32_t row = 0; rc == ERROR_NONE && row < m->part->node_count; row++) {
        struct row_source source = {0};
        rc = find_row(m, row, &source, err);
        if (rc == ERROR_NONE && source.is_of_base)
            rc = shift_neighbors(m, row, &source, neighbor + start[row], err);
        else if (rc == ERROR_NONE)
            for (uint64_t e = source.from; e < source.end; e++)
                neighbor[start[row] + (e - source.from)] = neighbor_at(&source, e);
        for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
            copy_column(m, (enum edge_column)c, &source, start[row]);
    }
    return rc;
}

enum error_code topology_delta_merge(struct store *store, const struct topology_base *base,
                                     const struct held_arrays *own, int number, uint32_t relation,
                                     struct topology_part *part, struct merged_rows *out,
                                     struct error *err)
{
    const struct relation *ends = &base->relation[relation];
    struct merging m = {.base = base,
                        .old = topology_rows(&base->topology, number, relation),
                        .own = own,
                        .part = part,
                        .source_type = ends->source_type,
                        .left = node_shift_left(&base->shift, number, ends->target_type),
                        .to = out};
    return merged_rows_build(store, part, count_rows, fill_rows, &m, out, err);
}
