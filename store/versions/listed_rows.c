#include "store/versions/listed_rows.h"

#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/merged_records.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>

/* Returns how many of the nodes, from the first on, are consecutive numbers below `end`. */
static uint32_t run_of(const uint32_t *node, uint64_t count, uint32_t end)
{
    uint64_t run = 0;
    while (run < count && node[run] == node[0] + run && node[run] < end)
        run++;
    return (uint32_t)run;
}

/* Finds the fold that a dataset is merged from; *fold is NULL for a whole dataset. */
static enum error_code find_fold(struct store *store, const char *dataset_id,
                                 struct dataset_merge *merge, struct version_fold **fold,
                                 struct error *err)
{
    *fold = NULL;
    const enum error_code rc = dataset_merge_get(store, dataset_id, merge, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    return rc == ERROR_NONE ? version_fold_get(store, dataset_id, merge, fold, err) : rc;
}

/* --- edges --- */

static enum error_code merge_rows(const struct version_fold *fold, struct base_cursor *cursor,
                                  const uint32_t *node, uint64_t count, edge_rows_visitor visit,
                                  void *context, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint64_t i = 0; rc == ERROR_NONE && i < count;) {
        struct edge_chunk rows = {0};
        const uint32_t run = run_of(node + i, count - i, fold->node_count);
        if (run == 0)
            return error_set(err, ERROR_CORRUPT,
                             "dataset %s: node %" PRIu32 ", expected below %" PRIu32,
                             fold->kept.name, node[i], fold->node_count);
        uint32_t end = node[i] + run;
        rc = version_edges_piece(fold, cursor, node[i], end, MERGED_PIECE_BYTES, &end, err);
        if (rc == ERROR_NONE)
            rc = version_edges(fold, cursor, node[i], end, &rows, NULL, err);
        if (rc == ERROR_NONE)
            rc = visit(context, &rows, err);
        store_release_record(&rows.view);
        i += end - node[i];
    }
    return rc;
}

/* Visits the listed nodes that a chunk has. */
static enum error_code visit_chunk(const struct edge_chunk *chunk, const uint32_t *node,
                                   uint64_t count, uint64_t *at, edge_rows_visitor visit,
                                   void *context, struct error *err)
{
    const uint32_t end = chunk->first_node + chunk->node_count;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && *at < count && node[*at] < end) {
        struct edge_chunk rows = *chunk;
        rows.first_node = node[*at];
        rows.node_count = run_of(node + *at, count - *at, end);
        rows.row_start = chunk->row_start + (node[*at] - chunk->first_node);
        rows.edge_count = rows.row_start[rows.node_count] - rows.row_start[0];
        rc = visit(context, &rows, err);
        *at += rows.node_count;
    }
    return rc;
}

static enum error_code read_rows(struct store *store, const struct dataset_schema *schema,
                                 const uint32_t *node, uint64_t count, edge_rows_visitor visit,
                                 void *context, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    uint32_t next = 0;
    uint64_t at = 0;
    for (uint64_t i = 0; rc == ERROR_NONE && at < count && i < schema->edge_chunk_count; i++) {
        struct edge_chunk chunk;
        rc = merged_edges_get(store, schema->id, (int64_t)i, &chunk, err);
        if (rc != ERROR_NONE)
            return rc;
        if (chunk.first_node != next)
            rc = error_set(err, ERROR_CORRUPT, "%s: begins at node %" PRIu32 ", expected %" PRIu32,
                           key_edge_chunk(schema->id, (int64_t)i).text, chunk.first_node, next);
        else
            rc = visit_chunk(&chunk, node, count, &at, visit, context, err);
        next = chunk.first_node + chunk.node_count;
        store_release_record(&chunk.view);
    }
    if (rc == ERROR_NONE && at < count)
        rc = error_set(err, ERROR_CORRUPT,
                       "dataset %s: the edge chunks hold %" PRIu32 " nodes, expected node %" PRIu32,
                       schema->id, next, node[at]);
    return rc;
}

