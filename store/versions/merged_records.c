#include "store/versions/merged_records.h"

#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/versions/version_rows.h"

#include <inttypes.h>

/* The inputs of a merge, for a record that was not found. */
struct merged {
    struct dataset_merge merge;
    struct version_fold *fold;
};

/* Opens the inputs. If the dataset is not merged, the record is lost, and the error is
 * ERROR_NOT_FOUND for `missing`. */
static enum error_code open_merged(struct merged *m, struct store *store, const char *dataset_id,
                                   struct key missing, struct error *err)
{
    *m = (struct merged){.fold = NULL};
    enum error_code rc = dataset_merge_get(store, dataset_id, &m->merge, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc, "record %s is not in the store", missing.text);
    if (rc == ERROR_NONE)
        rc = version_fold_get(store, dataset_id, &m->merge, &m->fold, err);
    if (rc == ERROR_NONE &&
        (m->merge.first_node[m->merge.chunk_count] != m->fold->node_count ||
         m->merge.base_chunk_count != m->fold->base.edge_chunk_count ||
         m->merge.base_first[m->merge.base_chunk_count] != m->fold->base.node_count))
        rc = error_set(err, ERROR_CORRUPT,
                       "%s: expected chunks of %" PRIu32 " nodes, and %" PRIu64 " of %" PRIu32
                       " nodes of the base",
                       m->merge.view.key, m->fold->node_count, m->fold->base.edge_chunk_count,
                       m->fold->base.node_count);
    return rc;
}

static void close_merged(struct merged *m)
{
    version_fold_drop(m->fold);
    store_release_record(&m->merge.view);
}

static enum error_code merge_edges(const struct merged *m, struct store *store, int64_t chunk,
                                   struct key missing, struct edge_chunk *out, struct error *err)
{
    if (chunk < 0 || (uint64_t)chunk >= m->merge.chunk_count)
        return error_set(err, ERROR_NOT_FOUND, "record %s is not in the store", missing.text);
    struct base_cursor cursor = {.store = store, .first = m->merge.base_first};
    const enum error_code rc = version_edges(m->fold, &cursor, m->merge.first_node[chunk],
                                             m->merge.first_node[chunk + 1], out, NULL, err);
    base_cursor_close(&cursor);
    return rc;
}

