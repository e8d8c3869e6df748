#include "store/records/node_splits.h"

#include "store/objects/keys.h"

#include <inttypes.h>

enum { NODE_SPLITS_VERSION = 1 };

static const char *const split_names[SPLIT_COUNT] = {"train", "valid", "test"};

enum error_code node_splits_put(struct store *store, const char *key, const char *owner,
                                const struct node_splits *splits, struct error *err)
{
    struct record record = {.kind = RECORD_NODE_SPLITS, .version = NODE_SPLITS_VERSION};
    for (int s = 0; s < SPLIT_COUNT; s++)
        record_add(&record, split_names[s], ELEMENT_U32, splits->node[s], splits->count[s]);
    return store_put(store, key, owner, &record, STORE_DURABLE, err);
}

static enum error_code check_ascending(const struct node_splits *splits, int s, struct error *err)
{
    for (uint32_t i = 1; i < splits->count[s]; i++)
        if (splits->node[s][i] <= splits->node[s][i - 1])
            return error_set(err, ERROR_CORRUPT, "%s: \"%s\" entry %u: expected above %u, found %u",
                             splits->view.key, split_names[s], i, splits->node[s][i - 1],
                             splits->node[s][i]);
    return ERROR_NONE;
}

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

static enum error_code read_splits(struct node_splits *out, struct error *err)
{
    enum error_code rc = record_expect(&out->view, RECORD_NODE_SPLITS, NODE_SPLITS_VERSION, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        const void *node = NULL;
        uint64_t found = 0;
        rc = record_section_get(&out->view, split_names[s], ELEMENT_U32, -1, &node, &found, err);
        if (rc == ERROR_NONE && found > UINT32_MAX)
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: \"%s\": expected at most %u nodes, found %" PRIu64, out->view.key,
                           split_names[s], UINT32_MAX, found);
        out->node[s] = node;
        out->count[s] = (uint32_t)found;
        if (rc == ERROR_NONE)
            rc = check_ascending(out, s, err);
    }
    for (int a = 0; rc == ERROR_NONE && a < SPLIT_COUNT; a++)
        for (int b = a + 1; rc == ERROR_NONE && b < SPLIT_COUNT; b++)
            rc = check_disjoint(out, a, b, err);
    return rc;
}

enum error_code node_splits_decode(const struct record_view *view, struct node_splits *out,
                                   struct error *err)
{
    *out = (struct node_splits){.view = *view};
    return read_splits(out, err);
}

enum error_code node_splits_get(struct store *store, const char *key, const char *owner,
                                struct node_splits *out, struct error *err)
{
    *out = (struct node_splits){0};
    enum error_code rc = store_get(store, key, owner, &out->view, err);
    if (rc == ERROR_NONE)
        rc = read_splits(out, err);
    if (rc != ERROR_NONE) {
        store_release_record(&out->view);
        *out = (struct node_splits){0};
    }
    return rc;
}
