/* Makes the rows of in-neighbours of a version. Declared in version_rows.h. */
#include "common/base/memory.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>
#include <string.h>

enum { ALIGNMENT = 64, PIECE_NODES = 1 << 16 };

struct row_maker {
    const struct version_fold *fold;
    struct repeated_edges *repeated; /* NULL if it is not wanted */
    uint64_t next_gone;              /* first removed edge that is not before the current one */
    uint64_t next_added;             /* first added edge that is not in a row yet */
    uint64_t *row_start;
    uint32_t *neighbor;
    struct edge_columns columns;
    uint64_t count; /* edges so far */
};

/* Returns the first added edge whose target is at least `node`. */
static uint64_t first_added(const struct version_fold *fold, uint32_t node)
{
    uint64_t low = 0, high = fold->added_edges;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (fold->edge[middle].target < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- one row --- */

static bool repeats_last(const struct row_maker *m, uint64_t row, uint32_t source,
                         const struct edge_columns_view *columns, uint64_t i)
{
    if (m->count == row || m->neighbor[m->count - 1] != source)
        return false;
    const struct edge_columns_view last = edge_columns_read(&m->columns, m->count - 1);
    return edge_columns_compare(&last, 0, columns, i) == 0;
}

static bool is_reverse(const struct row_maker *m, const struct fold_edge *edge)
{
    const struct edge_columns_view *columns = fold_edge_columns(m->fold, edge);
    const uint32_t reverses = m->repeated->first_reverse;
    return reverses && version_relation_of(m->fold, columns, edge->index) >= reverses;
}

static void note_repeated(const struct row_maker *m, const struct fold_edge *edge)
{
    struct repeated_edges *repeated = m->repeated;
    const bool is_second = m->fold->base.undirected && edge->source > edge->target;
    if (!repeated || edge->delta + 1 != m->fold->depth || is_second || is_reverse(m, edge))
        return;
    repeated->of_newest++;
    if (edge->index >= repeated->first)
        return;
    repeated->first = edge->index;
    repeated->source = edge->is_way_back ? edge->target : edge->source;
    repeated->target = edge->is_way_back ? edge->source : edge->target;
}

static void put(struct row_maker *m, uint32_t source, const struct edge_columns_view *columns,
                uint64_t i)
{
    m->neighbor[m->count] = source;
    edge_columns_copy(&m->columns, m->count++, columns, i, 1);
}

/* Puts the added edges of `node` that come before an edge of the base from `source`; with NODE_GONE
 * all that are left. */
static void put_added(struct row_maker *m, uint64_t row, uint32_t node, uint32_t source,
                      const struct edge_columns_view *columns, uint64_t i)
{
    const struct version_fold *fold = m->fold;
    for (; m->next_added < fold->added_edges && fold->edge[m->next_added].target == node;
         m->next_added++) {
        const struct fold_edge *edge = &fold->edge[m->next_added];
        const struct edge_columns_view *own = fold_edge_columns(fold, edge);
        if (edge->source > source ||
            (edge->source == source && edge_columns_compare(own, edge->index, columns, i) >= 0))
            return;
        if (fold->removes_repeated && repeats_last(m, row, edge->source, own, edge->index))
            note_repeated(m, edge);
        else
            put(m, edge->source, own, edge->index);
    }
}

/* Puts the row of a node of the base, row `at` of a chunk. Edges of the base are never dropped as
 * repeated, since ingest has removed repetitions. */
static enum error_code put_base_row(struct row_maker *m, const struct edge_chunk *chunk,
                                    uint32_t at, uint32_t node, struct error *err)
{
    const struct version_fold *fold = m->fold;
    const uint64_t row = m->count, end = chunk->row_start[at + 1];
    const uint64_t target = (uint64_t)(chunk->first_node + at) << 32;
    const struct fold_gone *gone = fold->gone_edge;
    while (m->next_gone < fold->gone_edges && gone[m->next_gone].key < target)
        m->next_gone++;
    const bool is_same =
        !fold->moves &&
        (m->next_gone == fold->gone_edges || gone[m->next_gone].key >> 32 != target >> 32) &&
        (m->next_added == fold->added_edges || fold->edge[m->next_added].target != node);
    uint64_t e = chunk->row_start[at];
    if (is_same && end > e) {
        memcpy(m->neighbor + m->count, chunk->neighbor + e, (end - e) * sizeof *m->neighbor);
        edge_columns_copy(&m->columns, m->count, &chunk->columns, e, end - e);
        m->count += end - e;
        return ERROR_NONE;
    }
    for (; e < end; e++) {
        const uint32_t source = chunk->neighbor[e];
        if (source >= fold->base.node_count)
            return error_set(err, ERROR_CORRUPT,
                             "%s: an edge from node %" PRIu32 ", expected below %" PRIu32,
                             chunk->view.key, source, fold->base.node_count);
        const uint32_t number = version_fold_number(fold, source);
        while (m->next_gone < fold->gone_edges && gone[m->next_gone].key < target + source)
            m->next_gone++;
        const bool is_gone = version_fold_is_gone(fold, m->next_gone, target + source,
                                                  version_relation_of(fold, &chunk->columns, e));
        if (number == NODE_GONE || is_gone)
            continue;
        put_added(m, row, node, number, &chunk->columns, e);
        put(m, number, &chunk->columns, e);
    }
    return ERROR_NONE;
}

static void put_rest(struct row_maker *m, uint64_t row, uint32_t node)
{
    static const struct edge_columns_view none;
    put_added(m, row, node, NODE_GONE, &none, 0);
}

/* --- rows --- */

static uint64_t chunk_of(const uint32_t *first, uint64_t count, uint32_t node)
{
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (first[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void base_cursor_close(struct base_cursor *cursor)
{
    store_release_record(&cursor->chunk.view);
    cursor->chunk = (struct edge_chunk){0};
}

/* Opens the chunk that has a node of the base, unless it is the current one. */
static enum error_code cursor_seek(struct base_cursor *c, const struct dataset_schema *base,
                                   uint32_t node, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (c->chunk.node_count && node >= c->chunk.first_node &&
        node - c->chunk.first_node < c->chunk.node_count)
        return ERROR_NONE;
    base_cursor_close(c);
    const uint64_t i = chunk_of(c->first, base->edge_chunk_count, node);
    rc = edge_chunk_get(c->store, base->id, (int64_t)i, &c->chunk, err);
    if (rc == ERROR_NONE && (c->chunk.first_node != c->first[i] ||
                             c->chunk.node_count != c->first[i + 1] - c->first[i] ||
                             !edge_widths_equal(&c->chunk.columns.width, &base->edge_width)))
        rc = error_set(err, ERROR_CORRUPT,
                       "%s: expected nodes %" PRIu32 " to %" PRIu32
                       " and the edge columns of its dataset",
                       c->chunk.view.key, c->first[i], c->first[i + 1] - 1);
    return rc;
}

static enum error_code make_rows(struct row_maker *m, struct base_cursor *cursor, uint32_t first,
                                 uint32_t end, struct error *err)
{
    const struct version_fold *fold = m->fold;
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = first; rc == ERROR_NONE && node < end;) {
        const struct version_run run = version_fold_run(fold, node, end);
        if (!run.is_added)
            m->next_gone = version_fold_first_gone(fold, (uint64_t)run.from << 32);
        for (uint32_t i = 0; rc == ERROR_NONE && i < run.count; i++, node++) {
            const uint64_t row = m->count;
            if (!run.is_added) {
                rc = cursor_seek(cursor, &fold->base, run.from + i, err);
                if (rc == ERROR_NONE)
                    rc = put_base_row(m, &cursor->chunk, run.from + i - cursor->chunk.first_node,
                                      node, err);
            }
            put_rest(m, row, node);
            m->row_start[node - first + 1] = m->count;
        }
    }
    return rc;
}

/* Counts the edges that end in nodes [node, node + count) of the base, from the chunks alone. */
static enum error_code count_run(const struct version_fold *fold, struct base_cursor *cursor,
                                 uint32_t node, uint32_t count, uint64_t *edges, struct error *err)
{
    const uint32_t end = node + count;
    while (node < end) {
        const enum error_code rc = cursor_seek(cursor, &fold->base, node, err);
        if (rc != ERROR_NONE)
            return rc;
        const struct edge_chunk *chunk = &cursor->chunk;
        const uint32_t from = node - chunk->first_node;
        const uint32_t left = end - node, here = chunk->node_count - from;
        const uint32_t rows = left < here ? left : here;
        *edges += chunk->row_start[from + rows] - chunk->row_start[from];
        node += rows;
    }
    return ERROR_NONE;
}

/* Counts the edges of the base that end in nodes [first, end) of the version. Removed edges count
 * too, so the result is an upper bound. */
static enum error_code count_base(const struct version_fold *fold, struct base_cursor *cursor,
                                  uint32_t first, uint32_t end, uint64_t *count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *count = 0;
    for (uint32_t node = first; rc == ERROR_NONE && node < end;) {
        const struct version_run run = version_fold_run(fold, node, end);
        if (!run.is_added)
            rc = count_run(fold, cursor, run.from, run.count, count, err);
        node += run.count;
    }
    return rc;
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t rows_bytes(const struct edge_widths *width, uint32_t rows, uint64_t edges)
{
    uint64_t bytes =
        aligned(((uint64_t)rows + 1) * sizeof(uint64_t)) + aligned(edges * sizeof(uint32_t));
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        bytes += aligned(edges * edge_column_bytes((enum edge_column)c, width->of[c]));
    return bytes;
}

static enum error_code open_rows(struct row_maker *m, struct edge_chunk *out, uint32_t rows,
                                 uint64_t edges, struct error *err)
{
    const struct edge_widths *width = &m->fold->base.edge_width;
    const enum error_code rc =
        version_block(&out->view, m->fold, "edges", rows_bytes(width, rows, edges), err);
    if (rc != ERROR_NONE)
        return rc;
    uint8_t *at = NULL;
    memcpy(&at, &out->view.data, sizeof at); /* it is private until it is returned */
    m->row_start = (uint64_t *)(void *)at;
    at += aligned(((uint64_t)rows + 1) * sizeof *m->row_start);
    m->neighbor = (uint32_t *)(void *)at;
    at += aligned(edges * sizeof *m->neighbor);
    m->columns.width = *width;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (width->of[c]) {
            m->columns.data[c] = at;
            at += aligned(edges * edge_column_bytes((enum edge_column)c, width->of[c]));
        }
    return ERROR_NONE;
}

enum error_code version_edges(const struct version_fold *fold, struct base_cursor *cursor,
                              uint32_t first, uint32_t end, struct edge_chunk *out,
                              struct repeated_edges *repeated, struct error *err)
{
    struct row_maker m = {.fold = fold, .repeated = repeated};
    uint64_t edges = 0;
    *out = (struct edge_chunk){.first_node = first, .node_count = end - first};
    m.next_added = first_added(fold, first);
    enum error_code rc = count_base(fold, cursor, first, end, &edges, err);
    if (rc == ERROR_NONE)
        rc = open_rows(&m, out, end - first, edges + first_added(fold, end) - m.next_added, err);
    if (rc == ERROR_NONE)
        rc = make_rows(&m, cursor, first, end, err);
    if (rc != ERROR_NONE) {
        store_release_record(&out->view);
        *out = (struct edge_chunk){0};
        return rc;
    }
    out->edge_count = m.count;
    out->row_start = m.row_start;
    out->neighbor = m.neighbor;
    out->columns = edge_columns_read(&m.columns, 0);
    return ERROR_NONE;
}

enum error_code version_edges_piece(const struct version_fold *fold, struct base_cursor *cursor,
                                    uint32_t first, uint32_t end, uint64_t bytes_most,
                                    uint32_t *piece_end, struct error *err)
{
    uint32_t rows = end - first < PIECE_NODES ? end - first : PIECE_NODES;
    for (;; rows = (rows + 1) / 2) {
        uint64_t edges = 0;
        const enum error_code rc = count_base(fold, cursor, first, first + rows, &edges, err);
        if (rc != ERROR_NONE)
            return rc;
        edges += first_added(fold, first + rows) - first_added(fold, first);
        *piece_end = first + rows;
        if (rows == 1 || rows_bytes(&fold->base.edge_width, rows, edges) <= bytes_most)
            return ERROR_NONE;
    }
}