enum error_code merged_edges_get(struct store *store, const char *dataset_id, int64_t chunk,
                                 struct edge_chunk *out, struct error *err)
{
    struct merged m;
    enum error_code rc = edge_chunk_get(store, dataset_id, chunk, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    const struct key missing = key_edge_chunk(dataset_id, chunk);
    rc = open_merged(&m, store, dataset_id, missing, err);
    if (rc == ERROR_NONE)
        rc = merge_edges(&m, store, chunk, missing, out, err);
    close_merged(&m);
    return rc;
}

/* --- all edges --- */

struct merged_rows {
    struct merged merged;
    struct base_cursor cursor;
    uint32_t node; /* next node */
};

struct merged_edges merged_edges_begin(struct store *store, const char *dataset_id,
                                       uint64_t chunk_count, uint64_t piece_bytes)
{
    return (struct merged_edges){
        .store = store, .id = dataset_id, .chunk_count = chunk_count, .piece_bytes = piece_bytes};
}

static enum error_code open_rows(struct merged_edges *pass, struct error *err)
{
    const enum error_code rc = memory_new(&pass->rows, 1, "a pass over edges", err);
    if (rc != ERROR_NONE)
        return rc;
    struct merged_rows *rows = pass->rows;
    rows->cursor.store = pass->store;
    const enum error_code opened =
        open_merged(&rows->merged, pass->store, pass->id, key_edge_chunk(pass->id, 0), err);
    rows->cursor.first = rows->merged.merge.base_first;
    return opened;
}

static enum error_code next_piece(struct merged_edges *pass, struct edge_chunk *out, bool *found,
                                  struct error *err)
{
    struct merged_rows *rows = pass->rows;
    const struct version_fold *fold = rows->merged.fold;
    const uint32_t first = rows->node;
    uint32_t end = 0;
    *found = first < fold->node_count;
    if (!*found)
        return ERROR_NONE;
    enum error_code rc = version_edges_piece(fold, &rows->cursor, first, fold->node_count,
                                             pass->piece_bytes, &end, err);
    if (rc == ERROR_NONE)
        rc = version_edges(fold, &rows->cursor, first, end, out, NULL, err);
    rows->node = end;
    return rc;
}

enum error_code merged_edges_next(struct merged_edges *pass, struct edge_chunk *out, bool *found,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *out = (struct edge_chunk){0};
    *found = true;
    if (pass->rows)
        return next_piece(pass, out, found, err);
    *found = pass->next < pass->chunk_count;
    if (!*found)
        return ERROR_NONE;
    rc = edge_chunk_get(pass->store, pass->id, (int64_t)pass->next, out, err);
    if (rc == ERROR_NOT_FOUND && pass->next == 0) {
        rc = open_rows(pass, err);
        return rc == ERROR_NONE ? next_piece(pass, out, found, err) : rc;
    }
    pass->next++;
    return rc;
}

void merged_edges_end(struct merged_edges *pass)
{
    if (pass->rows) {
        base_cursor_close(&pass->rows->cursor);
        close_merged(&pass->rows->merged);
        memory_free(pass->rows);
    }
    *pass = (struct merged_edges){0};
}

enum error_code merged_features_get(struct store *store, const char *dataset_id, int64_t chunk,
                                    struct feature_chunk *out, struct error *err)
{
    struct merged m;
    enum error_code rc = feature_chunk_get(store, dataset_id, chunk, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = open_merged(&m, store, dataset_id, key_feature_chunk(dataset_id, chunk), err);
    if (rc == ERROR_NONE)
        rc = version_features(m.fold, store, chunk, out, err);
    close_merged(&m);
    return rc;
}

enum error_code merged_labels_get(struct store *store, const char *dataset_id,
                                  struct node_labels *out, struct error *err)
{
    struct merged m;
    enum error_code rc = node_labels_get(store, dataset_id, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = open_merged(&m, store, dataset_id, key_dataset(dataset_id, "labels"), err);
    if (rc == ERROR_NONE)
        rc = version_labels(m.fold, store, out, err);
    close_merged(&m);
    return rc;
}

enum error_code merged_splits_get(struct store *store, const char *dataset_id,
                                  struct node_splits *out, struct error *err)
{
    struct merged m;
    const struct key key = key_dataset(dataset_id, "splits");
    enum error_code rc = node_splits_get(store, key.text, dataset_id, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = open_merged(&m, store, dataset_id, key, err);
    if (rc == ERROR_NONE)
        rc = version_splits(m.fold, store, out, err);
    close_merged(&m);
    return rc;
}

static enum error_code merge_edge_splits(const struct merged *m, struct store *store,
                                         struct edge_splits *out, struct error *err)
{
    const uint64_t classes = m->merge.class_count;
    if (classes && classes != m->fold->base.class_count)
        return error_set(err, ERROR_CORRUPT, "%s: %" PRIu64 " classes, expected %" PRIu32,
                         m->merge.view.key, classes, m->fold->base.class_count);
    return version_edge_splits(m->fold, store, classes ? m->merge.train_class : NULL, NULL, out,
                               err);
}

enum error_code merged_edge_splits_get(struct store *store, const char *dataset_id,
                                       uint32_t node_count, struct edge_splits *out,
                                       struct error *err)
{
    struct merged m;
    const struct key key = key_dataset(dataset_id, "edge_splits");
    enum error_code rc = edge_splits_get(store, key.text, dataset_id, node_count, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = open_merged(&m, store, dataset_id, key, err);
    if (rc == ERROR_NONE)
        rc = merge_edge_splits(&m, store, out, err);
    close_merged(&m);
    return rc;
}

enum error_code merged_graphs_get(struct store *store, const char *dataset_id, uint32_t node_count,
                                  struct graph_index *out, struct error *err)
{
    struct merged m;
    enum error_code rc = graph_index_of_dataset(store, dataset_id, node_count, out, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    rc = open_merged(&m, store, dataset_id, key_dataset(dataset_id, "graphs"), err);
    if (rc == ERROR_NONE)
        rc = version_graphs(m.fold, store, out, err);
    close_merged(&m);
    return rc;
}

enum error_code merged_ids_find(struct store *store, const char *dataset_id, bool *found,
                                struct node_ids *out, struct error *err)
{
    struct merged m;
    bool are_numbers = false, is_merged = false;
    const struct key key = key_dataset(dataset_id, "node_ids");
    enum error_code rc = node_ids_get(store, dataset_id, out, err);
    *found = rc == ERROR_NONE;
    if (rc == ERROR_NOT_FOUND)
        rc = store_has(store, key_dataset(dataset_id, "merge").text, &is_merged, err);
    if (rc != ERROR_NONE || !is_merged)
        return rc;
    rc = open_merged(&m, store, dataset_id, key, err);
    if (rc == ERROR_NONE)
        rc = version_ids(m.fold, store, &are_numbers, out, err);
    close_merged(&m);
    *found = rc == ERROR_NONE && !are_numbers;
    return rc;
}
