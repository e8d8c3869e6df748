#include "store/records/partition/node_placement.h"

#include "store/records/dataset/node_splits.h"
#include "store/records/partition/partition_book.h"
#include "store/records/section_table.h"

#include <string.h>

static enum error_code check_cut(const struct record_view *view, void *out, struct error *err)
{
    struct node_placement *placement = out;
    return assignment_full_cut(view, &placement->full_cut, err);
}

#define SECTION_STRUCT struct node_placement
static const struct section_row rows[] = {
    {SECTION_TEXT("base", base)},
    {SECTION_ARRAY("new_node", U32, new_node), .sets = AT(new_count), .most = UINT32_MAX - 1},
    {SECTION_ARRAY("split_node", U32, split_node), .sets = AT(split_count), .most = UINT32_MAX - 1,
     .checks = SECTION_ASCENDS},
    {SECTION_ARRAY("split", U8, split), .count = AT(split_count), .behind = SPLIT_COUNT + 1},
    {SECTION_TEXT("method", method)},
    {SECTION_VALUE("full_cut", F64, full_cut), .read = check_cut},
};
static const struct section_table table = SECTION_TABLE(RECORD_NODE_PLACEMENT, 1, 1, rows);

enum error_code node_placement_put(struct store *store, const char *partition_id,
                                   const struct node_placement *placement, struct error *err)
{
    return section_table_put(store, &table, key_partition(partition_id, "placement").text,
                             partition_id, placement, STORE_DURABLE, err);
}

enum error_code node_placement_decode(const struct record_view *view, struct node_placement *out,
                                      struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code node_placement_get(struct store *store, const char *partition_id,
                                   struct node_placement *out, struct error *err)
{
    return section_table_get(store, &table, key_partition(partition_id, "placement").text,
                             partition_id, out, err);
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
