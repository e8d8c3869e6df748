#include "store/records/node_permutation.h"

#include "common/base/memory.h"
#include "store/objects/keys.h"

#include <inttypes.h>

enum { PERMUTATION_VERSION = 1 };

/* Both directions together prove that each map is one to one. */
static enum error_code check(const struct node_permutation *p, struct error *err)
{
    for (uint32_t node = 0; node < p->node_count; node++) {
        const uint32_t there = p->to_partition[node];
        if (there >= p->node_count)
            return error_set(err, ERROR_CORRUPT,
                             "to_partition of node %" PRIu32 " is %" PRIu32
                             ", expected below %" PRIu32,
                             node, there, p->node_count);
        if (p->to_dataset[there] != node)
            return error_set(err, ERROR_CORRUPT,
                             "dataset node %" PRIu32 " is partition node %" PRIu32
                             ", whose dataset node is %" PRIu32,
                             node, there, p->to_dataset[there]);
    }
    return ERROR_NONE;
}

enum error_code node_permutation_put(struct store *store, const char *partition_id,
                                     const struct node_permutation *permutation, struct error *err)
{
    const struct key key = key_partition(partition_id, "permutation");
    const enum error_code rc = check(permutation, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s", key.text);
    struct record record = {.kind = RECORD_NODE_PERMUTATION, .version = PERMUTATION_VERSION};
    record_add(&record, "to_dataset", ELEMENT_U32, permutation->to_dataset,
               permutation->node_count);
    record_add(&record, "to_partition", ELEMENT_U32, permutation->to_partition,
               permutation->node_count);
    return store_put(store, key.text, partition_id, &record, STORE_DURABLE, err);
}

enum error_code node_permutation_get(struct store *store, const char *partition_id,
                                     uint32_t node_count, struct node_permutation *out,
                                     struct error *err)
{
    const struct key key = key_partition(partition_id, "permutation");
    const void *to_dataset = NULL, *to_partition = NULL;
    *out = (struct node_permutation){0};
    enum error_code rc = store_get(store, key.text, partition_id, &out->view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = record_expect(&out->view, RECORD_NODE_PERMUTATION, PERMUTATION_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(&out->view, "to_dataset", ELEMENT_U32, node_count, &to_dataset,
                                NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(&out->view, "to_partition", ELEMENT_U32, node_count, &to_partition,
                                NULL, err);
    out->node_count = node_count;
    out->to_dataset = to_dataset;
    out->to_partition = to_partition;
    if (rc == ERROR_NONE)
        rc = check(out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&out->view);
    *out = (struct node_permutation){0};
    return error_context(err, rc, "%s", key.text);
}

enum error_code type_permutation_find(const struct node_permutation *all,
                                      const struct type_ranges *ranges, uint32_t type,
                                      struct type_permutation *out, struct error *err)
{
    uint32_t count = 0, number = 0;
    for (int p = 0; p < ranges->part_count; p++)
        count += type_ranges_count(ranges, p, type);
    *out = (struct type_permutation){.first_node = count ? UINT32_MAX : 0};
    const enum error_code rc =
        memory_new(&out->rows, 2 * (size_t)count, "the nodes of a type", err);
    if (rc != ERROR_NONE)
        return rc;
    uint32_t *to_row = out->rows, *to_number = out->rows + count;
    for (int p = 0; p < ranges->part_count; p++)
        for (uint32_t node = type_ranges_first(ranges, p, type);
             node < type_ranges_first(ranges, p, type + 1); node++) {
            to_row[number] = all->to_dataset[node];
            if (to_row[number] < out->first_node)
                out->first_node = to_row[number];
            number++;
        }
    for (number = 0; number < count; number++) {
        const uint32_t row = to_row[number] -= out->first_node;
        if (row >= count)
            return error_set(err, ERROR_CORRUPT,
                             "permutation: nodes of type %" PRIu32 ": expected %" PRIu32
                             " consecutive ones, found %" PRIu32 " and %" PRIu32,
                             type, count, out->first_node, out->first_node + row);
        to_number[row] = number;
    }
    out->of = (struct node_permutation){
        .node_count = count, .to_dataset = to_row, .to_partition = to_number};
    return ERROR_NONE;
}

void type_permutation_release(struct type_permutation *permutation)
{
    memory_free(permutation->rows);
    *permutation = (struct type_permutation){0};
}
