#include "store/records/walk_counts.h"

#include "store/objects/keys.h"

#include <inttypes.h>

enum { WALK_COUNTS_VERSION = 1 };

enum error_code walk_counts_put(struct store *store, const char *run_id,
                                const struct walk_counts *counts, struct error *err)
{
    struct record record = {.kind = RECORD_WALK_COUNTS, .version = WALK_COUNTS_VERSION};
    record_add(&record, "drawn", ELEMENT_U64, &counts->drawn, 1);
    record_add(&record, "node", ELEMENT_U32, counts->node, counts->node_count);
    record_add(&record, "edge", ELEMENT_U32, counts->edge, counts->edge_count);
    return store_put(store, key_walk_counts(run_id).text, run_id, &record, STORE_RECOMPUTABLE, err);
}

static enum error_code get_counts(const struct record_view *view, const char *section,
                                  uint64_t drawn, const uint32_t **out, uint64_t *count,
                                  struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, section, ELEMENT_U32, -1, &data, count, err);
    *out = data;
    for (uint64_t i = 0; rc == ERROR_NONE && i < *count; i++)
        if ((*out)[i] > drawn)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu64 ": expected at most the %" PRIu64
                             " subgraphs, found %" PRIu32,
                             view->key, section, i, drawn, (*out)[i]);
    return rc;
}

enum error_code walk_counts_decode(const struct record_view *view, struct walk_counts *out,
                                   struct error *err)
{
    const void *drawn = NULL;
    uint64_t count = 0;
    *out = (struct walk_counts){.view = *view};
    enum error_code rc = record_expect(view, RECORD_WALK_COUNTS, WALK_COUNTS_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "drawn", ELEMENT_U64, 1, &drawn, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    out->drawn = *(const uint64_t *)drawn;
    if (out->drawn == 0)
        return error_set(err, ERROR_CORRUPT, "%s: \"drawn\": expected a subgraph or more, found 0",
                         view->key);
    rc = get_counts(view, "node", out->drawn, &out->node, &out->node_count, err);
    return rc == ERROR_NONE
               ? get_counts(view, "edge", out->drawn, &out->edge, &out->edge_count, err)
               : rc;
}

enum error_code walk_counts_get(struct store *store, const char *run_id, struct walk_counts *out,
                                struct error *err)
{
    struct record_view view = {0};
    *out = (struct walk_counts){0};
    enum error_code rc = store_get(store, key_walk_counts(run_id).text, run_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = walk_counts_decode(&view, out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&view);
    *out = (struct walk_counts){0};
    return rc;
}
