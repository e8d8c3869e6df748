#include "store/records/dataset/feature_chunk.h"

#include "store/records/dataset/node_range.h"
#include "store/records/section_table.h"

enum { ROW_BLOCK = 256 };

uint32_t feature_chunk_rows(uint32_t dim)
{
    const uint32_t rows = dim ? FEATURE_CHUNK_FLOATS / dim / ROW_BLOCK * ROW_BLOCK : 0;
    return rows > ROW_BLOCK ? rows : ROW_BLOCK;
}

uint64_t feature_chunk_count(uint32_t node_count, uint32_t dim)
{
    const uint64_t rows = feature_chunk_rows(dim);
    return dim ? (node_count + rows - 1) / rows : 0;
}

static enum error_code check_range(const struct record_view *view, void *out, struct error *err)
{
    const struct feature_chunk *chunk = out;
    const uint32_t most = feature_chunk_rows(chunk->dim);
    if (chunk->node_count > most)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"range\": expected at most %u rows of %u numbers, found %u",
                         view->key, most, chunk->dim, chunk->node_count);
    return node_range_check(view, chunk->first_node, chunk->node_count, err);
}

#define SECTION_STRUCT struct feature_chunk
static const struct section_number range[] = {
    {"first node", AT(first_node), 0, 0},
    {"nodes", AT(node_count), 1, FEATURE_CHUNK_FLOATS},
    {"dim", AT(dim), 1, 0},
};
static const struct section_row rows[] = {
    {SECTION_NUMBERS("range", U64, range), .read = check_range},
    {SECTION_ARRAY("row", F32, row), .count = AT(node_count), .times = AT(dim)},
};
static const struct section_table table = SECTION_TABLE(RECORD_FEATURE_CHUNK, 1, 1, rows);

enum error_code feature_chunk_put(struct store *store, const char *dataset_id, int64_t chunk,
                                  const struct feature_chunk *written, struct error *err)
{
    return section_table_put(store, &table, key_feature_chunk(dataset_id, chunk).text, dataset_id,
                             written, STORE_DURABLE, err);
}

enum error_code feature_chunk_decode(const struct record_view *view, struct feature_chunk *out,
                                     struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code feature_chunk_get(struct store *store, const char *dataset_id, int64_t chunk,
                                  struct feature_chunk *out, struct error *err)
{
    return section_table_get(store, &table, key_feature_chunk(dataset_id, chunk).text, dataset_id,
                             out, err);
}
