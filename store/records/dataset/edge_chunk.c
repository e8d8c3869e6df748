#include "store/records/dataset/edge_chunk.h"

#include "store/records/dataset/edge_sections.h"
#include "store/records/dataset/node_range.h"
#include "store/records/section_table.h"

#include <inttypes.h>

uint64_t edge_chunk_edges_max(const struct edge_widths *width)
{
    const uint64_t bytes = sizeof(uint32_t) + edge_widths_bytes(width);
    const uint64_t fit = ((uint64_t)1 << 29) / bytes;
    return fit < EDGE_CHUNK_EDGES_MAX ? fit : (uint64_t)EDGE_CHUNK_EDGES_MAX;
}

static enum error_code check_neighbors(const struct record_view *view, void *out, struct error *err)
{
    const struct edge_chunk *edges = out;
    for (uint32_t row = 0; row < edges->node_count; row++)
        for (uint64_t i = edges->row_start[row] + 1; i < edges->row_start[row + 1]; i++)
            if (edges->neighbor[i] < edges->neighbor[i - 1])
                return error_set(err, ERROR_CORRUPT,
                                 "%s: \"neighbor\" entry %" PRIu64
                                 ": expected %u or more (rows ascend), found %u",
                                 view->key, i, edges->neighbor[i - 1], edges->neighbor[i]);
    return ERROR_NONE;
}

static enum error_code check_range(const struct record_view *view, void *out, struct error *err)
{
    const struct edge_chunk *edges = out;
    struct edge_widths width;
    const enum error_code rc = edge_sections_get_widths(view, &width, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t most = edges->node_count > 1 ? edge_chunk_edges_max(&width) : UINT32_MAX;
    if (edges->edge_count > most)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"range\": expected at most %" PRIu64
                         " edges of several nodes, found %" PRIu64,
                         view->key, most, edges->edge_count);
    return node_range_check(view, edges->first_node, edges->node_count, err);
}

static void add_columns(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct edge_chunk *edges = from;
    (void)scratch;
    edge_sections_add(record, &edges->columns, edges->edge_count);
}

static enum error_code read_columns(const struct record_view *view, void *out, struct error *err)
{
    struct edge_chunk *edges = out;
    return edge_sections_get(view, edges->edge_count, &edges->columns, err);
}

#define SECTION_STRUCT struct edge_chunk
static const struct section_number range[] = {
    {"first node", AT(first_node), 0, 0},
    {"nodes", AT(node_count), 1, EDGE_CHUNK_NODES_MAX},
    {"edges", AT(edge_count), 0, 0},
};
static const struct section_row rows[] = {
    {SECTION_NUMBERS("range", U64, range), .read = check_range},
    {SECTION_ARRAY("row_start", U64, row_start), .count = AT(node_count), .plus = 1,
     .checks = SECTION_OFFSETS, .limit = AT(edge_count), .behind = 1},
    {SECTION_ARRAY("neighbor", U32, neighbor), .count = AT(edge_count), .read = check_neighbors},
    {SECTION_HAND(add_columns, read_columns)},
};
static const struct section_table table = SECTION_TABLE(RECORD_EDGE_CHUNK, 2, 2, rows);

enum error_code edge_chunk_put(struct store *store, const char *dataset_id, int64_t chunk,
                               const struct edge_chunk *edges, struct error *err)
{
    return section_table_put(store, &table, key_edge_chunk(dataset_id, chunk).text, dataset_id,
                             edges, STORE_DURABLE, err);
}

enum error_code edge_chunk_decode(const struct record_view *view, struct edge_chunk *out,
                                  struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code edge_chunk_get(struct store *store, const char *dataset_id, int64_t chunk,
                               struct edge_chunk *out, struct error *err)
{
    return section_table_get(store, &table, key_edge_chunk(dataset_id, chunk).text, dataset_id, out,
                             err);
}
