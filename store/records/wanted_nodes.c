#include "store/records/wanted_nodes.h"

#include "store/objects/keys.h"

#include <inttypes.h>

enum { WANTED_NODES_VERSION = 1 };

enum error_code wanted_nodes_put(struct store *store, const char *run_id,
                                 const struct wanted_nodes *wanted, struct error *err)
{
    struct record record = {.kind = RECORD_WANTED_NODES, .version = WANTED_NODES_VERSION};
    record_add(&record, "node", ELEMENT_U32, wanted->node, wanted->count);
    return store_put(store, key_wanted_nodes(run_id).text, run_id, &record, STORE_RECOMPUTABLE,
                     err);
}

static enum error_code check(const struct record_view *view, uint32_t node_count,
                             struct wanted_nodes *out, struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0;
    enum error_code rc = record_expect(view, RECORD_WANTED_NODES, WANTED_NODES_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "node", ELEMENT_U32, -1, &data, &count, err);
    if (rc == ERROR_NONE && (count == 0 || count > node_count))
        rc = error_set(err, ERROR_CORRUPT,
                       "%s: \"node\": expected 1 to %" PRIu32 " entries, found %" PRIu64, view->key,
                       node_count, count);
    const uint32_t *node = data;
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++)
        if (node[i] >= node_count || (i > 0 && node[i] <= node[i - 1]))
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: \"node\" entry %" PRIu64 ": expected ascending nodes below %" PRIu32
                           ", found %" PRIu32,
                           view->key, i, node_count, node[i]);
    *out = (struct wanted_nodes){.count = (uint32_t)count, .node = node, .view = *view};
    return rc;
}

enum error_code wanted_nodes_get(struct store *store, const char *run_id, uint32_t node_count,
                                 struct wanted_nodes *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct wanted_nodes){0};
    enum error_code rc = store_get(store, key_wanted_nodes(run_id).text, run_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = check(&view, node_count, out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&view);
    *out = (struct wanted_nodes){0};
    return rc;
}
