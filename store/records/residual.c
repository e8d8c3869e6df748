#include "store/records/residual.h"

#include "store/objects/keys.h"
#include "store/records/parameter_values.h"

enum { RESIDUAL_VERSION = 1 };

enum error_code residual_put(struct store *store, const char *run_id, int64_t round, int slot,
                             const float *value, uint64_t count, enum store_durability durability,
                             struct error *err)
{
    struct record record = {.kind = RECORD_RESIDUAL, .version = RESIDUAL_VERSION};
    record_add(&record, "value", ELEMENT_F32, value, count);
    return store_put(store, key_residual(run_id, round, slot).text, run_id, &record, durability,
                     err);
}

enum error_code residual_get(struct store *store, const char *run_id, int64_t round, int slot,
                             uint64_t count, struct residual *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct residual){0};
    enum error_code rc =
        store_get(store, key_residual(run_id, round, slot).text, run_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = record_expect(&view, RECORD_RESIDUAL, RESIDUAL_VERSION, err);
    if (rc == ERROR_NONE)
        rc = parameter_values_get(&view, "value", count, &out->value, &out->count, err);
    if (rc == ERROR_NONE) {
        out->view = view;
        return rc;
    }
    store_release_record(&view);
    *out = (struct residual){0};
    return rc;
}
