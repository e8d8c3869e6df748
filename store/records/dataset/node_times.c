#include "store/records/dataset/node_times.h"

#include "store/objects/keys.h"

enum { NODE_TIMES_VERSION = 1 };

enum error_code node_times_put(struct store *store, const char *dataset_id,
                               const struct node_times *times, struct error *err)
{
    struct record record = {.kind = RECORD_NODE_TIMES, .version = NODE_TIMES_VERSION};
    record_add(&record, "time", ELEMENT_I64, times->time, times->node_count);
    return store_put(store, key_dataset(dataset_id, "node_times").text, dataset_id, &record,
                     STORE_DURABLE, err);
}

enum error_code node_times_decode(const struct record_view *view, uint32_t node_count,
                                  struct node_times *out, struct error *err)
{
    const void *data = NULL;
    *out = (struct node_times){.node_count = node_count, .view = *view};
    enum error_code rc = record_expect(view, RECORD_NODE_TIMES, NODE_TIMES_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "time", ELEMENT_I64, (int64_t)node_count, &data, NULL, err);
    out->time = data;
    return rc;
}

enum error_code node_times_get(struct store *store, const char *dataset_id, uint32_t node_count,
                               struct node_times *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct node_times){.node_count = 0};
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "node_times").text, dataset_id, &view, err);
    if (rc == ERROR_NONE)
        rc = node_times_decode(&view, node_count, out, err);
    if (rc != ERROR_NONE) {
        store_release_record(&view);
        *out = (struct node_times){.node_count = 0};
    }
    return rc;
}
