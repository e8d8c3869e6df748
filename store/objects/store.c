/*
 * Artifacts, lists and hints of a store: these functions check keys and the right to write, and
 * call the backend. Records are in store_record.c, refs and notes in store_switch.c, opening in
 * store_open.c.
 */
#include "store/objects/store.h"

#include "common/base/text.h"
#include "store/objects/keys.h"
#include "store/objects/store_state.h"

#include <string.h>

enum error_code store_has(struct store *store, const char *key, bool *found, struct error *err)
{
    const enum error_code rc = store_check_key(key, err);
    return rc == ERROR_NONE ? store->backend->has(store->state, key, found, err) : rc;
}

enum error_code store_remove(struct store *store, const char *key, struct error *err)
{
    const enum error_code rc = store_check_change(store, key, err);
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    return store->backend->remove(store->state, key, err);
}

enum error_code store_list(struct store *store, const char *prefix, store_visitor visit,
                           void *context, struct error *err)
{
    char folder[KEY_SIZE + 1];
    if (!text_copy(folder, sizeof folder, prefix))
        return error_set(err, ERROR_INVALID, "prefix %.60s... is longer than a key", prefix);
    const size_t size = strlen(folder);
    if (size > 1 && folder[size - 1] == '/')
        folder[size - 1] = '\0';
    const enum error_code rc = *folder ? store_check_key(folder, err) : ERROR_NONE;
    return rc == ERROR_NONE ? store->backend->list(store->state, folder, "", visit, context, err)
                            : rc;
}

enum error_code store_scratch(struct store *store, char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = store_check_change(store, "scratch", err);
    return rc == ERROR_NONE ? store->backend->scratch(store->state, path, err) : rc;
}

enum error_code store_publish(struct store *store, const char *path, const char *key, bool *existed,
                              struct error *err)
{
    bool found = false;
    enum error_code rc = store_check_change(store, key, err);
    if (rc == ERROR_NONE && !(store->flags & STORE_REPLAY))
        rc = store->backend->publish(store->state, path, key, &found, err);
    if (existed)
        *existed = found;
    return rc;
}

enum error_code store_artifact(struct store *store, const char *key, char path[FILE_PATH_SIZE],
                               struct error *err)
{
    const enum error_code rc = store_check_key(key, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!store->backend->path)
        return error_set(err, ERROR_INVALID, "artifact %s: a store in %s has no paths", key,
                         store->backend->scheme);
    return store->backend->path(store->state, key, path, err);
}

enum error_code store_sweep(struct store *store, struct error *err)
{
    if (store->flags & (STORE_READ_ONLY | STORE_REPLAY))
        return ERROR_NONE;
    return store->backend->sweep(store->state, err);
}

void store_start_writeback(struct store *store)
{
    if (store_may_write(store) && store->backend->start_writeback)
        store->backend->start_writeback(store->state);
}

void store_preallocate(struct store *store)
{
    if (store_may_write(store) && store->backend->preallocate)
        store->backend->preallocate(store->state);
}

enum error_code store_memory_share(struct store *store, double *share, struct error *err)
{
    *share = 0;
    return store->backend->memory_share ? store->backend->memory_share(store->state, share, err)
                                        : ERROR_NONE;
}

void store_drop_cache(struct store *store, const char *key)
{
    if (store_may_write(store) && store->backend->drop_cache &&
        store_check_key(key, NULL) == ERROR_NONE)
        store->backend->drop_cache(store->state, key);
}