enum error_code listed_edge_rows(struct store *store, const struct dataset_schema *schema,
                                 const uint32_t *node, uint64_t count, edge_rows_visitor visit,
                                 void *context, struct error *err)
{
    struct dataset_merge merge = {.base = ""};
    struct version_fold *fold = NULL;
    enum error_code rc = find_fold(store, schema->id, &merge, &fold, err);
    if (rc == ERROR_NONE && !fold)
        rc = read_rows(store, schema, node, count, visit, context, err);
    if (rc == ERROR_NONE && fold) {
        struct base_cursor cursor = {.store = store, .first = merge.base_first};
        rc = merge_rows(fold, &cursor, node, count, visit, context, err);
        base_cursor_close(&cursor);
    }
    version_fold_drop(fold);
    store_release_record(&merge.view);
    return rc;
}

/* --- features --- */

/* Returns the row that a delta gives a node, or NULL. */
static const float *given_row(const struct version_fold *fold, uint32_t node)
{
    const uint64_t low = version_fold_first_row(fold, node);
    if (low == fold->rows || fold->row[low].node != node)
        return NULL;
    const struct fold_row *row = &fold->row[low];
    return fold->delta[row->delta].row + row->first;
}

/* The rows of a type, with the current chunk. */
struct type_cursor {
    struct store *store;
    const struct dataset_schema *schema;
    struct node_type type;
    uint64_t first_chunk;
    struct feature_chunk chunk;
};

/* Finds the row of a node in its chunk, which becomes the current one. */
static enum error_code stored_row(struct type_cursor *cursor, uint32_t node, const float **row,
                                  struct error *err)
{
    const struct node_type *type = &cursor->type;
    const int64_t number =
        (int64_t)(cursor->first_chunk +
                  (node - type->first_node) / feature_chunk_rows(type->feature_dim));
    struct feature_chunk *chunk = &cursor->chunk;
    enum error_code rc = ERROR_NONE;
    if (!chunk->node_count || node - chunk->first_node >= chunk->node_count) {
        store_release_record(&chunk->view);
        rc = merged_features_get(cursor->store, cursor->schema->id, number, chunk, err);
    }
    if (rc == ERROR_NONE && (chunk->dim != type->feature_dim || chunk->first_node > node ||
                             node - chunk->first_node >= chunk->node_count))
        rc = error_set(err, ERROR_CORRUPT,
                       "%s: expected rows of %" PRIu32 " numbers, that of node %" PRIu32
                       " among them",
                       key_feature_chunk(cursor->schema->id, number).text, type->feature_dim, node);
    if (rc == ERROR_NONE)
        *row = chunk->row + (size_t)(node - chunk->first_node) * chunk->dim;
    return rc;
}

enum error_code listed_feature_rows(struct store *store, const struct dataset_schema *schema,
                                    uint32_t type, const uint32_t *node, uint64_t count,
                                    feature_rows_visitor visit, void *context, struct error *err)
{
    struct dataset_merge merge = {.base = ""};
    struct version_fold *fold = NULL;
    bool is_stored = false; /* also in a merged version, if ingest makes its features */
    struct type_cursor cursor = {.store = store,
                                 .schema = schema,
                                 .type = dataset_type(schema, type),
                                 .first_chunk = dataset_first_feature_chunk(schema, type)};
    enum error_code rc = store_has(
        store, key_feature_chunk(schema->id, (int64_t)cursor.first_chunk).text, &is_stored, err);
    if (rc == ERROR_NONE && !is_stored)
        rc = find_fold(store, schema->id, &merge, &fold, err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++) {
        struct feature_chunk row = {
            .first_node = node[i], .node_count = 1, .dim = cursor.type.feature_dim};
        row.row = fold ? given_row(fold, node[i]) : NULL;
        if (!row.row)
            rc = stored_row(&cursor, node[i], &row.row, err);
        if (rc == ERROR_NONE)
            rc = visit(context, &row, err);
    }
    store_release_record(&cursor.chunk.view);
    version_fold_drop(fold);
    store_release_record(&merge.view);
    return rc;
}
