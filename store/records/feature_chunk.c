#include "store/records/feature_chunk.h"

#include "store/objects/keys.h"
#include "store/records/node_range.h"

#include <inttypes.h>

enum { FEATURE_CHUNK_VERSION = 1, ROW_BLOCK = 256 };

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

enum error_code feature_chunk_put(struct store *store, const char *dataset_id, int64_t chunk,
                                  const struct feature_chunk *rows, struct error *err)
{
    const uint64_t range[NODE_RANGE_SIZE] = {rows->first_node, rows->node_count, rows->dim};
    struct record record = {.kind = RECORD_FEATURE_CHUNK, .version = FEATURE_CHUNK_VERSION};
    record_add(&record, "range", ELEMENT_U64, range, NODE_RANGE_SIZE);
    record_add(&record, "row", ELEMENT_F32, rows->row, (uint64_t)rows->node_count * rows->dim);
    return store_put(store, key_feature_chunk(dataset_id, chunk).text, dataset_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code read_features(struct feature_chunk *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const void *row = NULL;
    uint64_t dim = 0, found = 0;
    enum error_code rc = record_expect(view, RECORD_FEATURE_CHUNK, FEATURE_CHUNK_VERSION, err);
    if (rc == ERROR_NONE)
        rc = node_range_get(view, FEATURE_CHUNK_FLOATS, &out->first_node, &out->node_count, &dim,
                            err);
    if (rc != ERROR_NONE)
        return rc;
    if (dim < 1 || dim > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"range\": expected a dim of 1 to %u, found %" PRIu64, view->key,
                         UINT32_MAX, dim);
    out->dim = (uint32_t)dim;
    if (out->node_count > feature_chunk_rows(out->dim))
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"range\": expected at most %u rows of %u numbers, found %u",
                         view->key, feature_chunk_rows(out->dim), out->dim, out->node_count);
    rc = record_section_get(view, "row", ELEMENT_F32, (int64_t)out->node_count * (int64_t)out->dim,
                            &row, &found, err);
    out->row = row;
    return rc;
}

enum error_code feature_chunk_decode(const struct record_view *view, struct feature_chunk *out,
                                     struct error *err)
{
    *out = (struct feature_chunk){.view = *view};
    return read_features(out, err);
}

enum error_code feature_chunk_get(struct store *store, const char *dataset_id, int64_t chunk,
                                  struct feature_chunk *out, struct error *err)
{
    *out = (struct feature_chunk){0};
    enum error_code rc =
        store_get(store, key_feature_chunk(dataset_id, chunk).text, dataset_id, &out->view, err);
    if (rc == ERROR_NONE)
        rc = read_features(out, err);
    if (rc != ERROR_NONE) {
        store_release_record(&out->view);
        *out = (struct feature_chunk){0};
    }
    return rc;
}
