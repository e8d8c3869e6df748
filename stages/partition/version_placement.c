#include "stages/partition/version_placement.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/partition/version_assignment.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/partition/node_placement.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>

enum error_code version_placement_is_wanted(const struct partition_input *input,
                                            const struct kept_assignment *kept, bool *is_wanted,
                                            struct error *err)
{
    struct store *store = input->context->store;
    bool is_whole = false;
    *is_wanted = version_assignment_is_placed(kept->method);
    if (!*is_wanted)
        return ERROR_NONE;
    enum error_code rc =
        store_has(store, key_partition(input->id, "placement").text, is_wanted, err);
    if (rc == ERROR_NONE && !*is_wanted) {
        rc = store_has(store, key_partition(input->id, "splits").text, &is_whole, err);
        *is_wanted = !is_whole;
    }
    return rc;
}

/* Lists the nodes of the dataset that come after those of the base, part by part and type by
 * type. */
static void list_new(const struct part_delta *delta, const struct numbering *numbering,
                     uint32_t *node)
{
    const struct type_ranges ranges = numbering_ranges(numbering);
    for (int p = 0; p < numbering->part_count; p++)
        for (uint32_t t = 0; t < ranges.type_count; t++) {
            const uint32_t end = type_ranges_first(&ranges, p, t + 1);
            for (uint32_t i = end - partition_delta_added(&delta->record, p, t); i < end; i++)
                *node++ = numbering->to_dataset[i];
        }
}

/* Marks the splits that the base has, by the ids of the version: mark [node_count], enum split plus
 * 1, 0 for none. */
static enum error_code mark_base(struct store *store, const struct part_delta *delta, uint8_t *mark,
                                 struct error *err)
{
    const struct partition_delta *record = &delta->record;
    const struct type_ranges ranges = partition_delta_ranges(record);
    const uint32_t *book = ranges.part_start;
    struct node_splits splits = {.count = {0}};
    enum error_code rc = merged_part_splits_get(store, record->base, &splits, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        int part = 0;
        for (uint32_t i = 0; rc == ERROR_NONE && i < splits.count[s]; i++) {
            const uint32_t node = splits.node[s][i];
            if (node >= book[record->part_count]) {
                rc = error_set(err, ERROR_CORRUPT,
                               "%s: node %" PRIu32 " in a split, expected below %" PRIu32,
                               splits.view.key, node, book[record->part_count]);
                break;
            }
            while (node >= book[part + 1])
                part++;
            const uint32_t type = type_ranges_type(&ranges, part, node);
            if (!node_shift_is_gone(&delta->shift, node))
                mark[node_shift_of(&delta->shift, part, type, node)] = (uint8_t)(s + 1);
        }
    }
    store_release_record(&splits.view);
    return rc;
}

/* Lists the nodes whose split differs from `mark`. */
static uint32_t list_moved(const struct partition_input *input, const struct numbering *numbering,
                           const uint8_t *mark, uint32_t *node, uint8_t *split)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < numbering->node_count; i++) {
        const uint8_t own = input->split_marks[numbering->to_dataset[i]];
        if (own == mark[i])
            continue;
        if (node) {
            node[count] = i;
            split[count] = own;
        }
        count++;
    }
    return count;
}

enum error_code version_placement_put(const struct partition_input *input,
                                      const struct kept_assignment *kept,
                                      const struct part_delta *delta,
                                      const struct numbering *numbering, struct error *err)
{
    struct store *store = input->context->store;
    struct node_placement placement = {.full_cut = kept->full_cut};
    uint32_t *new_node = NULL, *split_node = NULL;
    uint8_t *mark = NULL, *split = NULL;
    for (size_t i = 0; i < (size_t)numbering->part_count * partition_delta_types(&delta->record);
         i++)
        placement.new_count += delta->record.added[i];
    must(text_copy(placement.base, sizeof placement.base, delta->record.base));
    must(text_copy(placement.method, sizeof placement.method, kept->method));
    enum error_code rc = memory_new(&new_node, placement.new_count, "the nodes of a delta", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&mark, numbering->node_count, "the splits of a base", err);
    if (rc == ERROR_NONE)
        rc = mark_base(store, delta, mark, err);
    if (rc == ERROR_NONE) {
        list_new(delta, numbering, new_node);
        placement.split_count = list_moved(input, numbering, mark, NULL, NULL);
        rc = memory_new(&split_node, placement.split_count, "the splits of a delta", err);
    }
    if (rc == ERROR_NONE)
        rc = memory_new(&split, placement.split_count, "the splits of a delta", err);
    if (rc == ERROR_NONE) {
        (void)list_moved(input, numbering, mark, split_node, split);
        placement.new_node = new_node;
        placement.split_node = split_node;
        placement.split = split;
        rc = node_placement_put(store, input->id, &placement, err);
    }
    memory_free(split);
    memory_free(split_node);
    memory_free(mark);
    memory_free(new_node);
    return rc;
}
