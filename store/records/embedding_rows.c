#include "store/records/embedding_rows.h"

#include "store/records/parameter_values.h"

#include <inttypes.h>

enum { EMBEDDING_ROWS_FORMAT = 1 };

/* Places in the section "span". */
enum { SPAN_SINCE, SPAN_VERSION, SPAN_SHARD, SPAN_WIDTH, SPAN_COUNT };

enum error_code embedding_rows_put(struct store *store, const char *run_id,
                                   const struct embedding_rows *rows, struct error *err)
{
    const struct key key = key_embedding_seal(run_id, (int64_t)rows->version, (int)rows->shard);
    const uint64_t span[SPAN_COUNT] = {0, rows->version, rows->shard, rows->width};
    const uint64_t values = rows->count * rows->width;
    struct record record = {.kind = RECORD_EMBEDDING_ROWS, .version = EMBEDDING_ROWS_FORMAT};
    record_add(&record, "span", ELEMENT_U64, span, SPAN_COUNT);
    record_add(&record, "node", ELEMENT_U32, rows->node, rows->count);
    record_add(&record, "value", ELEMENT_F32, rows->value, values);
    if (rows->first)
        record_add(&record, "first", ELEMENT_F32, rows->first, values);
    if (rows->second)
        record_add(&record, "second", ELEMENT_F32, rows->second, values);
    if (rows->updates)
        record_add(&record, "updates", ELEMENT_U32, rows->updates, rows->count);
    return store_put(store, key.text, run_id, &record, STORE_RECOMPUTABLE, err);
}

enum error_code embedding_nodes_check(const struct record_view *view, const char *section,
                                      const uint32_t *node, uint64_t count, struct error *err)
{
    for (uint64_t i = 1; i < count; i++)
        if (node[i] <= node[i - 1])
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section %s, %" PRIu64 " is node %" PRIu32
                             ", expected above %" PRIu32,
                             view->key, section, i, node[i], node[i - 1]);
    return ERROR_NONE;
}

static enum error_code get_span(const struct record_view *view, struct embedding_rows *rows,
                                struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, "span", ELEMENT_U64, SPAN_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *span = data;
    if (span[SPAN_SINCE] > 0 || span[SPAN_VERSION] < 1 || span[SPAN_VERSION] > INT64_MAX ||
        span[SPAN_SHARD] > INT32_MAX || span[SPAN_WIDTH] < 1 || span[SPAN_WIDTH] > UINT16_MAX + 1U)
        return error_set(
            err, ERROR_CORRUPT,
            "record %s: section span: since %" PRIu64 ", version %" PRIu64 ", shard %" PRIu64
            ", width %" PRIu64 ": expected since 0, a version from 1, and a width of 1 to 65536",
            view->key, span[SPAN_SINCE], span[SPAN_VERSION], span[SPAN_SHARD], span[SPAN_WIDTH]);
    rows->version = span[SPAN_VERSION];
    rows->shard = (uint32_t)span[SPAN_SHARD];
    rows->width = (uint32_t)span[SPAN_WIDTH];
    return ERROR_NONE;
}

/* A section with a row of numbers for each node. */
static enum error_code get_rows(const struct record_view *view, const char *name,
                                const struct embedding_rows *rows, const float **out,
                                struct error *err)
{
    const void *data = NULL;
    const uint64_t count = rows->count * rows->width;
    const enum error_code rc =
        record_section_get(view, name, ELEMENT_F32, (int64_t)count, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t bad = parameter_values_first_bad(data, count);
    if (bad < count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s, value %zu is %g, expected a finite number",
                         view->key, name, bad, (double)((const float *)data)[bad]);
    *out = data;
    return ERROR_NONE;
}

static enum error_code get_updates(const struct record_view *view, struct embedding_rows *rows,
                                   struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, "updates", ELEMENT_U32, (int64_t)rows->count, &data, NULL, err);
    rows->updates = data;
    for (uint64_t i = 0; rc == ERROR_NONE && i < rows->count; i++)
        if (rows->updates[i] == 0)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section updates, value %" PRIu64
                             " is 0, expected at least 1",
                             view->key, i);
    return rc;
}

static enum error_code get_nodes(const struct record_view *view, struct embedding_rows *rows,
                                 struct error *err)
{
    const void *data = NULL;
    enum error_code rc =
        record_section_get(view, "node", ELEMENT_U32, -1, &data, &rows->count, err);
    rows->node = data;
    if (rc == ERROR_NONE && rows->count > UINT32_MAX)
        rc = error_set(err, ERROR_CORRUPT, "record %s: section node is too long", view->key);
    return rc == ERROR_NONE ? embedding_nodes_check(view, "node", rows->node, rows->count, err)
                            : rc;
}

enum error_code embedding_rows_decode(const struct record_view *view, struct embedding_rows *out,
                                      struct error *err)
{
    struct embedding_rows rows = {0};
    enum error_code rc = record_expect(view, RECORD_EMBEDDING_ROWS, EMBEDDING_ROWS_FORMAT, err);
    if (rc == ERROR_NONE)
        rc = get_span(view, &rows, err);
    if (rc == ERROR_NONE)
        rc = get_nodes(view, &rows, err);
    if (rc == ERROR_NONE)
        rc = get_rows(view, "value", &rows, &rows.value, err);
    if (rc == ERROR_NONE && (record_has(view, "first") || record_has(view, "second")))
        rc = get_rows(view, "first", &rows, &rows.first, err);
    if (rc == ERROR_NONE && record_has(view, "second"))
        rc = get_rows(view, "second", &rows, &rows.second, err);
    if (rc == ERROR_NONE && record_has(view, "updates"))
        rc = get_updates(view, &rows, err);
    if (rc == ERROR_NONE)
        *out = rows;
    return rc;
}

enum error_code embedding_rows_get(struct store *store, const char *run_id, int64_t version,
                                   int shard, struct embedding_rows *out, struct error *err)
{
    const struct key key = key_embedding_seal(run_id, version, shard);
    struct record_view view = {0};
    *out = (struct embedding_rows){0};
    enum error_code rc = store_get(store, key.text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = embedding_rows_decode(&view, out, err);
    if (rc == ERROR_NONE && (out->version != (uint64_t)version || out->shard != (uint32_t)shard))
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: version %" PRIu64 " of shard %" PRIu32
                       ", expected version %" PRId64 " of shard %d",
                       key.text, out->version, out->shard, version, shard);
    if (rc == ERROR_NONE) {
        out->view = view;
        return ERROR_NONE;
    }
    store_release_record(&view);
    *out = (struct embedding_rows){0};
    return rc;
}
