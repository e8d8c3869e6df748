#include "store/topology/topology_delta.h"

#include "store/topology/topology_array.h"

#include <inttypes.h>
#include <string.h>

/* --- how nodes follow --- */

static enum error_code check_parts(const struct partition_book *book,
                                   const struct topology_base *base, struct error *err)
{
    const struct partition_delta *delta = &base->delta;
    if (delta->part_count != book->part_count)
        return error_set(err, ERROR_CORRUPT, "%s: %d parts, expected %d",
                         key_partition(book->id, "delta").text, delta->part_count,
                         book->part_count);
    for (int p = 0; p < book->part_count; p++) {
        const uint32_t expected = book->book[p + 1] - book->book[p];
        const uint64_t found = (uint64_t)node_shift_left(&base->shift, p) + delta->added[p];
        if (found != expected)
            return error_set(err, ERROR_CORRUPT,
                             "%s: %" PRIu64 " nodes in part %d, expected %" PRIu32,
                             key_partition(book->id, "delta").text, found, p, expected);
    }
    return ERROR_NONE;
}

enum error_code topology_base_read(struct store *store, const struct partition_book *book,
                                   struct topology_base *out, struct error *err)
{
    enum error_code rc = partition_delta_get(store, book->id, &out->delta, err);
    if (rc == ERROR_NONE)
        rc = node_shift_init(&out->shift, &out->delta, err);
    return rc == ERROR_NONE ? check_parts(book, out, err) : rc;
}

void topology_base_release(struct topology_base *base)
{
    node_shift_release(&base->shift);
    store_release_record(&base->delta.view);
    *base = (struct topology_base){.delta = {.base = ""}};
}

/* --- rows --- */

/* The edges of a row, in the file of the delta or in that of the base. */
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
    int number;
    struct merged_rows *to;
    /* Where the walk over the rows is. */
    uint32_t own_row, old_row;
};

static enum error_code wrong_row(const struct merging *m, uint32_t row, const char *what,
                                 struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "the row of node %" PRIu32 " %s",
                     m->part->first_node + row, what);
}

/* Finds the next row, `row` of the part. */
static enum error_code find_row(struct merging *m, uint32_t row, struct row_source *out,
                                struct error *err)
{
    const uint32_t node = m->part->first_node + row;
    const bool is_left = row < node_shift_left(&m->base->shift, m->number);
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

/* Sources ascend, so their parts do. */
static enum error_code shift_neighbors(const struct merging *m, uint32_t row,
                                       const struct row_source *source, uint32_t *to,
                                       struct error *err)
{
    const uint32_t *book = m->base->delta.base_book;
    const uint32_t node_count = book[m->base->delta.part_count];
    int part = 0;
    for (uint64_t e = source->from; e < source->end; e++) {
        const uint32_t node = neighbor_at(source, e);
        if (node >= node_count || node_shift_is_gone(&m->base->shift, node))
            return wrong_row(m, row, "has a source that the version has not", err);
        if (e == source->from || node < book[part])
            part = topology_part_of(&m->base->topology, node);
        while (node >= book[part + 1])
            part++;
        to[e - source->from] = node_shift_of(&m->base->shift, part, node);
    }
    return ERROR_NONE;
}

/* By pieces that lie in one chunk. */
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
                                     const struct held_arrays *own, int number,
                                     struct topology_part *part, struct merged_rows *out,
                                     struct error *err)
{
    struct merging m = {.base = base,
                        .old = topology_rows(&base->topology, number, 0),
                        .own = own,
                        .part = part,
                        .number = number,
                        .to = out};
    return merged_rows_build(store, part, count_rows, fill_rows, &m, out, err);
}
