#include "store/records/partition/node_permutation.h"

#include "common/base/memory.h"
#include "store/records/section_table.h"

#include <inttypes.h>

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

#define SECTION_STRUCT struct node_permutation
static const struct section_row rows[] = {
    {SECTION_ARRAY("to_dataset", U32, to_dataset), .count = AT(node_count)},
    {SECTION_ARRAY("to_partition", U32, to_partition), .count = AT(node_count)},
};
static const struct section_table table = SECTION_TABLE(RECORD_NODE_PERMUTATION, 1, 1, rows);

enum error_code node_permutation_put(struct store *store, const char *partition_id,
                                     const struct node_permutation *permutation, struct error *err)
{
    const struct key key = key_partition(partition_id, "permutation");
    const enum error_code rc = check(permutation, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s", key.text);
    return section_table_put(store, &table, key.text, partition_id, permutation, STORE_DURABLE,
                             err);
}

enum error_code node_permutation_get(struct store *store, const char *partition_id,
                                     uint32_t node_count, struct node_permutation *out,
                                     struct error *err)
{
    const struct key key = key_partition(partition_id, "permutation");
    *out = (struct node_permutation){.node_count = node_count};
    enum error_code rc = section_table_fetch(store, &table, key.text, partition_id, out, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = check(out, err);
    return rc == ERROR_NONE
               ? rc
               : section_table_keep(&table, error_context(err, rc, "%s", key.text), out);
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
