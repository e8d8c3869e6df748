#include "store/records/dataset_merge.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <string.h>

enum { MERGE_VERSION = 1, CLASSES_VERSION = 2, POLICY_COUNT = 2 };

static const char classes_name[] = "train_class";

enum error_code dataset_merge_put(struct store *store, const char *dataset_id,
                                  const struct dataset_merge *merge, struct error *err)
{
    const uint64_t policy[POLICY_COUNT] = {merge->skips_self_loops, merge->removes_repeated};
    struct record record = {.kind = RECORD_DATASET_MERGE,
                            .version = merge->class_count ? CLASSES_VERSION : MERGE_VERSION};
    record_add_text(&record, "base", merge->base);
    record_add(&record, "policy", ELEMENT_U64, policy, POLICY_COUNT);
    record_add(&record, "first_node", ELEMENT_U32, merge->first_node, merge->chunk_count + 1);
    record_add(&record, "base_first", ELEMENT_U32, merge->base_first, merge->base_chunk_count + 1);
    if (merge->class_count)
        record_add(&record, classes_name, ELEMENT_U64, merge->train_class, merge->class_count);
    return store_put(store, key_dataset(dataset_id, "merge").text, dataset_id, &record,
                     STORE_DURABLE, err);
}

/* Nodes at which chunks begin, and where the last one ends. */
static enum error_code get_bounds(const struct record_view *view, const char *section,
                                  const uint32_t **out, uint64_t *chunks, struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0;
    const enum error_code rc =
        record_section_get(view, section, ELEMENT_U32, -1, &data, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *bound = data;
    if (count < 2 || bound[0] != 0)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"%s\": expected two or more nodes from 0 on, found %" PRIu64,
                         view->key, section, count);
    for (uint64_t i = 1; i < count; i++)
        if (bound[i] <= bound[i - 1])
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu64 ": expected a node above %" PRIu32
                             ", found %" PRIu32,
                             view->key, section, i, bound[i - 1], bound[i]);
    *out = bound;
    *chunks = count - 1;
    return ERROR_NONE;
}

enum error_code dataset_merge_decode(const struct record_view *view, struct dataset_merge *out,
                                     struct error *err)
{
    const void *data = NULL;
    *out = (struct dataset_merge){.view = *view};
    const bool has_classes = record_has(view, classes_name);
    enum error_code rc = record_expect(view, RECORD_DATASET_MERGE,
                                       has_classes ? CLASSES_VERSION : MERGE_VERSION, err);
    if (rc == ERROR_NONE && has_classes) {
        rc = record_section_get(view, classes_name, ELEMENT_U64, -1, &data, &out->class_count, err);
        out->train_class = data;
    }
    if (rc == ERROR_NONE)
        rc = record_text_get(view, "base", out->base, sizeof out->base, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "policy", ELEMENT_U64, POLICY_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *policy = data;
    if (policy[0] > 1 || policy[1] > 1)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"policy\": expected 0 or 1, found %" PRIu64 " and %" PRIu64,
                         view->key, policy[0], policy[1]);
    out->skips_self_loops = policy[0] == 1;
    out->removes_repeated = policy[1] == 1;
    rc = get_bounds(view, "first_node", &out->first_node, &out->chunk_count, err);
    return rc == ERROR_NONE
               ? get_bounds(view, "base_first", &out->base_first, &out->base_chunk_count, err)
               : rc;
}

enum error_code dataset_merge_get(struct store *store, const char *dataset_id,
                                  struct dataset_merge *out, struct error *err)
{
    struct record_view view;
    *out = (struct dataset_merge){.base = ""};
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "merge").text, dataset_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = dataset_merge_decode(&view, out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&view);
    *out = (struct dataset_merge){.base = ""};
    return rc;
}

enum error_code dataset_merge_base(struct store *store, const char *dataset_id, char base[ID_SIZE],
                                   struct error *err)
{
    struct dataset_merge merge;
    const enum error_code rc = dataset_merge_get(store, dataset_id, &merge, err);
    base[0] = '\0';
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        (void)text_copy(base, ID_SIZE, merge.base);
    store_release_record(&merge.view);
    return rc;
}
