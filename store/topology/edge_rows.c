#include "store/topology/edge_rows.h"

#include "common/parallel/first_failure.h"
#include "store/records/batch/batch_form.h"

#include <inttypes.h>
#include <string.h>

/* Edges that one thread fetches at a time. */
enum { TILE_EDGES = 8192 };

struct fetch {
    const struct topology *topology;
    const struct mini_batch *batch;
    size_t row_bytes;
    char *out; /* [edges, width] */
    struct first_failure failure;
};

/* The row of the batch that an edge is in, and the edges of its node in the topology. */
struct batch_row {
    uint32_t row, end; /* edges of the row, in the batch */
    const struct topology_part *part;
    uint64_t start, length;
};

static void find_edges(const struct fetch *f, struct batch_row *row)
{
    const struct topology *topology = f->topology;
    const uint32_t node = f->batch->node[batch_form_node_of_row(f->batch, 0, row->row)];
    row->part = &topology->part[topology_part_of(topology, node)];
    row->end = f->batch->row_start[row->row + 1];
    row->start = topology_row_start(row->part, node - row->part->first_node);
    row->length = topology_row_start(row->part, node - row->part->first_node + 1) - row->start;
}

/* Returns the row that has edge `edge`: the last one that begins at or before it. */
static uint32_t row_of(const struct mini_batch *batch, uint32_t edge)
{
    uint32_t low = 0, high = batch->row_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (batch->row_start[middle] <= edge)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static enum error_code no_such_edge(const struct fetch *f, const struct batch_row *row,
                                    uint32_t edge, struct error *err)
{
    return error_set(err, ERROR_CORRUPT,
                     "edge_position[%" PRIu32 "]: expected below %" PRIu64
                     ", the edges of node %" PRIu32 " in the topology, found %" PRIu32,
                     edge, row->length,
                     f->batch->node[batch_form_node_of_row(f->batch, 0, row->row)],
                     f->batch->edge_position[edge]);
}

static enum error_code fetch_edges(const struct fetch *f, uint32_t first, uint32_t end,
                                   struct error *err)
{
    const char *address[EDGE_ROWS_AHEAD];
    struct batch_row row = {.row = row_of(f->batch, first)};
    find_edges(f, &row);
    for (uint64_t e = first; e < (uint64_t)end + EDGE_ROWS_AHEAD; e++) {
        const char **slot = &address[e % EDGE_ROWS_AHEAD];
        if (e >= (uint64_t)first + EDGE_ROWS_AHEAD)
            memcpy(f->out + (e - EDGE_ROWS_AHEAD) * f->row_bytes, *slot, f->row_bytes);
        if (e >= end)
            continue;
        while (row.end <= e) {
            row.row++;
            row.end = f->batch->row_start[row.row + 1];
            if (row.end > e)
                find_edges(f, &row);
        }
        const uint32_t position = f->batch->edge_position[e];
        if (position >= row.length)
            return no_such_edge(f, &row, (uint32_t)e, err);
        *slot = topology_column(row.part, EDGE_FEATURE, row.start + position);
        __builtin_prefetch(*slot, 0, 2);
    }
    return ERROR_NONE;
}

static void fetch_tile(void *context, int64_t tile, int thread)
{
    struct fetch *f = context;
    struct error err = {0};
    const uint32_t first = (uint32_t)tile * TILE_EDGES, left = f->batch->edge_count - first;
    (void)thread;
    const enum error_code rc =
        fetch_edges(f, first, first + (left < TILE_EDGES ? left : TILE_EDGES), &err);
    first_failure_keep(&f->failure, rc, tile, &err);
}

enum error_code edge_rows_fetch(const struct topology *topology, struct mini_batch *batch,
                                struct thread_pool *pool, struct error *err)
{
    const uint32_t width = topology->width.of[EDGE_FEATURE];
    struct fetch f = {
        .topology = topology, .batch = batch, .row_bytes = edge_column_bytes(EDGE_FEATURE, width)};
    if (batch->columns.width.of[EDGE_FEATURE])
        return ERROR_NONE;
    must(batch->edge_position && width && batch->node_limit <= topology->node_count);
    const uint64_t words = (batch->edge_count * (uint64_t)f.row_bytes + 7) / 8;
    uint64_t *room = NULL;
    enum error_code rc =
        arena_new(&batch->memory, &room, words, "the edge features of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    f.out = (char *)room;
    first_failure_init(&f.failure);
    thread_pool_run(pool, ((int64_t)batch->edge_count + TILE_EDGES - 1) / TILE_EDGES, fetch_tile,
                    &f);
    rc = first_failure_end(&f.failure, err);
    if (rc != ERROR_NONE)
        return rc;
    batch->columns.width.of[EDGE_FEATURE] = width;
    batch->columns.data[EDGE_FEATURE] = room;
    return ERROR_NONE;
}
