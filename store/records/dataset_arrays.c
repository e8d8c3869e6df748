#include "store/records/dataset_arrays.h"

#include "store/keys.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ARRAYS_VERSION = 1, ROW_BLOCK = 256, RANGE_SIZE = 3, SHAPE_SIZE = 2 };

static const char *const split_names[SPLIT_COUNT] = {"train", "valid", "test"};

uint32_t feature_chunk_rows(uint32_t dim)
{
    const uint32_t rows = dim ? FEATURE_CHUNK_FLOATS / dim / ROW_BLOCK * ROW_BLOCK : 0;
    return rows > ROW_BLOCK ? rows : ROW_BLOCK;
}

/* On failure gives the record back and leaves `out` empty. */
#define KEEP_OR_RELEASE(rc, out)                                                                   \
    do {                                                                                           \
        if ((rc) != ERROR_NONE) {                                                                  \
            store_release_record(&(out)->view);                                                    \
            memset(out, 0, sizeof *(out));                                                         \
        }                                                                                          \
    } while (0)

/* ---- edges ---------------------------------------------------------------------------------- */

enum error_code edge_chunk_put(struct store *store, const char *dataset_id, int64_t chunk,
                               const struct edge_chunk *edges, struct error *err)
{
    const uint64_t range[RANGE_SIZE] = {edges->first_node, edges->node_count, edges->edge_count};
    struct record record = {.kind = RECORD_EDGE_CHUNK, .version = ARRAYS_VERSION};
    record_add(&record, "range", ELEMENT_U64, range, RANGE_SIZE);
    record_add(&record, "row_start", ELEMENT_U64, edges->row_start,
               (uint64_t)edges->node_count + 1);
    record_add(&record, "neighbor", ELEMENT_U32, edges->neighbor, edges->edge_count);
    if (edges->weight)
        record_add(&record, "weight", ELEMENT_F32, edges->weight, edges->edge_count);
    if (edges->time)
        record_add(&record, "time", ELEMENT_F64, edges->time, edges->edge_count);
    if (edges->edge_type)
        record_add(&record, "edge_type", ELEMENT_U16, edges->edge_type, edges->edge_count);
    return store_put(store, key_edge_chunk(dataset_id, chunk).text, dataset_id, &record,
                     STORE_DURABLE, err);
}

/* "range": first node, node count, and a third number; the nodes are ids of a dataset. */
static enum error_code get_range(const struct record_view *view, uint32_t nodes_max,
                                 uint32_t *first_node, uint32_t *node_count, uint64_t *third,
                                 struct error *err)
{
    const void *data = NULL;
    uint64_t found = 0;
    const enum error_code rc =
        record_section_get(view, "range", ELEMENT_U64, RANGE_SIZE, &data, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *range = data;
    if (range[1] < 1 || range[1] > nodes_max)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"range\": expected 1 to %u nodes, found %" PRIu64, view->key,
                         nodes_max, range[1]);
    if (range[0] > UINT32_MAX - range[1])
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"range\": expected a first node up to %" PRIu64 ", found %" PRIu64,
                         view->key, UINT32_MAX - range[1], range[0]);
    *first_node = (uint32_t)range[0];
    *node_count = (uint32_t)range[1];
    *third = range[2];
    return ERROR_NONE;
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

static enum error_code get_edge_attributes(struct edge_chunk *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const int64_t count = (int64_t)out->edge_count;
    const void *weight = NULL, *time = NULL, *edge_type = NULL;
    uint64_t found = 0;
    enum error_code rc = ERROR_NONE;
    if (record_has(view, "weight"))
        rc = record_section_get(view, "weight", ELEMENT_F32, count, &weight, &found, err);
    if (rc == ERROR_NONE && record_has(view, "time"))
        rc = record_section_get(view, "time", ELEMENT_F64, count, &time, &found, err);
    if (rc == ERROR_NONE && record_has(view, "edge_type"))
        rc = record_section_get(view, "edge_type", ELEMENT_U16, count, &edge_type, &found, err);
    out->weight = weight;
    out->time = time;
    out->edge_type = edge_type;
    return rc;
}

