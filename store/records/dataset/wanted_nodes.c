#include "store/records/dataset/wanted_nodes.h"

#include "store/records/section_table.h"

#include <inttypes.h>

#define SECTION_STRUCT struct wanted_nodes
static const struct section_row rows[] = {
    {SECTION_ARRAY("node", U32, node), .sets = AT(count), .least = 1, .checks = SECTION_ASCENDS},
};
static const struct section_table table = SECTION_TABLE(RECORD_WANTED_NODES, 1, 1, rows);

enum error_code wanted_nodes_put(struct store *store, const char *run_id,
                                 const struct wanted_nodes *wanted, struct error *err)
{
    return section_table_put(store, &table, key_wanted_nodes(run_id).text, run_id, wanted,
                             STORE_RECOMPUTABLE, err);
}

enum error_code wanted_nodes_get(struct store *store, const char *run_id, uint32_t node_count,
                                 struct wanted_nodes *out, struct error *err)
{
    enum error_code rc =
        section_table_get(store, &table, key_wanted_nodes(run_id).text, run_id, out, err);
    if (rc != ERROR_NONE || out->node[out->count - 1] < node_count) /* the last is the largest */
        return rc;
    rc = error_set(err, ERROR_CORRUPT,
                   "record %s: \"node\" entry %" PRIu32 ": expected below %" PRIu32
                   ", found %" PRIu32,
                   out->view.key, out->count - 1, node_count, out->node[out->count - 1]);
    return section_table_keep(&table, rc, out);
}
