#include "store/records/dataset/feature_statistics.h"

#include "store/records/section_table.h"

#include <inttypes.h>

/* A record has one of the two parts at least, and no deviation is below 0. */
static enum error_code check_parts(const struct record_view *view, void *out, struct error *err)
{
    const struct feature_statistics *s = out;
    if (!s->has_least && !s->mean)
        return error_set(err, ERROR_CORRUPT, "record %s: expected a section mean or least",
                         view->key);
    for (uint64_t i = 0; i < s->dim; i++)
        if (s->deviation[i] < 0)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: \"deviation\" entry %" PRIu64
                             ": expected a finite number of 0 or more, found %g",
                             view->key, i, s->deviation[i]);
    return ERROR_NONE;
}

#define SECTION_STRUCT struct feature_statistics
static const struct section_row rows[] = {
    {SECTION_VALUE("least", F64, least), .when = AT(has_least), .if_there = true,
     .checks = SECTION_FINITE},
    {SECTION_ARRAY("mean", F64, mean), .sets = AT(dim), .least = 1, .most = UINT32_MAX,
     .when = AT(dim), .if_there = true, .checks = SECTION_FINITE},
    {SECTION_ARRAY("deviation", F64, deviation), .count = AT(dim), .when = AT(dim),
     .checks = SECTION_FINITE},
    {SECTION_HAND(NULL, check_parts)},
};
static const struct section_table table = SECTION_TABLE(RECORD_FEATURE_STATISTICS, 1, 1, rows);

enum error_code feature_statistics_put(struct store *store, const char *dataset_id, uint32_t type,
                                       const struct feature_statistics *statistics,
                                       struct error *err)
{
    must(statistics->has_least || statistics->dim);
    return section_table_put(store, &table, key_feature_statistics(dataset_id, type).text,
                             dataset_id, statistics, STORE_DURABLE, err);
}

enum error_code feature_statistics_decode(const struct record_view *view,
                                          struct feature_statistics *out, struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code feature_statistics_get(struct store *store, const char *dataset_id, uint32_t type,
                                       struct feature_statistics *out, struct error *err)
{
    return section_table_get(store, &table, key_feature_statistics(dataset_id, type).text,
                             dataset_id, out, err);
}