static enum error_code read_edges(struct edge_chunk *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const void *row_start = NULL, *neighbor = NULL;
    uint64_t found = 0;
    enum error_code rc = record_expect(view, RECORD_EDGE_CHUNK, ARRAYS_VERSION, err);
    if (rc == ERROR_NONE)
        rc = get_range(view, EDGE_CHUNK_NODES_MAX, &out->first_node, &out->node_count,
                       &out->edge_count, err);
    if (rc == ERROR_NONE && out->edge_count > (out->node_count > 1 ? (uint64_t)EDGE_CHUNK_EDGES_MAX
                                                                   : (uint64_t)UINT32_MAX))
        return error_set(
            err, ERROR_CORRUPT,
            "%s: \"range\": expected at most %d edges of several nodes, found %" PRIu64, view->key,
            EDGE_CHUNK_EDGES_MAX, out->edge_count);
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
    rc = get_edge_attributes(out, err);
    if (rc == ERROR_NONE)
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
    KEEP_OR_RELEASE(rc, out);
    return rc;
}

/* ---- features ------------------------------------------------------------------------------- */

enum error_code feature_chunk_put(struct store *store, const char *dataset_id, int64_t chunk,
                                  const struct feature_chunk *rows, struct error *err)
{
    const uint64_t range[RANGE_SIZE] = {rows->first_node, rows->node_count, rows->dim};
    struct record record = {.kind = RECORD_FEATURE_CHUNK, .version = ARRAYS_VERSION};
    record_add(&record, "range", ELEMENT_U64, range, RANGE_SIZE);
    record_add(&record, "row", ELEMENT_F32, rows->row, (uint64_t)rows->node_count * rows->dim);
    return store_put(store, key_feature_chunk(dataset_id, chunk).text, dataset_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code read_features(struct feature_chunk *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const void *row = NULL;
    uint64_t dim = 0, found = 0;
    enum error_code rc = record_expect(view, RECORD_FEATURE_CHUNK, ARRAYS_VERSION, err);
    if (rc == ERROR_NONE)
        rc = get_range(view, FEATURE_CHUNK_FLOATS, &out->first_node, &out->node_count, &dim, err);
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
    KEEP_OR_RELEASE(rc, out);
    return rc;
}

/* ---- labels --------------------------------------------------------------------------------- */

enum error_code node_labels_put(struct store *store, const char *dataset_id,
                                const struct node_labels *labels, struct error *err)
{
    const uint32_t class_count = labels->multi ? labels->class_count : 0;
    const uint64_t shape[SHAPE_SIZE] = {labels->node_count, class_count};
    struct record record = {.kind = RECORD_NODE_LABELS, .version = ARRAYS_VERSION};
    record_add(&record, "shape", ELEMENT_U64, shape, SHAPE_SIZE);
    if (labels->multi)
        record_add(&record, "multi", ELEMENT_F32, labels->multi,
                   (uint64_t)labels->node_count * class_count);
    else
        record_add(&record, "label", ELEMENT_I32, labels->label, labels->node_count);
    return store_put(store, key_dataset(dataset_id, "labels").text, dataset_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code check_single(const struct node_labels *labels, struct error *err)
{
    for (uint32_t i = 0; i < labels->node_count; i++)
        if (labels->label[i] < -1)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"label\" of node %u: expected -1 or more, found %" PRId32,
                             labels->view.key, i, labels->label[i]);
    return ERROR_NONE;
}

/* A row is all NaN (no labels) or all 0 and 1. */
static enum error_code check_multi(const struct node_labels *labels, struct error *err)
{
    const float *row = labels->multi;
    for (uint32_t i = 0; i < labels->node_count; i++, row += labels->class_count)
        for (uint32_t c = 0; c < labels->class_count; c++) {
            const bool fits = isnan(row[0]) ? isnan(row[c]) != 0 : row[c] == 0.0F || row[c] == 1.0F;
            if (!fits)
                return error_set(err, ERROR_CORRUPT,
                                 "%s: \"multi\" of node %u, class %u: expected 0 or 1, or nan for "
                                 "the whole row, found %g",
                                 labels->view.key, i, c, (double)row[c]);
        }
    return ERROR_NONE;
}

static enum error_code get_shape(struct node_labels *out, struct error *err)
{
    const void *data = NULL;
    uint64_t found = 0;
    const enum error_code rc =
        record_section_get(&out->view, "shape", ELEMENT_U64, SHAPE_SIZE, &data, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *shape = data;
    const bool multi = record_has(&out->view, "multi");
    if (shape[0] < 1 || shape[0] >= UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"shape\": expected 1 to %u nodes, found %" PRIu64, out->view.key,
                         UINT32_MAX - 1, shape[0]);
    if (shape[1] > INT32_MAX || multi != (shape[1] > 0))
        return error_set(err, ERROR_CORRUPT, "%s: \"shape\": expected %s, found %" PRIu64,
                         out->view.key, multi ? "1 or more classes" : "no class count", shape[1]);
    out->node_count = (uint32_t)shape[0];
    out->class_count = (uint32_t)shape[1];
    return ERROR_NONE;
}

static enum error_code read_labels(struct node_labels *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const void *data = NULL;
    uint64_t found = 0;
    enum error_code rc = record_expect(view, RECORD_NODE_LABELS, ARRAYS_VERSION, err);
    if (rc == ERROR_NONE)
        rc = get_shape(out, err);
    if (rc != ERROR_NONE)
        return rc;
    if (out->class_count > 0) {
        const int64_t count = (int64_t)out->node_count * out->class_count;
        rc = record_section_get(view, "multi", ELEMENT_F32, count, &data, &found, err);
        out->multi = data;
        return rc == ERROR_NONE ? check_multi(out, err) : rc;
    }
    rc = record_section_get(view, "label", ELEMENT_I32, out->node_count, &data, &found, err);
    out->label = data;
    return rc == ERROR_NONE ? check_single(out, err) : rc;
}

enum error_code node_labels_decode(const struct record_view *view, struct node_labels *out,
                                   struct error *err)
{
    *out = (struct node_labels){.view = *view};
    return read_labels(out, err);
}

enum error_code node_labels_get(struct store *store, const char *dataset_id,
                                struct node_labels *out, struct error *err)
{
    *out = (struct node_labels){0};
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "labels").text, dataset_id, &out->view, err);
    if (rc == ERROR_NONE)
        rc = read_labels(out, err);
    KEEP_OR_RELEASE(rc, out);
    return rc;
}

/* ---- splits --------------------------------------------------------------------------------- */

enum error_code node_splits_put(struct store *store, const char *key, const char *owner,
                                const struct node_splits *splits, struct error *err)
{
    struct record record = {.kind = RECORD_NODE_SPLITS, .version = ARRAYS_VERSION};
    for (int s = 0; s < SPLIT_COUNT; s++)
        record_add(&record, split_names[s], ELEMENT_U32, splits->node[s], splits->count[s]);
    return store_put(store, key, owner, &record, STORE_DURABLE, err);
}

static enum error_code check_ascending(const struct node_splits *splits, int s, struct error *err)
{
    for (uint32_t i = 1; i < splits->count[s]; i++)
        if (splits->node[s][i] <= splits->node[s][i - 1])
            return error_set(err, ERROR_CORRUPT, "%s: \"%s\" entry %u: expected above %u, found %u",
                             splits->view.key, split_names[s], i, splits->node[s][i - 1],
                             splits->node[s][i]);
    return ERROR_NONE;
}

/* Both lists ascend, so one walk along both finds a node they share. */
static enum error_code check_disjoint(const struct node_splits *splits, int a, int b,
                                      struct error *err)
{
    uint32_t i = 0, j = 0;
    while (i < splits->count[a] && j < splits->count[b]) {
        const uint32_t x = splits->node[a][i], y = splits->node[b][j];
        if (x == y)
            return error_set(err, ERROR_CORRUPT,
                             "%s: expected each node in one split, found node %u in \"%s\" and "
                             "\"%s\"",
                             splits->view.key, x, split_names[a], split_names[b]);
        i += x < y;
        j += y < x;
    }
    return ERROR_NONE;
}

static enum error_code read_splits(struct node_splits *out, struct error *err)
{
    enum error_code rc = record_expect(&out->view, RECORD_NODE_SPLITS, ARRAYS_VERSION, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        const void *node = NULL;
        uint64_t found = 0;
        rc = record_section_get(&out->view, split_names[s], ELEMENT_U32, -1, &node, &found, err);
        if (rc == ERROR_NONE && found > UINT32_MAX)
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: \"%s\": expected at most %u nodes, found %" PRIu64, out->view.key,
                           split_names[s], UINT32_MAX, found);
        out->node[s] = node;
        out->count[s] = (uint32_t)found;
        if (rc == ERROR_NONE)
            rc = check_ascending(out, s, err);
    }
    for (int a = 0; rc == ERROR_NONE && a < SPLIT_COUNT; a++)
        for (int b = a + 1; rc == ERROR_NONE && b < SPLIT_COUNT; b++)
            rc = check_disjoint(out, a, b, err);
    return rc;
}

enum error_code node_splits_decode(const struct record_view *view, struct node_splits *out,
                                   struct error *err)
{
    *out = (struct node_splits){.view = *view};
    return read_splits(out, err);
}

enum error_code node_splits_get(struct store *store, const char *key, const char *owner,
                                struct node_splits *out, struct error *err)
{
    *out = (struct node_splits){0};
    enum error_code rc = store_get(store, key, owner, &out->view, err);
    if (rc == ERROR_NONE)
        rc = read_splits(out, err);
    KEEP_OR_RELEASE(rc, out);
    return rc;
}

/* ---- ids ------------------------------------------------------------------------------------ */

enum error_code node_ids_put(struct store *store, const char *dataset_id,
                             const struct node_ids *ids, struct error *err)
{
    struct record record = {.kind = RECORD_NODE_IDS, .version = ARRAYS_VERSION};
    if (ids->integer) {
        record_add(&record, "integer", ELEMENT_I64, ids->integer, ids->node_count);
    } else {
        record_add(&record, "offset", ELEMENT_U64, ids->offset, (uint64_t)ids->node_count + 1);
        record_add(&record, "text", ELEMENT_U8, ids->text, ids->offset[ids->node_count]);
    }
    return store_put(store, key_dataset(dataset_id, "node_ids").text, dataset_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code set_id_count(struct node_ids *out, const char *section, uint64_t found,
                                    uint64_t beyond, struct error *err)
{
    if (found <= beyond || found - beyond >= UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"%s\": expected %" PRIu64 " to %" PRIu64 " entries, found %" PRIu64,
                         out->view.key, section, beyond + 1, beyond + UINT32_MAX - 1, found);
    out->node_count = (uint32_t)(found - beyond);
    return ERROR_NONE;
}

static enum error_code check_offsets(const struct node_ids *ids, uint64_t text_size,
                                     struct error *err)
{
    uint64_t before = 0;
    for (uint64_t i = 0; i <= ids->node_count; i++) {
        const uint64_t most = i == 0 ? 0 : text_size;
        if (ids->offset[i] < before || ids->offset[i] > most)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"offset\" entry %" PRIu64 ": expected %" PRIu64 " to %" PRIu64
                             ", found %" PRIu64,
                             ids->view.key, i, before, most, ids->offset[i]);
        before = ids->offset[i];
    }
    if (before != text_size)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"offset\" last entry: expected %" PRIu64 ", found %" PRIu64,
                         ids->view.key, text_size, before);
    return ERROR_NONE;
}

static enum error_code read_text_ids(struct node_ids *out, struct error *err)
{
    const void *offset = NULL, *text = NULL;
    uint64_t found = 0, text_size = 0;
    enum error_code rc =
        record_section_get(&out->view, "offset", ELEMENT_U64, -1, &offset, &found, err);
    if (rc == ERROR_NONE)
        rc = set_id_count(out, "offset", found, 1, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(&out->view, "text", ELEMENT_U8, -1, &text, &text_size, err);
    if (rc != ERROR_NONE)
        return rc;
    out->offset = offset;
    out->text = text;
    return check_offsets(out, text_size, err);
}

static enum error_code read_ids(struct node_ids *out, struct error *err)
{
    const void *integer = NULL;
    uint64_t found = 0;
    enum error_code rc = record_expect(&out->view, RECORD_NODE_IDS, ARRAYS_VERSION, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!record_has(&out->view, "integer"))
        return read_text_ids(out, err);
    rc = record_section_get(&out->view, "integer", ELEMENT_I64, -1, &integer, &found, err);
    if (rc == ERROR_NONE)
        rc = set_id_count(out, "integer", found, 0, err);
    out->integer = integer;
    return rc;
}

enum error_code node_ids_decode(const struct record_view *view, struct node_ids *out,
                                struct error *err)
{
    *out = (struct node_ids){.view = *view};
    return read_ids(out, err);
}

enum error_code node_ids_get(struct store *store, const char *dataset_id, struct node_ids *out,
                             struct error *err)
{
    *out = (struct node_ids){0};
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "node_ids").text, dataset_id, &out->view, err);
    if (rc == ERROR_NONE)
        rc = read_ids(out, err);
    KEEP_OR_RELEASE(rc, out);
    return rc;
}
