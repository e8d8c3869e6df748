#include "store/features/feature_shares.h"

static bool is_shared(const struct feature_source *source)
{
    return source && !feature_source_is_resident(source);
}

uint64_t feature_shares_need(const struct feature_source *source, uint32_t row_count,
                             bool is_fetched)
{
    return feature_source_bytes(source) - feature_source_cache_bytes(source) +
           feature_source_visit_bytes(source, row_count) +
           (is_fetched ? row_count * (uint64_t)feature_source_row_bytes(source) : 0);
}

/* Returns the fraction part / all of `bytes`; 0 if `all` is 0. */
static uint64_t share_of(uint64_t bytes, uint64_t part, uint64_t all)
{
    return all ? (uint64_t)((double)bytes * ((double)part / (double)all)) : 0;
}

void feature_shares_limit(struct feature_source *const *source, const uint32_t *row_count,
                          uint32_t count, bool is_fetched, uint64_t budget_bytes)
{
    uint64_t needed = 0, cached = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_shared(source[i])) {
            feature_source_rest(source[i]);
            needed += feature_shares_need(source[i], row_count[i], is_fetched);
            cached += feature_source_cache_bytes(source[i]);
        }
    const uint64_t left = budget_bytes > needed ? budget_bytes - needed : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_shared(source[i]))
            continue;
        const uint64_t need = feature_shares_need(source[i], row_count[i], is_fetched);
        const uint64_t own = feature_source_cache_bytes(source[i]);
        feature_source_limit(source[i], left ? need + (cached ? share_of(left, own, cached)
                                                              : share_of(left, need, needed))
                                             : share_of(budget_bytes, need, needed));
    }
}
