#include "store/topology/topology_merge.h"

#include "common/base/memory.h"
#include "store/topology/topology_array.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t chunk_mask = (UINT64_C(1) << TOPOLOGY_CHUNK_SHIFT) - 1;

/* --- arrays of a part --- */

enum error_code held_arrays_find(const struct topology_file *file, const struct topology_seal *seal,
                                 uint32_t relation, struct held_arrays *out, struct error *err)
{
    struct topology_array array[TOPOLOGY_HELD_ARRAY_COUNT];
    *out = (struct held_arrays){.row_count = seal->held[relation].rows,
                                .edge_count = seal->held[relation].edges,
                                .width = seal->width};
    topology_arrays_describe_held(relation, out->row_count, out->edge_count, &out->width, array);
    enum error_code rc =
        topology_file_chunks(file, &array[TOPOLOGY_ROW_NODE], &out->row_node_chunk, err);
    if (rc == ERROR_NONE)
        rc = topology_file_chunks(file, &array[TOPOLOGY_ROW_START], &out->row_start_chunk, err);
    if (rc == ERROR_NONE)
        rc = topology_file_chunks(file, &array[TOPOLOGY_NEIGHBOR], &out->neighbor_chunk, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
        if (out->width.of[c])
            rc = topology_file_chunks(file, &array[TOPOLOGY_FIRST_COLUMN + c],
                                      &out->column_chunk[c], err);
    if (rc != ERROR_NONE)
        held_arrays_release(out);
    return rc;
}

void held_arrays_release(struct held_arrays *held)
{
    memory_free(held->row_node_chunk);
    memory_free(held->row_start_chunk);
    memory_free(held->neighbor_chunk);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        memory_free(held->column_chunk[c]);
    *held = (struct held_arrays){0};
}

static uint32_t neighbor(const struct held_arrays *held, uint64_t edge)
{
    return held->neighbor_chunk[edge >> TOPOLOGY_CHUNK_SHIFT][edge & chunk_mask];
}

/* Returns the first row whose node is at least `node`. */
static uint32_t first_row(const struct held_arrays *held, uint32_t node)
{
    uint32_t low = 0, high = held->row_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (held_row_node(held, middle) < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- rows --- */

/* The edges of a row that one part holds. */
struct piece {
    const struct held_arrays *held;
    uint64_t at, end;
};

struct merging {
    struct held_part *held; /* [count] */
    int count;
    const struct topology_part *part;
    struct merged_rows *to;
    struct piece *piece; /* [count], owned; for the current row */
};

/* Finds the pieces of the row of `node`. Fails: ERROR_CORRUPT for a piece that ends before it
 * begins, or beyond the edges. */
static enum error_code find_pieces(struct merging *m, uint32_t node, int *pieces, struct error *err)
{
    *pieces = 0;
    for (int p = 0; p < m->count; p++) {
        const struct held_arrays *held = m->held[p].arrays;
        const uint32_t row = m->held[p].row;
        if (row >= held->row_count || held_row_node(held, row) != node)
            continue;
        const uint64_t from = held_row_start(held, row), end = held_row_start(held, row + 1);
        if (end < from || end > held->edge_count)
            return error_set(err, ERROR_CORRUPT,
                             "part %d holds edges %" PRIu64 " to %" PRIu64 " of node %" PRIu32
                             ", expected at most %" PRIu64,
                             p, from, end, node, held->edge_count);
        m->piece[(*pieces)++] = (struct piece){held, from, end};
        m->held[p].row++;
    }
    return ERROR_NONE;
}

static void begin_rows(struct merging *m)
{
    for (int p = 0; p < m->count; p++)
        m->held[p].row = first_row(m->held[p].arrays, m->part->first_node);
}

static enum error_code count_rows(void *merging, struct error *err)
{
    struct merging *m = merging;
    const struct topology_part *part = m->part;
    uint64_t *start = merged_rows_at(m->to, TOPOLOGY_ROW_START);
    enum error_code rc = ERROR_NONE;
    begin_rows(m);
    start[0] = 0;
    for (uint32_t row = 0; rc == ERROR_NONE && row < part->node_count; row++) {
        int pieces = 0;
        rc = find_pieces(m, part->first_node + row, &pieces, err);
        start[row + 1] = start[row];
        for (int i = 0; i < pieces; i++)
            start[row + 1] += m->piece[i].end - m->piece[i].at;
    }
    if (rc == ERROR_NONE && start[part->node_count] != part->edge_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "the parts of a vertex cut hold %" PRIu64 " edges to the nodes from %" PRIu32
                       ", expected %" PRIu64,
                       start[part->node_count], part->first_node, part->edge_count);
    return rc;
}

static void copy_edge(const struct merging *m, uint64_t to, const struct held_arrays *held,
                      uint64_t from)
{
    const struct edge_widths *width = &m->part->width;
    ((uint32_t *)merged_rows_at(m->to, TOPOLOGY_NEIGHBOR))[to] = neighbor(held, from);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const size_t bytes = edge_column_bytes((enum edge_column)c, width->of[c]);
        if (!bytes)
            continue;
        const unsigned shift = topology_column_shift((enum edge_column)c, width->of[c]);
        const char *chunk = held->column_chunk[c][from >> shift];
        memcpy(merged_rows_column(m->to, (enum edge_column)c, to),
               chunk + (from & ((UINT64_C(1) << shift) - 1)) * bytes, bytes);
    }
}

/* Merges the pieces: the smallest source first, and among equal ones the first piece. */
static void merge_pieces(struct merging *m, int pieces, uint64_t at)
{
    for (;;) {
        struct piece *next = NULL;
        for (int i = 0; i < pieces; i++) {
            struct piece *piece = &m->piece[i];
            if (piece->at < piece->end &&
                (!next || neighbor(piece->held, piece->at) < neighbor(next->held, next->at)))
                next = piece;
        }
        if (!next)
            return;
        copy_edge(m, at++, next->held, next->at++);
    }
}

static enum error_code fill_rows(void *merging, struct error *err)
{
    struct merging *m = merging;
    const uint64_t *start = merged_rows_at(m->to, TOPOLOGY_ROW_START);
    enum error_code rc = ERROR_NONE;
    begin_rows(m);
    for (uint32_t row = 0; rc == ERROR_NONE && row < m->part->node_count; row++) {
        int pieces = 0;
        rc = find_pieces(m, m->part->first_node + row, &pieces, err);
        if (rc == ERROR_NONE)
            merge_pieces(m, pieces, start[row]);
    }
    return rc;
}

/* --- the part --- */

enum error_code topology_merge(struct store *store, struct held_part *held, int count,
                               struct topology_part *part, struct merged_rows *out,
                               struct error *err)
{
    struct merging m = {.held = held, .count = count, .part = part, .to = out};
    enum error_code rc = memory_new(&m.piece, (size_t)count, "pieces of rows", err);
    if (rc == ERROR_NONE)
        rc = merged_rows_build(store, part, count_rows, fill_rows, &m, out, err);
    memory_free(m.piece);
    return rc;
}
