#include "store/records/dataset/node_splits.h"

#include "store/records/section_table.h"

static const char *const split_names[SPLIT_COUNT] = {"train", "valid", "test"};

/* Both lists ascend, so one walk along both finds a node they share. */
static enum error_code check_disjoint(const struct node_splits *splits, int a, int b,
                                      struct error *err)
{
    uint32_t i = 0, j = 0;
    while (i < splits->count[a] && j < splits->count[b]) {
        const uint32_t x = splits->node[a][i], y = splits->node[b][j];
        if (x == y)
            return error_set(err, ERROR_CORRUPT,
                             "%s: expected each node in one split, found node %u in \"%s\" and "
                             "\"%s\"",
                             splits->view.key, x, split_names[a], split_names[b]);
        i += x < y;
        j += y < x;
    }
    return ERROR_NONE;
}

static enum error_code check_all(const struct record_view *view, void *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)view;
    for (int a = 0; rc == ERROR_NONE && a < SPLIT_COUNT; a++)
        for (int b = a + 1; rc == ERROR_NONE && b < SPLIT_COUNT; b++)
            rc = check_disjoint(out, a, b, err);
    return rc;
}

#define SECTION_STRUCT struct node_splits
static const struct section_row rows[] = {
    {SECTION_ARRAY("train", U32, node[0]), .sets = AT(count[0]), .checks = SECTION_ASCENDS},
    {SECTION_ARRAY("valid", U32, node[1]), .sets = AT(count[1]), .checks = SECTION_ASCENDS},
    {SECTION_ARRAY("test", U32, node[2]), .sets = AT(count[2]), .checks = SECTION_ASCENDS},
    {SECTION_HAND(NULL, check_all)},
};
static const struct section_table table = SECTION_TABLE(RECORD_NODE_SPLITS, 1, 1, rows);

enum error_code node_splits_put(struct store *store, const char *key, const char *owner,
                                const struct node_splits *splits, struct error *err)
{
    return section_table_put(store, &table, key, owner, splits, STORE_DURABLE, err);
}

enum error_code node_splits_decode(const struct record_view *view, struct node_splits *out,
                                   struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code node_splits_get(struct store *store, const char *key, const char *owner,
                                struct node_splits *out, struct error *err)
{
    return section_table_get(store, &table, key, owner, out, err);
}
