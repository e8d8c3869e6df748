#include "store/backends/tiered/tiered_backend.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/tiered/tiered_place.h"

#include <string.h>

/* --- open --- */

static enum error_code find_one(const char *uri, struct tier_store *one, const char **place,
                                struct error *err)
{
    const enum error_code rc = object_backend_of(uri, &one->backend, place, err);
    if (rc == ERROR_NONE && one->backend == &tiered_backend)
        return error_set(err, ERROR_INVALID, "%s: expected a store that is not tiered itself", uri);
    return rc;
}

static enum error_code open_one(const char *uri, const struct object_options *options,
                                struct tier_store *out, struct error *err)
{
    struct tier_store one = {0};
    const char *place = NULL;
    enum error_code rc = find_one(uri, &one, &place, err);
    if (rc == ERROR_NONE)
        rc = one.backend->open(place, options, &one.state, err);
    if (rc == ERROR_NONE)
        *out = one;
    return rc;
}

enum error_code tiered_fast(struct tiered_place *place, bool make, struct tier_store *out,
                            struct error *err)
{
    struct object_options options = place->options;
    enum error_code rc = ERROR_NONE;
    options.make = options.make || make;
    (void)pthread_mutex_lock(&place->lock);
    if (!place->fast.backend)
        rc = open_one(place->fast_name, &options, &place->fast, err);
    *out = place->fast;
    (void)pthread_mutex_unlock(&place->lock);
    return rc == ERROR_NOT_FOUND && !make ? ERROR_NONE : rc;
}

static enum error_code split(struct tiered_place *place, const char *address, char **durable,
                             struct error *err)
{
    char *middle = NULL;
    const enum error_code rc = file_path(place->address, err, "%s", address);
    if (rc == ERROR_NONE)
        middle = strchr(place->address, TIERED_SEPARATOR);
    if (rc == ERROR_NONE && (!middle || middle == place->address || !middle[1]))
        return error_set(err, ERROR_INVALID,
                         "tiered:%s: expected two stores with a '%c' between them, the fast one "
                         "first: tiered:dir:/fast%cs3://bucket/prefix",
                         address, TIERED_SEPARATOR, TIERED_SEPARATOR);
    if (rc != ERROR_NONE)
        return rc;
    *middle = '\0';
    place->fast_name = place->address;
    *durable = middle + 1;
    return ERROR_NONE;
}

static enum error_code locate_one(const char *uri, struct store_location *out, struct error *err)
{
    struct tier_store one = {0};
    const char *place = NULL;
    const enum error_code rc = find_one(uri, &one, &place, err);
    return rc == ERROR_NONE ? one.backend->locate(place, out, err) : rc;
}

static enum error_code locate(const char *address, struct store_location *out, struct error *err)
{
    struct tiered_place place = {.options = {0}};
    char *durable = NULL;
    enum error_code rc = split(&place, address, &durable, err);
    if (rc == ERROR_NONE)
        rc = locate_one(place.fast_name, out, err);
    return rc == ERROR_NONE ? locate_one(durable, out, err) : rc;
}

static void close_one(const struct tier_store *one)
{
    if (one->backend)
        one->backend->close(one->state);
}

static void close_tiered(void *state)
{
    struct tiered_place *place = state;
    close_one(&place->fast);
    close_one(&place->durable);
    (void)pthread_mutex_destroy(&place->lock);
    memory_free(place);
}

/* Opens both stores. The durable store decides whether there is a store. A fast store that is
 * missing was lost, or never needed. */
static enum error_code open_tiered(const char *address, const struct object_options *options,
                                   void **state, struct error *err)
{
    struct tiered_place *place = NULL;
    struct tier_store fast = {0};
    char *durable = NULL;
    enum error_code rc = memory_new(&place, 1, "a tiered store", err);
    if (rc != ERROR_NONE)
        return rc;
    must(pthread_mutex_init(&place->lock, NULL) == 0);
    place->options = *options;
    rc = split(place, address, &durable, err);
    if (rc == ERROR_NONE)
        rc = open_one(durable, options, &place->durable, err);
    if (rc == ERROR_NONE)
        rc = tiered_fast(place, options->make, &fast, err);
    if (rc == ERROR_NONE)
        *state = place;
    else
        close_tiered(place);
    return rc;
}

