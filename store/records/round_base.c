#include "store/records/round_base.h"

#include "store/objects/keys.h"

#include <inttypes.h>
#include <string.h>

enum { ROUND_BASE_VERSION = 1 };

enum error_code round_base_put(struct store *store, const char *run_id, int64_t round,
                               int64_t version, struct error *err)
{
    const uint64_t stored = (uint64_t)version;
    struct record record = {.kind = RECORD_ROUND_BASE, .version = ROUND_BASE_VERSION};
    record_add(&record, "version", ELEMENT_U64, &stored, 1);
    const struct key key = key_round_base(run_id, round);
    const enum error_code rc = store_put(store, key.text, run_id, &record, STORE_RECOMPUTABLE, err);
    /* nothing else tells it when the gradients are gone */
    return rc == ERROR_NONE ? store_flush(store, key.text, err) : rc;
}

enum error_code round_base_decode(const struct record_view *view, int64_t round, int64_t oldest,
                                  int64_t *version, struct error *err)
{
    const void *data = NULL;
    uint64_t stored = 0;
    enum error_code rc = record_expect(view, RECORD_ROUND_BASE, ROUND_BASE_VERSION, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "version", ELEMENT_U64, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&stored, data, sizeof stored);
    if (stored < (uint64_t)oldest || stored > (uint64_t)round)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: weights version %" PRIu64 ", expected %" PRId64 " to %" PRId64,
                         view->key, stored, oldest, round);
    *version = (int64_t)stored;
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
