#include "store/records/round/residual.h"

#include "store/records/section_table.h"

#include <inttypes.h>

#define SECTION_STRUCT struct residual
static const struct section_row rows[] = {
    {SECTION_ARRAY("value", F32, value), .sets = AT(count), .checks = SECTION_FINITE},
};
static const struct section_table table = SECTION_TABLE(RECORD_RESIDUAL, 1, 1, rows);

enum error_code residual_put(struct store *store, const char *run_id, int64_t round, int slot,
                             const float *value, uint64_t count, enum store_durability durability,
                             struct error *err)
{
    const struct residual residual = {.count = count, .value = value};
    return section_table_put(store, &table, key_residual(run_id, round, slot).text, run_id,
                             &residual, durability, err);
}

enum error_code residual_get(struct store *store, const char *run_id, int64_t round, int slot,
                             uint64_t count, struct residual *out, struct error *err)
{
    enum error_code rc =
        section_table_get(store, &table, key_residual(run_id, round, slot).text, run_id, out, err);
    if (rc != ERROR_NONE || out->count == count)
        return rc;
    rc = error_set(err, ERROR_CORRUPT,
                   "record %s: section value has %" PRIu64 " values, expected %" PRIu64,
                   out->view.key, out->count, count);
    return section_table_keep(&table, rc, out);
}
