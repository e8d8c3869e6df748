#include "stages/partition/layout/edge_walk.h"

#include "common/base/stop_signal.h"
#include "store/versions/listed_rows.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>

static enum error_code check_sources(const struct dataset_schema *schema,
                                     const struct edge_chunk *chunk, struct error *err)
{
    const uint64_t end = chunk->row_start[chunk->node_count];
    for (uint64_t edge = chunk->row_start[0]; edge < end; edge++)
        if (chunk->neighbor[edge] >= schema->node_count)
            return error_set(err, ERROR_CORRUPT,
                             "edge %" PRIu64 " comes from node %" PRIu32
                             ", expected below %" PRIu32,
                             edge, chunk->neighbor[edge], schema->node_count);
    return ERROR_NONE;
}

static enum error_code check_chunk(const struct dataset_schema *schema, uint32_t next_node,
                                   const struct edge_chunk *chunk, struct error *err)
{
    if (chunk->first_node != next_node || chunk->node_count > schema->node_count - next_node)
        return error_set(err, ERROR_CORRUPT,
                         "holds %" PRIu32 " nodes from %" PRIu32 ", expected node %" PRIu32
                         " next of %" PRIu32,
                         chunk->node_count, chunk->first_node, next_node, schema->node_count);
    if (!edge_widths_equal(&chunk->columns.width, &schema->edge_width))
        return error_set(err, ERROR_CORRUPT, "edge columns are not there as the schema says");
    return check_sources(schema, chunk, err);
}

static enum error_code walk(struct merged_edges *pass, const struct dataset_schema *schema,
                            edge_visitor visit, void *context, struct error *err)
{
    uint32_t next_node = 0;
    uint64_t edge_count = 0;
    enum error_code rc = ERROR_NONE;
    bool found = true;
    while (rc == ERROR_NONE) {
        struct edge_chunk chunk = {0};
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        rc = merged_edges_next(pass, &chunk, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = check_chunk(schema, next_node, &chunk, err);
        if (rc != ERROR_NONE)
            rc = error_context(err, rc, "%s", chunk.view.key);
        else
            rc = visit(context, &chunk, err);
        next_node += chunk.node_count;
        edge_count += chunk.edge_count;
        store_release_record(&chunk.view);
    }
    if (rc == ERROR_NONE && (next_node != schema->node_count || edge_count != schema->edge_count))
        rc = error_set(err, ERROR_CORRUPT,
                       "dataset %s: the edge chunks hold %" PRIu32 " nodes and %" PRIu64
                       " edges, expected %" PRIu32 " and %" PRIu64,
                       schema->id, next_node, edge_count, schema->node_count, schema->edge_count);
    return rc;
}

enum error_code edge_walk(struct store *store, const struct dataset_schema *schema,
                          edge_visitor visit, void *context, struct error *err)
{
    struct merged_edges pass =
        merged_edges_begin(store, schema->id, schema->edge_chunk_count, MERGED_PIECE_BYTES);
    const enum error_code rc = walk(&pass, schema, visit, context, err);
    merged_edges_end(&pass);
    return rc;
}

struct rows_walk {
    const struct dataset_schema *schema;
    edge_visitor visit;
    void *context;
};

static enum error_code visit_rows(void *context, const struct edge_chunk *rows, struct error *err)
{
    const struct rows_walk *walk = context;
    enum error_code rc = ERROR_NONE;
    if (stop_signal_seen())
        return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
    if (!edge_widths_equal(&rows->columns.width, &walk->schema->edge_width))
        rc = error_set(err, ERROR_CORRUPT, "edge columns are not there as the schema says");
    if (rc == ERROR_NONE)
        rc = check_sources(walk->schema, rows, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "dataset %s: rows of nodes from %" PRIu32 " on",
                             walk->schema->id, rows->first_node);
    return walk->visit(walk->context, rows, err);
}

enum error_code edge_rows_walk(struct store *store, const struct dataset_schema *schema,
                               const uint32_t *node, uint64_t count, edge_visitor visit,
                               void *context, struct error *err)
{
    struct rows_walk walk = {.schema = schema, .visit = visit, .context = context};
    return listed_edge_rows(store, schema, node, count, visit_rows, &walk, err);
}
