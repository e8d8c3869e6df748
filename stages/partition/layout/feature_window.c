#include "stages/partition/layout/feature_window.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "store/features/feature_shard.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/versions/listed_rows.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <string.h>

enum error_code feature_walk(struct store *store, const struct dataset_schema *schema,
                             uint32_t type, feature_visitor visit, void *context, struct error *err)
{
    const struct node_type of = dataset_type(schema, type);
    const uint64_t end = dataset_first_feature_chunk(schema, type + 1);
    uint32_t next_node = 0;
    enum error_code rc = ERROR_NONE;
    for (uint64_t i = dataset_first_feature_chunk(schema, type); rc == ERROR_NONE && i < end; i++) {
        struct feature_chunk chunk = {0};
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        rc = merged_features_get(store, schema->id, (int64_t)i, &chunk, err);
        if (rc != ERROR_NONE)
            break;
        if (chunk.first_node != of.first_node + next_node ||
            chunk.node_count > of.node_count - next_node || chunk.dim != of.feature_dim)
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: holds %" PRIu32 " rows of %" PRIu32 " from node %" PRIu32
                           ", expected rows of %" PRIu32 " from node %" PRIu32 " of %" PRIu32,
                           key_feature_chunk(schema->id, (int64_t)i).text, chunk.node_count,
                           chunk.dim, chunk.first_node, of.feature_dim, of.first_node + next_node,
                           of.node_count);
        else
            rc = visit(context, &chunk, err);
        next_node += chunk.node_count;
        store_release_record(&chunk.view);
    }
    if (rc == ERROR_NONE && of.feature_dim && next_node != of.node_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "dataset %s: the feature chunks hold %" PRIu32 " nodes, expected %" PRIu32,
                       schema->id, next_node, of.node_count);
    return rc;
}

enum error_code feature_rows_walk(struct store *store, const struct dataset_schema *schema,
                                  uint32_t type, const uint32_t *node, uint64_t count,
                                  feature_visitor visit, void *context, struct error *err)
{
    return count == dataset_type(schema, type).node_count
               ? feature_walk(store, schema, type, visit, context, err)
               : listed_feature_rows(store, schema, type, node, count, visit, context, err);
}

enum error_code feature_window_init(struct feature_window *window, struct store *store,
                                    const struct dataset_schema *schema,
                                    const struct numbering *numbering, uint32_t type,
                                    const uint32_t *type_book, uint64_t budget_bytes,
                                    struct error *err)
{
    const struct node_type of = dataset_type(schema, type);
    const uint64_t row_bytes = (uint64_t)of.feature_dim * sizeof(float);
    uint64_t rows = row_bytes ? budget_bytes / row_bytes : of.node_count;
    rows = rows < FEATURE_BLOCK_ROWS ? FEATURE_BLOCK_ROWS : rows;
    rows = rows < of.node_count ? rows : of.node_count;
    *window = (struct feature_window){.store = store,
                                      .schema = schema,
                                      .numbering = numbering,
                                      .type = of,
                                      .type_number = type,
                                      .type_book = type_book,
                                      .capacity = (uint32_t)rows};
    return memory_new(&window->row, (size_t)rows * of.feature_dim, "a window of features", err);
}

static enum error_code take_chunk(void *context, const struct feature_chunk *chunk,
                                  struct error *err)
{
    struct feature_window *window = context;
    const struct type_ranges ranges = numbering_ranges(window->numbering);
    const size_t dim = chunk->dim;
    (void)err;
    for (uint32_t i = 0; i < chunk->node_count; i++) {
        const uint32_t node = type_ranges_number(&ranges, window->type_book, window->type_number,
                                                 window->numbering->to_new[chunk->first_node + i]);
        if (node >= window->first && node - window->first < window->count)
            memcpy(&window->row[(node - window->first) * dim], &chunk->row[i * dim],
                   dim * sizeof *chunk->row);
    }
    return ERROR_NONE;
}

enum error_code feature_window_rows(struct feature_window *window, uint32_t first, uint32_t wanted,
                                    const float **row, uint32_t *count, struct error *err)
{
    const uint32_t node_count = window->type.node_count;
    must(first < node_count && wanted > 0);
    if (first < window->first || first - window->first >= window->count) {
        window->first = first;
        window->count =
            window->capacity < node_count - first ? window->capacity : node_count - first;
        const enum error_code rc = feature_walk(window->store, window->schema, window->type_number,
                                                take_chunk, window, err);
        if (rc != ERROR_NONE) {
            window->count = 0;
            return rc;
        }
    }
    const uint32_t left = window->count - (first - window->first);
    *row = &window->row[(size_t)(first - window->first) * window->type.feature_dim];
    *count = wanted < left ? wanted : left;
    return ERROR_NONE;
}

void feature_window_release(struct feature_window *window)
{
    memory_free(window->row);
    *window = (struct feature_window){0};
}
