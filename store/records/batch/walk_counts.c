#include "store/records/batch/walk_counts.h"

#include "store/records/section_table.h"

#define SECTION_STRUCT struct walk_counts
static const struct section_row rows[] = {
    {SECTION_VALUE("drawn", U64, drawn), .least = 1},
    {SECTION_ARRAY("node", U32, node), .sets = AT(node_count), .limit = AT(drawn), .behind = 1},
    {SECTION_ARRAY("edge", U32, edge), .sets = AT(edge_count), .limit = AT(drawn), .behind = 1},
};
static const struct section_table table = SECTION_TABLE(RECORD_WALK_COUNTS, 1, 1, rows);

enum error_code walk_counts_put(struct store *store, const char *run_id,
                                const struct walk_counts *counts, struct error *err)
{
    return section_table_put(store, &table, key_walk_counts(run_id).text, run_id, counts,
                             STORE_RECOMPUTABLE, err);
}

enum error_code walk_counts_decode(const struct record_view *view, struct walk_counts *out,
                                   struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code walk_counts_get(struct store *store, const char *run_id, struct walk_counts *out,
                                struct error *err)
{
    return section_table_get(store, &table, key_walk_counts(run_id).text, run_id, out, err);
}
