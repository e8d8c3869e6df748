#include "store/records/feature_statistics.h"

#include "store/objects/keys.h"

#include <inttypes.h>
#include <math.h>

enum { FEATURE_STATISTICS_VERSION = 1 };

enum error_code feature_statistics_put(struct store *store, const char *dataset_id, uint32_t type,
                                       const struct feature_statistics *statistics,
                                       struct error *err)
{
    const struct key key = key_feature_statistics(dataset_id, type);
    struct record record = {.kind = RECORD_FEATURE_STATISTICS,
                            .version = FEATURE_STATISTICS_VERSION};
    must(statistics->has_least || statistics->dim);
    if (statistics->has_least)
        record_add(&record, "least", ELEMENT_F64, &statistics->least, 1);
    if (statistics->dim) {
        record_add(&record, "mean", ELEMENT_F64, statistics->mean, statistics->dim);
        record_add(&record, "deviation", ELEMENT_F64, statistics->deviation, statistics->dim);
    }
    return store_put(store, key.text, dataset_id, &record, STORE_DURABLE, err);
}

static enum error_code get_numbers(const struct record_view *view, const char *section,
                                   int64_t expected, double least, const double **out,
                                   uint64_t *count, struct error *err)
{
    const void *data = NULL;
    uint64_t found = 0;
    const enum error_code rc =
        record_section_get(view, section, ELEMENT_F64, expected, &data, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    const double *value = data;
    for (uint64_t i = 0; i < found; i++)
        if (!isfinite(value[i]) || value[i] < least)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu64 ": expected a finite number%s, found %g",
                             view->key, section, i, least >= 0 ? " of 0 or more" : "", value[i]);
    *out = value;
    *count = found;
    return ERROR_NONE;
}

static enum error_code get_columns(const struct record_view *view, struct feature_statistics *out,
                                   struct error *err)
{
    uint64_t count = 0;
    enum error_code rc = get_numbers(view, "mean", -1, -HUGE_VAL, &out->mean, &out->dim, err);
    if (rc == ERROR_NONE && (out->dim == 0 || out->dim > UINT32_MAX))
        rc = error_set(err, ERROR_CORRUPT, "%s: \"mean\": expected 1 to %u entries, found %" PRIu64,
                       view->key, UINT32_MAX, out->dim);
    return rc == ERROR_NONE
               ? get_numbers(view, "deviation", (int64_t)out->dim, 0, &out->deviation, &count, err)
               : rc;
}

enum error_code feature_statistics_decode(const struct record_view *view,
                                          struct feature_statistics *out, struct error *err)
{
    const double *least = NULL;
    uint64_t count = 0;
    *out = (struct feature_statistics){.view = *view};
    enum error_code rc =
        record_expect(view, RECORD_FEATURE_STATISTICS, FEATURE_STATISTICS_VERSION, err);
    if (rc == ERROR_NONE && record_has(view, "least"))
        rc = get_numbers(view, "least", 1, -HUGE_VAL, &least, &count, err);
    if (rc == ERROR_NONE && least) {
        out->has_least = true;
        out->least = *least;
    }
    if (rc == ERROR_NONE && (record_has(view, "mean") || !least))
        rc = get_columns(view, out, err);
    return rc;
}

enum error_code feature_statistics_get(struct store *store, const char *dataset_id, uint32_t type,
                                       struct feature_statistics *out, struct error *err)
{
    struct record_view view = {0};
    const struct key key = key_feature_statistics(dataset_id, type);
    *out = (struct feature_statistics){0};
    enum error_code rc = store_get(store, key.text, dataset_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = feature_statistics_decode(&view, out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&view);
    *out = (struct feature_statistics){0};
    return rc;
}
