#include "store/records/round/embedding_rows.h"

#include "store/records/section_checks.h"
#include "store/records/section_table.h"

#include <inttypes.h>

enum error_code embedding_nodes_check(const struct record_view *view, const char *section,
                                      const uint32_t *node, uint64_t count, struct error *err)
{
    const struct element_bounds bounds = {.checks = SECTION_ASCENDS, .limit = UINT64_MAX};
    return section_elements_check(view, section, ELEMENT_U32, node, count, &bounds, err);
}

static enum error_code check_moments(const struct record_view *view, void *out, struct error *err)
{
    const struct embedding_rows *r = out;
    if (r->first || !r->second)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "record %s: expected a section first, found none",
                     view->key);
}

#define SECTION_STRUCT struct embedding_rows
static const struct section_number span[] = {
    {"since", {0, 0}, 0, 0},
    {"version", AT(version), 1, INT64_MAX},
    {"shard", AT(shard), 0, INT32_MAX},
    {"width", AT(width), 1, UINT16_MAX + 1U},
};
static const struct section_row rows[] = {
    {SECTION_NUMBERS("span", U64, span)},
    {SECTION_ARRAY("node", U32, node), .sets = AT(count), .most = UINT32_MAX,
     .checks = SECTION_ASCENDS},
    {SECTION_ARRAY("value", F32, value), .count = AT(count), .times = AT(width),
     .checks = SECTION_FINITE},
    {SECTION_ARRAY("first", F32, first), .count = AT(count), .times = AT(width), .if_there = true,
     .checks = SECTION_FINITE},
    {SECTION_ARRAY("second", F32, second), .count = AT(count), .times = AT(width), .if_there = true,
     .checks = SECTION_FINITE},
    {SECTION_ARRAY("updates", U32, updates), .count = AT(count), .if_there = true, .floor = 1},
    {SECTION_HAND(NULL, check_moments)},
};
static const struct section_table table = SECTION_TABLE(RECORD_EMBEDDING_ROWS, 1, 1, rows);

enum error_code embedding_rows_put(struct store *store, const char *run_id,
                                   const struct embedding_rows *rows_of_shard, struct error *err)
{
    const struct key key =
        key_embedding_seal(run_id, (int64_t)rows_of_shard->version, (int)rows_of_shard->shard);
    return section_table_put(store, &table, key.text, run_id, rows_of_shard, STORE_RECOMPUTABLE,
                             err);
}

enum error_code embedding_rows_decode(const struct record_view *view, struct embedding_rows *out,
                                      struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code embedding_rows_get(struct store *store, const char *run_id, int64_t version,
                                   int shard, struct embedding_rows *out, struct error *err)
{
    const struct key key = key_embedding_seal(run_id, version, shard);
    enum error_code rc = section_table_get(store, &table, key.text, run_id, out, err);
    if (rc != ERROR_NONE || (out->version == (uint64_t)version && out->shard == (uint32_t)shard))
        return rc;
    rc = error_set(err, ERROR_CORRUPT,
                   "record %s: version %" PRIu64 " of shard %" PRIu32 ", expected version %" PRId64
                   " of shard %d",
                   key.text, out->version, out->shard, version, shard);
    return section_table_keep(&table, rc, out);
}
