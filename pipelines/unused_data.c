#include "pipelines/unused_data.h"

#include "common/base/log.h"
#include "common/base/memory.h"

#include <inttypes.h>
#include <stdio.h>

enum { ITEM_COUNT = EDGE_COLUMN_COUNT + 2, ITEM_SIZE = 40 };

void unused_data_text(const struct dataset_schema *schema, char *text, size_t size)
{
    char item[ITEM_COUNT][ITEM_SIZE];
    int count = 0, at = 0;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (schema->edge_width.of[c] && c != EDGE_TYPE && c != EDGE_ID)
            (void)snprintf(item[count++], ITEM_SIZE, "%s", edge_column[c].plural);
    if (schema->edge_type_count > 1)
        (void)snprintf(item[count++], ITEM_SIZE, "%" PRIu32 " edge types", schema->edge_type_count);
    if (schema->node_type_count > 1)
        (void)snprintf(item[count++], ITEM_SIZE, "%" PRIu32 " node types", schema->node_type_count);
    text[0] = '\0';
    for (int i = 0; i < count && at >= 0 && (size_t)at < size; i++) {
        const char *gap = i == 0 ? "" : i == count - 1 ? " and " : ", ";
        const int more = snprintf(text + at, size - (size_t)at, "%s%s", gap, item[i]);
        at = more < 0 ? more : at + more;
    }
}

enum error_code unused_data_warn(struct store *store, const char *dataset_id, struct error *err)
{
    struct dataset_schema *schema = NULL;
    char text[160];
    enum error_code rc = memory_new(&schema, 1, "a dataset's schema", err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(store, dataset_id, schema, err);
    if (rc == ERROR_NONE) {
        unused_data_text(schema, text, sizeof text);
        if (text[0])
            log_warn("dataset %s has %s, which training DOES NOT USE: every edge counts alike, and "
                     "nodes of "
                     "all types share one set of weights",
                     dataset_id, text);
    }
    memory_free(schema);
    return rc;
}