/* Returns the capabilities: those for records of rounds come from the fast store, those for
 * artifacts from the durable one. */
static unsigned capabilities_of(const void *state)
{
    const struct tiered_place *place = state;
    const struct tier_store *durable = &place->durable;
    const unsigned of_durable = durable->backend->capabilities(durable->state);
    const unsigned of_fast =
        place->fast.backend ? place->fast.backend->capabilities(place->fast.state) : of_durable;
    return (of_durable & ~(unsigned)(STORE_HAS_CHEAP_RECORDS | STORE_IS_SHARED)) |
           (of_fast & STORE_HAS_CHEAP_RECORDS) | (of_fast & of_durable & STORE_IS_SHARED);
}

static const char *folder_of(const void *state)
{
    const struct tier_store *durable = &((const struct tiered_place *)state)->durable;
    return durable->backend->folder(durable->state);
}

/* --- functions of the durable store: artifacts, refs, notes --- */

static struct tier_store durable_of(const void *state)
{
    return ((const struct tiered_place *)state)->durable;
}

static enum error_code make_scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    const struct tier_store to = durable_of(state);
    return to.backend->scratch(to.state, path, err);
}

static enum error_code publish(void *state, const char *path, const char *key, bool *existed,
                               struct error *err)
{
    const struct tier_store to = durable_of(state);
    return to.backend->publish(to.state, path, key, existed, err);
}

static enum error_code artifact_path(void *state, const char *key, char path[FILE_PATH_SIZE],
                                     struct error *err)
{
    const struct tier_store of = durable_of(state);
    if (!of.backend->path)
        return error_set(err, ERROR_INVALID, "artifact %s: a store in %s has no paths", key,
                         of.backend->scheme);
    return of.backend->path(of.state, key, path, err);
}

static enum error_code visit_files(void *state, const char *key, object_file_visitor visit,
                                   void *context, struct error *err)
{
    const struct tier_store of = durable_of(state);
    return of.backend->files(of.state, key, visit, context, err);
}

static enum error_code read_range(void *state, const char *key, const char *file, uint64_t offset,
                                  void *buffer, size_t size, size_t *got, struct error *err)
{
    const struct tier_store of = durable_of(state);
    return of.backend->get_range(of.state, key, file, offset, buffer, size, got, err);
}

static enum error_code get_ref(void *state, const char *name, char *text, size_t size,
                               struct error *err)
{
    const struct tier_store of = durable_of(state);
    return of.backend->ref_get(of.state, name, text, size, err);
}

static enum error_code set_ref(void *state, const char *name, const char *text, struct error *err)
{
    const struct tier_store of = durable_of(state);
    return of.backend->ref_set(of.state, name, text, err);
}

static enum error_code exchange_ref(void *state, const char *name, const char *expected,
                                    const char *text, bool *matched, struct error *err)
{
    const struct tier_store of = durable_of(state);
    return of.backend->ref_cas(of.state, name, expected, text, matched, err);
}

static enum error_code list_refs(void *state, store_visitor visit, void *context, struct error *err)
{
    const struct tier_store of = durable_of(state);
    return of.backend->ref_list(of.state, visit, context, err);
}

static enum error_code put_note(void *state, const char *name, const char *text, size_t size,
                                struct error *err)
{
    const struct tier_store to = durable_of(state);
    return to.backend->note_put(to.state, name, text, size, err);
}

static enum error_code get_note(void *state, const char *name, char **text, size_t *size,
                                struct error *err)
{
    const struct tier_store of = durable_of(state);
    return of.backend->note_get(of.state, name, text, size, err);
}

