#include "store/records/round/round_base.h"

#include "store/records/section_table.h"

#include <inttypes.h>

struct base {
    uint64_t version;
};

#define SECTION_STRUCT struct base
static const struct section_row rows[] = {
    {SECTION_VALUE("version", U64, version)},
};
static const struct section_table table = SECTION_TABLE_OF_COPIES(RECORD_ROUND_BASE, 1, 1, rows);

enum error_code round_base_put(struct store *store, const char *run_id, int64_t round,
                               int64_t version, struct error *err)
{
    const struct base base = {(uint64_t)version};
    const struct key key = key_round_base(run_id, round);
    const enum error_code rc =
        section_table_put(store, &table, key.text, run_id, &base, STORE_RECOMPUTABLE, err);
    /* nothing else tells it when the gradients are gone */
    return rc == ERROR_NONE ? store_flush(store, key.text, err) : rc;
}

enum error_code round_base_decode(const struct record_view *view, int64_t round, int64_t oldest,
                                  int64_t *version, struct error *err)
{
    struct base base;
    const enum error_code rc = section_table_decode(&table, view, &base, err);
    if (rc != ERROR_NONE)
        return rc;
    if (base.version < (uint64_t)oldest || base.version > (uint64_t)round)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: weights version %" PRIu64 ", expected %" PRId64 " to %" PRId64,
                         view->key, base.version, oldest, round);
    *version = (int64_t)base.version;
    return ERROR_NONE;
}

enum error_code round_base_get(struct store *store, const char *run_id, int64_t round,
                               int64_t oldest, int64_t *version, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc = store_get(store, key_round_base(run_id, round).text, run_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = round_base_decode(&view, round, oldest, version, err);
    store_release_record(&view);
    return rc;
}
