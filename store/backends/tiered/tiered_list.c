/* Lists the keys of a tiered store: the keys of both stores, merged in order, each once. */
#include "common/base/memory.h"
#include "store/backends/tiered/tiered_place.h"

#include <string.h>

/* The keys of the fast store. There are few, since rounds are soon pruned. */
struct fast_keys {
    char (*key)[KEY_SIZE]; /* [count] in order */
    size_t count, capacity;
};

struct merge {
    struct fast_keys fast;
    size_t next; /* index in `fast` of the next to be visited */
    store_visitor visit;
    void *context;
};

static enum error_code collect(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct fast_keys *keys = context;
    if (is_artifact || tier_of_key(key) == TIER_DURABLE)
        return ERROR_NONE; /* another program uses that store too */
    const enum error_code rc =
        memory_grow(&keys->key, &keys->capacity, keys->count + 1, "keys of the fast store", err);
    if (rc == ERROR_NONE)
        memcpy(keys->key[keys->count++], key, strlen(key) + 1);
    return rc;
}

/* Visits the fast keys that come before `key` (NULL: all that are left). A record with that very
 * key was flushed, and is visited in the durable store. */
static enum error_code visit_before(struct merge *merge, const char *key, bool is_artifact,
                                    struct error *err)
{
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && merge->next < merge->fast.count) {
        const char *fast = merge->fast.key[merge->next];
        const int order = key ? strcmp(fast, key) : -1;
        if (order > 0)
            break;
        merge->next++;
        if (order < 0 || is_artifact)
            rc = merge->visit(merge->context, fast, false, err);
    }
    return rc;
}

static enum error_code visit_durable(void *context, const char *key, bool is_artifact,
                                     struct error *err)
{
    struct merge *merge = context;
    if (tier_of_key(key) == TIER_FAST)
        return ERROR_NONE; /* left by a store that was not tiered then; no reader would find it */
    const enum error_code rc = visit_before(merge, key, is_artifact, err);
    return rc == ERROR_NONE ? merge->visit(merge->context, key, is_artifact, err) : rc;
}

enum error_code tiered_list(void *state, const char *prefix, const char *after, store_visitor visit,
                            void *context, struct error *err)
{
    struct tiered_place *place = state;
    struct tier_store fast = {0};
    struct merge merge = {.visit = visit, .context = context};
    enum error_code rc = ERROR_NONE;
    if (tier_of_prefix_is_fast(prefix))
        rc = tiered_fast(place, false, &fast, err);
    if (rc == ERROR_NONE && fast.backend)
        rc = fast.backend->list(fast.state, prefix, after, collect, &merge.fast, err);
    if (rc == ERROR_NONE)
        rc = place->durable.backend->list(place->durable.state, prefix, after, visit_durable,
                                          &merge, err);
    if (rc == ERROR_NONE)
        rc = visit_before(&merge, NULL, false, err);
    memory_free(merge.fast.key);
    return rc;
}
