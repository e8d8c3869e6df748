#include "store/records/round/weights_identity.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum { VERSION_COUNT = 2 };

/* The two versions lie behind each other in memory as they do in the record. */
_Static_assert(offsetof(struct weights_identity, snapshot_version) ==
                   offsetof(struct weights_identity, version) + sizeof(int64_t),
               "section weights is taken from the struct");

void weights_identity_add(struct record *record, const struct weights_identity *identity)
{
    record_add(record, "weights", ELEMENT_I64, &identity->version, VERSION_COUNT);
    record_add(record, "weights_sum", ELEMENT_U8, identity->sum.bytes, sizeof identity->sum.bytes);
}

enum error_code weights_identity_get(const struct record_view *view, struct weights_identity *out,
                                     struct error *err)
{
    const void *versions = NULL, *sum = NULL;
    enum error_code rc =
        record_section_get(view, "weights", ELEMENT_I64, VERSION_COUNT, &versions, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "weights_sum", ELEMENT_U8, sizeof out->sum.bytes, &sum, NULL,
                                err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&out->version, versions, VERSION_COUNT * sizeof out->version);
    memcpy(out->sum.bytes, sum, sizeof out->sum.bytes);
    return weights_identity_check_order(view, out, err);
}

enum error_code weights_identity_check_order(const struct record_view *view,
                                             const struct weights_identity *identity,
                                             struct error *err)
{
    if (identity->version >= 0 && identity->version <= identity->snapshot_version)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: section weights: version %" PRId64 " of snapshot %" PRId64
                     ": expected 0 <= version <= snapshot",
                     view->key, identity->version, identity->snapshot_version);
}

enum error_code weights_identity_check(const struct weights_identity *expected,
                                       const struct weights_identity *found, const char *what,
                                       struct error *err)
{
    char expected_sum[CHECKSUM_TEXT_SIZE], found_sum[CHECKSUM_TEXT_SIZE];
    if (expected->version == found->version &&
        expected->snapshot_version == found->snapshot_version &&
        checksum_equal(&expected->sum, &found->sum))
        return ERROR_NONE;
    checksum_text(&expected->sum, expected_sum);
    checksum_text(&found->sum, found_sum);
    return error_set(err, ERROR_CORRUPT,
                     "%s: expected weights %" PRId64 " of snapshot %" PRId64
                     " (hash %s), found weights %" PRId64 " of snapshot %" PRId64 " (hash %s)",
                     what, expected->version, expected->snapshot_version, expected_sum,
                     found->version, found->snapshot_version, found_sum);
}

struct weights_identity weights_identity_of(const struct snapshot *snapshot, bool best,
                                            const float **value)
{
    *value = best ? snapshot->best_value : snapshot->value;
    return (struct weights_identity){
        .version = best ? snapshot->best_version : snapshot->version,
        .snapshot_version = snapshot->version,
        .sum = checksum_of(*value, snapshot->value_count * sizeof **value),
    };
}

enum error_code weights_identity_verify(struct store *store, const char *run_id,
                                        const struct weights_identity *identity, const char *what,
                                        struct error *err)
{
    struct snapshot snapshot = {0};
    const float *value = NULL;
    enum error_code rc = snapshot_get(store, run_id, identity->snapshot_version, &snapshot, err);
    if (rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT)
        return ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    const bool best = identity->version != identity->snapshot_version;
    const struct weights_identity expected = weights_identity_of(&snapshot, best, &value);
    rc = weights_identity_check(&expected, identity, what, err);
    store_release_record(&snapshot.view);
    return rc;
}
