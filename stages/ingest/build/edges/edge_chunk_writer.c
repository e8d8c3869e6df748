#include "stages/ingest/build/edges/edge_chunk_writer.h"

#include "common/base/memory.h"
#include "store/records/dataset/edge_chunk.h"

static uint32_t node_capacity(const struct edge_chunk_needs *needs)
{
    return needs->node_count < EDGE_CHUNK_NODES_MAX ? needs->node_count : EDGE_CHUNK_NODES_MAX;
}

/* Returns the edges that a chunk must hold: the limit, or the largest row if it is above the limit,
 * because such a row is a chunk of its own. */
static uint64_t edge_capacity(const struct edge_chunk_needs *needs)
{
    const uint64_t most = edge_chunk_edges_max(&needs->width);
    const uint64_t chunk = needs->largest_row > most ? needs->largest_row : most;
    return needs->edge_count < chunk ? needs->edge_count : chunk;
}

uint64_t edge_chunk_writer_bytes(const struct edge_chunk_needs *needs)
{
    return ((uint64_t)node_capacity(needs) + 1) * sizeof(uint64_t) +
           edge_capacity(needs) * (sizeof(uint32_t) + edge_widths_bytes(&needs->width));
}

enum error_code edge_chunk_writer_open(struct edge_chunk_writer *writer, struct store *store,
                                       const char *dataset_id, const struct edge_chunk_needs *needs,
                                       struct error *err)
{
    const char *what = "an edge chunk";
    *writer = (struct edge_chunk_writer){.store = store,
                                         .dataset_id = dataset_id,
                                         .edges_max = edge_chunk_edges_max(&needs->width),
                                         .nodes_max = node_capacity(needs),
                                         .edge_capacity = edge_capacity(needs)};
    const uint64_t edges = writer->edge_capacity;
    enum error_code rc = memory_new(&writer->row_start, (size_t)writer->nodes_max + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&writer->neighbor, edges, what, err);
    if (rc == ERROR_NONE)
        rc = edge_columns_new(&writer->columns, &needs->width, edges, what, err);
    if (rc != ERROR_NONE)
        edge_chunk_writer_release(writer);
    return rc;
}

void edge_chunk_writer_release(struct edge_chunk_writer *writer)
{
    memory_free(writer->row_start);
    memory_free(writer->neighbor);
    edge_columns_release(&writer->columns);
    *writer = (struct edge_chunk_writer){0};
}

static enum error_code store_chunk(struct edge_chunk_writer *writer, struct error *err)
{
    const struct edge_chunk chunk = {
        .first_node = writer->first_node,
        .node_count = writer->node_count,
        .edge_count = writer->edge_count,
        .row_start = writer->row_start,
        .neighbor = writer->neighbor,
        .columns = edge_columns_read(&writer->columns, 0),
    };
    const enum error_code rc = edge_chunk_put(writer->store, writer->dataset_id,
                                              (int64_t)writer->chunk_count, &chunk, err);
    writer->first_node += writer->node_count;
    writer->node_count = 0;
    writer->edge_count = 0;
    writer->chunk_count++;
    return rc;
}

static void copy_row(struct edge_chunk_writer *writer, const struct edge_row *row,
                     const uint64_t *order, uint32_t kept)
{
    const uint64_t at = writer->edge_count;
    for (uint32_t i = 0; i < kept; i++)
        writer->neighbor[at + i] = (uint32_t)(order[i] >> 32);
    edge_columns_gather(&writer->columns, at, &row->columns, order, kept);
}

enum error_code edge_chunk_writer_add(struct edge_chunk_writer *writer, const struct edge_row *row,
                                      const uint64_t *order, uint32_t kept, struct error *err)
{
    const bool full =
        writer->node_count == writer->nodes_max || writer->edge_count + kept > writer->edges_max;
    if (full && writer->node_count > 0) {
        const enum error_code rc = store_chunk(writer, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    must(writer->edge_count + kept <= writer->edge_capacity);
    copy_row(writer, row, order, kept);
    writer->edge_count += kept;
    writer->node_count++;
    writer->row_start[writer->node_count] = writer->edge_count;
    return ERROR_NONE;
}

enum error_code edge_chunk_writer_finish(struct edge_chunk_writer *writer, struct error *err)
{
    return writer->node_count > 0 ? store_chunk(writer, err) : ERROR_NONE;
}