static enum error_code note_path(const void *state, const char *name, char path[FILE_PATH_SIZE],
                                 struct error *err)
{
    const struct tier_store of = durable_of(state);
    if (!of.backend->note_path)
        return error_set(err, ERROR_INVALID, "note %s: a store in %s has no paths", name,
                         of.backend->scheme);
    return of.backend->note_path(of.state, name, path, err);
}

/* --- functions of both stores --- */

/* Returns the current fast store; {0} if there is none. */
static struct tier_store fast_of(void *state)
{
    struct tiered_place *place = state;
    (void)pthread_mutex_lock(&place->lock);
    const struct tier_store fast = place->fast;
    (void)pthread_mutex_unlock(&place->lock);
    return fast;
}

static enum error_code sweep(void *state, struct error *err)
{
    const struct tier_store durable = durable_of(state), fast = fast_of(state);
    const enum error_code rc = durable.backend->sweep(durable.state, err);
    return rc == ERROR_NONE && fast.backend ? fast.backend->sweep(fast.state, err) : rc;
}

/* Returns the age. A record in both stores was put in the fast one first; the age is that of the
 * younger copy. */
static enum error_code age_of(void *state, const char *key, bool is_ref, int64_t *seconds,
                              struct error *err)
{
    const struct tier_store durable = durable_of(state), fast = fast_of(state);
    int64_t other = 0;
    const enum error_code rc = durable.backend->age(durable.state, key, is_ref, seconds, err);
    if (is_ref || !fast.backend || (rc != ERROR_NONE && rc != ERROR_NOT_FOUND))
        return rc;
    const enum error_code found = fast.backend->age(fast.state, key, is_ref, &other, err);
    if (found == ERROR_NONE && (rc == ERROR_NOT_FOUND || other < *seconds))
        *seconds = other;
    return found == ERROR_NOT_FOUND ? rc : found;
}

static void start_writeback(void *state)
{
    const struct tier_store store[] = {fast_of(state), durable_of(state)};
    for (size_t i = 0; i < sizeof store / sizeof *store; i++)
        if (store[i].backend && store[i].backend->start_writeback)
            store[i].backend->start_writeback(store[i].state);
}

/* Prepares space for the next records of rounds, in the fast store. */
static void preallocate(void *state)
{
    const struct tier_store fast = fast_of(state);
    if (fast.backend && fast.backend->preallocate)
        fast.backend->preallocate(fast.state);
}

/* Returns how full the memory of the fast store is. */
static enum error_code memory_share(void *state, double *share, struct error *err)
{
    const struct tier_store fast = fast_of(state);
    *share = 0;
    return fast.backend && fast.backend->memory_share
               ? fast.backend->memory_share(fast.state, share, err)
               : ERROR_NONE;
}

static void drop_cache(void *state, const char *key)
{
    const struct tier_store of =
        tier_of_key(key) == TIER_DURABLE ? durable_of(state) : fast_of(state);
    if (of.backend && of.backend->drop_cache)
        of.backend->drop_cache(of.state, key);
}

const struct object_backend tiered_backend = {
    .scheme = "tiered",
    .open = open_tiered,
    .close = close_tiered,
    .capabilities = capabilities_of,
    .locate = locate,
    .folder = folder_of,
    .put_if_absent = tiered_put,
    .flush = tiered_flush,
    .get_many = tiered_get_many,
    .delete_if_match = tiered_delete_if_match,
    .scratch = make_scratch,
    .publish = publish,
    .path = artifact_path,
    .files = visit_files,
    .get_range = read_range,
    .sweep = sweep,
    .has = tiered_has,
    .remove = tiered_remove,
    .list = tiered_list,
    .age = age_of,
    .ref_get = get_ref,
    .ref_set = set_ref,
    .ref_cas = exchange_ref,
    .ref_list = list_refs,
    .note_put = put_note,
    .note_get = get_note,
    .note_path = note_path,
    .memory_share = memory_share,
    .start_writeback = start_writeback,
    .preallocate = preallocate,
    .drop_cache = drop_cache,
};
