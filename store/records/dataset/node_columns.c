#include "store/records/dataset/node_columns.h"

#include "store/objects/keys.h"

enum { NODE_COLUMNS_VERSION = 1 };

enum error_code node_columns_put(struct store *store, const char *dataset_id,
                                 const struct column_encoding *encoding, struct error *err)
{
    struct record record = {.kind = RECORD_NODE_COLUMNS, .version = NODE_COLUMNS_VERSION};
    struct json_writer text = {0};
    column_encoding_print(encoding, &text);
    enum error_code rc = json_writer_finish(&text, err);
    if (rc == ERROR_NONE) {
        record_add_text(&record, "text", text.text);
        rc = store_put(store, key_dataset(dataset_id, "node_columns").text, dataset_id, &record,
                       STORE_DURABLE, err);
    }
    json_writer_release(&text);
    return rc;
}

enum error_code node_columns_decode(const struct record_view *view, struct column_encoding *out,
                                    struct error *err)
{
    const void *data = NULL;
    uint64_t size = 0;
    *out = (struct column_encoding){0};
    enum error_code rc = record_expect(view, RECORD_NODE_COLUMNS, NODE_COLUMNS_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "text", ELEMENT_U8, -1, &data, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = column_encoding_parse(out, data, (size_t)size, view->key, err);
    return rc == ERROR_INPUT ? error_context(err, ERROR_CORRUPT, "\"text\"") : rc;
}

enum error_code node_columns_get(struct store *store, const char *dataset_id,
                                 struct column_encoding *out, struct error *err)
{
    struct record_view view = {0};
    const struct key key = key_dataset(dataset_id, "node_columns");
    bool found = false;
    *out = (struct column_encoding){0};
    enum error_code rc = store_has(store, key.text, &found, err);
    if (rc != ERROR_NONE || !found)
        return rc;
    rc = store_get(store, key.text, dataset_id, &view, err);
    if (rc == ERROR_NONE)
        rc = node_columns_decode(&view, out, err);
    store_release_record(&view);
    return rc;
}
