/*
 * Finds the backend of a store, opens and closes stores. Declared in store.h and object_store.h.
 */
#include "common/base/memory.h"
#include "store/backends/backend_list.h"
#include "store/backends/cluster/cluster_backend.h"
#include "store/backends/directory/directory.h"
#include "store/backends/memory/memory_backend.h"
#include "store/backends/s3/s3_backend.h"
#include "store/backends/tiered/tiered_backend.h"
#include "store/objects/store_state.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_TIMEOUT_MS = 30 * 1000, FETCH_WAIT_MS = 2 * CALL_TIMEOUT_MS };

static const uint64_t cache_bytes_default = (uint64_t)8 << 30;

#define BACKEND_ROW(name, address, limit, place, text) &name##_backend,
static const struct object_backend *const backends[] = {BACKEND_LIST(BACKEND_ROW)};
#define BACKEND_PLACE(name, address, limit, place, text) PLACE_OF_##name,
enum { BACKEND_LIST(BACKEND_PLACE) BACKEND_COUNT };

/* Returns how many bytes of `uri` are a scheme (RFC 3986) with its colon; 0 if it is a path. */
static size_t scheme_size(const char *uri)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const size_t first = strspn(uri, letters);
    const size_t size = first + strspn(uri + first, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                    "abcdefghijklmnopqrstuvwxyz0123456789+.-");
    return first && uri[size] == ':' ? size : 0;
}

/* Returns the backend that the first `size` bytes of `uri` name, or NULL. */
static const struct object_backend *backend_named(const char *uri, size_t size)
{
    for (size_t i = 0; i < BACKEND_COUNT; i++)
        if (strlen(backends[i]->scheme) == size && strncmp(uri, backends[i]->scheme, size) == 0)
            return backends[i];
    return NULL;
}

bool store_is_uri(const char *text)
{
    return backend_named(text, scheme_size(text)) != NULL;
}

/* Splits an address. A text without a scheme is a folder. */
enum error_code object_backend_of(const char *uri, const struct object_backend **backend,
                                  const char **place, struct error *err)
{
    const size_t size = scheme_size(uri);
    *backend = &directory_backend;
    *place = uri;
    if (size == 0)
        return *uri ? ERROR_NONE : error_set(err, ERROR_INVALID, "the store has an empty name");
    *place = uri + size + 1;
    *backend = backend_named(uri, size);
    if (*backend)
        return **place ? ERROR_NONE : error_set(err, ERROR_INVALID, "store %s names no place", uri);
    return error_set(err, ERROR_INVALID,
                     "store %s: stores are a path, " STORE_ADDRESSES
                     ", found the scheme '%.*s' (a folder of that name is dir:%s" STORE_LIMITS ")",
                     uri, (int)size, uri, uri);
}

enum error_code store_uri_of_folder(const char *path, char uri[FILE_PATH_SIZE], struct error *err)
{
    return file_path(uri, err, "%s:%s", directory_backend.scheme, path);
}

enum error_code store_locate(const char *uri, struct store_location *out, struct error *err)
{
    const struct object_backend *backend = NULL;
    const char *place = NULL;
    const enum error_code rc = object_backend_of(uri, &backend, &place, err);
    *out = (struct store_location){.is_shared = true};
    return rc == ERROR_NONE ? backend->locate(place, out, err) : rc;
}

enum error_code store_location_add_folder(struct store_location *location, const char *path,
                                          struct error *err)
{
    must(location->folder_count < STORE_FOLDER_MAX);
    return file_path(location->folder[location->folder_count++], err, "%s", path);
}

enum error_code store_location_add_port(struct store_location *location, int64_t port,
                                        struct error *err)
{
    for (int i = 0; i < location->port_count; i++)
        if (location->port[i] == port)
            return ERROR_NONE;
    if (location->port_count == STORE_PORT_MAX)
        return error_set(err, ERROR_INVALID, "the address has more than %d ports", STORE_PORT_MAX);
    location->port[location->port_count++] = (uint16_t)port;
    return ERROR_NONE;
}

enum error_code store_open_on(const struct object_backend *backend, const char *place,
                              unsigned flags, struct store **out, struct error *err)
{
    struct store *store = NULL;
    const char *temporary = getenv("TMPDIR");
    const struct object_options options = {
        .make = !(flags & (STORE_READ_ONLY | STORE_REPLAY | STORE_MUST_EXIST)),
        .timeout_ms = CALL_TIMEOUT_MS};
    enum error_code rc = memory_new(&store, 1, "a store", err);
    if (rc != ERROR_NONE)
        return rc;
    store->flags = flags;
    store->backend = backend;
    store->cache.wait_ms = FETCH_WAIT_MS;
    rc = store_cache_set(store, temporary && *temporary ? temporary : "/tmp", cache_bytes_default,
                         false, err);
    if (rc == ERROR_NONE)
        rc = backend->open(place, &options, &store->state, err);
    if (rc != ERROR_NONE) {
        memory_free(store);
        return rc;
    }
    must(pthread_mutex_init(&store->lock, NULL) == 0);
    *out = store;
    return ERROR_NONE;
}

enum error_code store_open(const char *uri, unsigned flags, struct store **out, struct error *err)
{
    const struct object_backend *backend = NULL;
    const char *place = NULL;
    const enum error_code rc = object_backend_of(uri, &backend, &place, err);
    return rc == ERROR_NONE ? store_open_on(backend, place, flags, out, err) : rc;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    store_kept_forget(store);
    store->backend->close(store->state);
    (void)pthread_mutex_destroy(&store->lock);
    memory_free(store);
}

const char *store_root(const struct store *store)
{
    return store->backend->folder(store->state);
}

unsigned store_capabilities(const struct store *store)
{
    return store->backend->capabilities(store->state);
}

const struct object_backend *store_backend_of(const struct store *store, void **state)
{
    *state = store->state;
    return store->backend;
}

enum error_code store_cache_set(struct store *store, const char *folder, uint64_t budget_bytes,
                                bool storage_is_local, struct error *err)
{
    store->cache.budget_bytes = budget_bytes;
    store->cache.storage_is_local = storage_is_local;
    return file_path(store->cache.folder, err, "%s", folder);
}

void store_cache_bypass(struct store *store)
{
    store->cache.is_bypassed = true;
}

void store_cache_wait_set(struct store *store, int64_t wait_ms)
{
    store->cache.wait_ms = wait_ms;
}

const struct store_cache *store_cache_of(const struct store *store)
{
    return &store->cache;
}

bool store_may_write(const struct store *store)
{
    return !(store->flags & (STORE_READ_ONLY | STORE_REPLAY));
}
