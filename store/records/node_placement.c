#include "store/records/node_placement.h"

#include "store/records/node_splits.h"
#include "store/records/partition_book.h"

#include <inttypes.h>
#include <string.h>

enum { PLACEMENT_VERSION = 1 };

enum error_code node_placement_put(struct store *store, const char *partition_id,
                                   const struct node_placement *placement, struct error *err)
{
    struct record record = {.kind = RECORD_NODE_PLACEMENT, .version = PLACEMENT_VERSION};
    record_add_text(&record, "base", placement->base);
    record_add(&record, "new_node", ELEMENT_U32, placement->new_node, placement->new_count);
    record_add(&record, "split_node", ELEMENT_U32, placement->split_node, placement->split_count);
    record_add(&record, "split", ELEMENT_U8, placement->split, placement->split_count);
    record_add_text(&record, "method", placement->method);
    record_add(&record, "full_cut", ELEMENT_F64, &placement->full_cut, 1);
    return store_put(store, key_partition(partition_id, "placement").text, partition_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code check_splits(const struct node_placement *p, struct error *err)
{
    for (uint32_t i = 0; i < p->split_count; i++) {
        if (i && p->split_node[i] <= p->split_node[i - 1])
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section split_node: node %" PRIu32 " at %" PRIu32
                             ", expected above %" PRIu32,
                             p->view.key, p->split_node[i], i, p->split_node[i - 1]);
        if (p->split[i] > SPLIT_COUNT)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section split: %u at %" PRIu32 ", expected 0 to %d",
                             p->view.key, p->split[i], i, SPLIT_COUNT);
    }
    return ERROR_NONE;
}

static enum error_code read_sections(struct node_placement *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const void *new_node = NULL, *split_node = NULL, *split = NULL;
    uint64_t new_count = 0, split_count = 0;
    enum error_code rc = record_text_get(view, "base", out->base, sizeof out->base, err);
    if (rc == ERROR_NONE)
        rc = record_text_get(view, "method", out->method, sizeof out->method, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "new_node", ELEMENT_U32, -1, &new_node, &new_count, err);
    if (rc == ERROR_NONE)
        rc =
            record_section_get(view, "split_node", ELEMENT_U32, -1, &split_node, &split_count, err);
    if (rc == ERROR_NONE && (new_count >= UINT32_MAX || split_count >= UINT32_MAX))
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: %" PRIu64 " new nodes and %" PRIu64
                       " in other splits, expected below 2^32 - 1",
                       view->key, new_count, split_count);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "split", ELEMENT_U8, (int64_t)split_count, &split, NULL, err);
    if (rc == ERROR_NONE)
        rc = assignment_full_cut(view, &out->full_cut, err);
    if (rc == ERROR_NONE && out->full_cut < 0.0)
        rc = error_set(err, ERROR_CORRUPT, "record %s: expected a section full_cut", view->key);
    if (rc != ERROR_NONE)
        return rc;
    out->new_count = (uint32_t)new_count;
    out->split_count = (uint32_t)split_count;
    out->new_node = new_node;
    out->split_node = split_node;
    out->split = split;
    return check_splits(out, err);
}

enum error_code node_placement_decode(const struct record_view *view, struct node_placement *out,
                                      struct error *err)
{
    *out = (struct node_placement){.view = *view};
    const enum error_code rc = record_expect(view, RECORD_NODE_PLACEMENT, PLACEMENT_VERSION, err);
    return rc == ERROR_NONE ? read_sections(out, err) : rc;
}

enum error_code node_placement_get(struct store *store, const char *partition_id,
                                   struct node_placement *out, struct error *err)
{
    struct record_view view;
    *out = (struct node_placement){.base = ""};
    enum error_code rc =
        store_get(store, key_partition(partition_id, "placement").text, partition_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = node_placement_decode(&view, out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&view);
    *out = (struct node_placement){.base = ""};
    return rc;
}

enum error_code node_placement_base(struct store *store, const char *partition_id,
                                    char base[ID_SIZE], struct error *err)
{
    struct node_placement placement;
    const enum error_code rc = node_placement_get(store, partition_id, &placement, err);
    memcpy(base, placement.base, ID_SIZE);
    store_release_record(&placement.view);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}
