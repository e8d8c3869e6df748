#include "store/records/edge_chunk.h"

#include "store/objects/keys.h"
#include "store/records/edge_sections.h"
#include "store/records/node_range.h"

#include <inttypes.h>

enum { EDGE_CHUNK_VERSION = 2 };

uint64_t edge_chunk_edges_max(const struct edge_widths *width)
{
    const uint64_t bytes = sizeof(uint32_t) + edge_widths_bytes(width);
    const uint64_t fit = ((uint64_t)1 << 29) / bytes;
    return fit < EDGE_CHUNK_EDGES_MAX ? fit : (uint64_t)EDGE_CHUNK_EDGES_MAX;
}

enum error_code edge_chunk_put(struct store *store, const char *dataset_id, int64_t chunk,
                               const struct edge_chunk *edges, struct error *err)
{
    const uint64_t range[NODE_RANGE_SIZE] = {edges->first_node, edges->node_count,
                                             edges->edge_count};
    struct record record = {.kind = RECORD_EDGE_CHUNK, .version = EDGE_CHUNK_VERSION};
    record_add(&record, "range", ELEMENT_U64, range, NODE_RANGE_SIZE);
    record_add(&record, "row_start", ELEMENT_U64, edges->row_start,
               (uint64_t)edges->node_count + 1);
    record_add(&record, "neighbor", ELEMENT_U32, edges->neighbor, edges->edge_count);
    edge_sections_add(&record, &edges->columns, edges->edge_count);
    return store_put(store, key_edge_chunk(dataset_id, chunk).text, dataset_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code check_row_start(const struct edge_chunk *edges, struct error *err)
{
    const uint64_t *start = edges->row_start;
    if (start[0] != 0)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"row_start\" entry 0: expected 0, found %" PRIu64, edges->view.key,
                         start[0]);
    for (uint32_t i = 0; i < edges->node_count; i++)
        if (start[i + 1] < start[i] || start[i + 1] > edges->edge_count)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"row_start\" entry %u: expected %" PRIu64 " to %" PRIu64
                             ", found %" PRIu64,
                             edges->view.key, i + 1, start[i], edges->edge_count, start[i + 1]);
    if (start[edges->node_count] != edges->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"row_start\" last entry: expected %" PRIu64 ", found %" PRIu64,
                         edges->view.key, edges->edge_count, start[edges->node_count]);
    return ERROR_NONE;
}

static enum error_code check_neighbors(const struct edge_chunk *edges, struct error *err)
{
    for (uint32_t row = 0; row < edges->node_count; row++)
        for (uint64_t i = edges->row_start[row] + 1; i < edges->row_start[row + 1]; i++)
            if (edges->neighbor[i] < edges->neighbor[i - 1])
                return error_set(err, ERROR_CORRUPT,
                                 "%s: \"neighbor\" entry %" PRIu64
                                 ": expected %u or more (rows ascend), found %u",
                                 edges->view.key, i, edges->neighbor[i - 1], edges->neighbor[i]);
    return ERROR_NONE;
}

static enum error_code check_edge_count(const struct edge_chunk *edges, struct error *err)
{
    const uint64_t most =
        edges->node_count > 1 ? edge_chunk_edges_max(&edges->columns.width) : UINT32_MAX;
    if (edges->edge_count <= most)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "%s: \"range\": expected at most %" PRIu64
                     " edges of several nodes, found %" PRIu64,
                     edges->view.key, most, edges->edge_count);
}

static enum error_code read_edges(struct edge_chunk *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const void *row_start = NULL, *neighbor = NULL;
    uint64_t found = 0;
    enum error_code rc = record_expect(view, RECORD_EDGE_CHUNK, EDGE_CHUNK_VERSION, err);
    if (rc == ERROR_NONE)
        rc = node_range_get(view, EDGE_CHUNK_NODES_MAX, &out->first_node, &out->node_count,
                            &out->edge_count, err);
    if (rc == ERROR_NONE)
        rc = edge_sections_get_widths(view, &out->columns.width, err);
    if (rc == ERROR_NONE)
        rc = check_edge_count(out, err);
    if (rc == ERROR_NONE)
        rc = edge_sections_get(view, out->edge_count, &out->columns, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "row_start", ELEMENT_U64, (int64_t)out->node_count + 1,
                                &row_start, &found, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "neighbor", ELEMENT_U32, (int64_t)out->edge_count, &neighbor,
                                &found, err);
    if (rc != ERROR_NONE)
        return rc;
    out->row_start = row_start;
    out->neighbor = neighbor;
    rc = check_row_start(out, err);
    if (rc == ERROR_NONE)
        rc = check_neighbors(out, err);
    return rc;
}

enum error_code edge_chunk_decode(const struct record_view *view, struct edge_chunk *out,
                                  struct error *err)
{
    *out = (struct edge_chunk){.view = *view};
    return read_edges(out, err);
}

enum error_code edge_chunk_get(struct store *store, const char *dataset_id, int64_t chunk,
                               struct edge_chunk *out, struct error *err)
{
    *out = (struct edge_chunk){0};
    enum error_code rc =
        store_get(store, key_edge_chunk(dataset_id, chunk).text, dataset_id, &out->view, err);
    if (rc == ERROR_NONE)
        rc = read_edges(out, err);
    if (rc != ERROR_NONE) {
        store_release_record(&out->view);
        *out = (struct edge_chunk){0};
    }
    return rc;
}
