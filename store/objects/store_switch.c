/*
 * Refs (switches in the code) with their checksums, notes, and the age of objects. Declared in
 * store.h.
 */
#include "store/objects/store_state.h"
#include "store/objects/switch_text.h"

#include <string.h>

enum { READS = 2 };

static enum error_code check_switch(const struct store *store, const char *key, const char *text,
                                    struct error *err)
{
    const enum error_code rc = store_check_change(store, key, err);
    if (rc != ERROR_NONE)
        return rc;
    if (strlen(text) > SWITCH_VALUE_MAX || strchr(text, '\n'))
        return error_set(err, ERROR_INVALID,
                         "switch %s: expected one line of at most %d bytes, found %zu", key,
                         SWITCH_VALUE_MAX, strlen(text));
    return ERROR_NONE;
}

enum error_code store_switch_set(struct store *store, const char *key, const char *text,
                                 struct error *err)
{
    char line[SWITCH_LINE_SIZE];
    const enum error_code rc = check_switch(store, key, text, err);
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    switch_text_encode(key, text, line);
    return store->backend->ref_set(store->state, key, line, err);
}

/* Reads a ref, and a second time if it is damaged, because that may have happened on the way.
 * `line` is its stored form. */
static enum error_code read_switch(struct store *store, const char *key,
                                   char line[SWITCH_LINE_SIZE], char *text, size_t size,
                                   struct error *err)
{
    enum error_code rc = ERROR_CORRUPT;
    for (int i = 0; i < READS && rc == ERROR_CORRUPT; i++) {
        line[0] = '\0';
        rc = store->backend->ref_get(store->state, key, line, SWITCH_LINE_SIZE, err);
        if (rc == ERROR_NONE)
            rc = switch_text_decode(key, line, text, size, err);
    }
    return rc;
}

/* Replaces a damaged ref by `line`. *matched is false if it is sound, or removed. */
static enum error_code replace_damaged(struct store *store, const char *key, const char *line,
                                       bool *matched, struct error *err)
{
    char seen[SWITCH_LINE_SIZE], value[SWITCH_VALUE_MAX + 1];
    const enum error_code rc = read_switch(store, key, seen, value, sizeof value, err);
    *matched = false;
    if (rc != ERROR_CORRUPT)
        return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
    if (seen[0])
        return store->backend->ref_cas(store->state, key, seen, line, matched, err);
    *matched = true; /* there is no text, so there is nothing to compare with */
    return store->backend->ref_set(store->state, key, line, err);
}

enum error_code store_switch_exchange(struct store *store, const char *key, const char *expected,
                                      const char *text, bool *matched, struct error *err)
{
    char old[SWITCH_LINE_SIZE], line[SWITCH_LINE_SIZE];
    enum error_code rc = check_switch(store, key, text ? text : "", err);
    if (rc == ERROR_NONE && expected)
        rc = check_switch(store, key, expected, err);
    *matched = rc == ERROR_NONE;
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    if (expected)
        switch_text_encode(key, expected, old);
    if (text)
        switch_text_encode(key, text, line);
    rc = store->backend->ref_cas(store->state, key, expected ? old : NULL, text ? line : NULL,
                                 matched, err);
    if (expected || (rc == ERROR_NONE && *matched) || (rc != ERROR_NONE && rc != ERROR_CORRUPT))
        return rc;
    return replace_damaged(store, key, text ? line : NULL, matched, err);
}

enum error_code store_switch_get(struct store *store, const char *key, char *text, size_t size,
                                 struct error *err)
{
    char line[SWITCH_LINE_SIZE];
    enum error_code rc = store_check_key(key, err);
    if (rc == ERROR_NONE)
        rc = read_switch(store, key, line, text, size, err);
    return rc == ERROR_NOT_FOUND ? error_set(err, rc, "switch %s is not set", key) : rc;
}

enum error_code store_switch_remove(struct store *store, const char *key, struct error *err)
{
    const enum error_code rc = store_check_change(store, key, err);
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    return store->backend->ref_set(store->state, key, NULL, err);
}

enum error_code store_switch_list(struct store *store, store_visitor visit, void *context,
                                  struct error *err)
{
    return store->backend->ref_list(store->state, visit, context, err);
}

static enum error_code age_of(struct store *store, const char *key, bool is_switch,
                              int64_t *seconds, struct error *err)
{
    enum error_code rc = store_check_key(key, err);
    *seconds = 0;
    if (rc == ERROR_NONE && store->backend->age)
        rc = store->backend->age(store->state, key, is_switch, seconds, err);
    if (rc == ERROR_NONE && *seconds < 0)
        *seconds = 0; /* just put, by a clock that is slightly ahead */
    return rc;
}

enum error_code store_age(struct store *store, const char *key, int64_t *seconds, struct error *err)
{
    return age_of(store, key, false, seconds, err);
}

enum error_code store_switch_age(struct store *store, const char *key, int64_t *seconds,
                                 struct error *err)
{
    return age_of(store, key, true, seconds, err);
}

enum error_code store_note_put(struct store *store, const char *name, const char *text, size_t size,
                               struct error *err)
{
    const enum error_code rc = store_check_change(store, name, err);
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    return store->backend->note_put(store->state, name, text, size, err);
}

enum error_code store_note_get(struct store *store, const char *name, char **text, size_t *size,
                               struct error *err)
{
    const enum error_code rc = store_check_key(name, err);
    return rc == ERROR_NONE ? store->backend->note_get(store->state, name, text, size, err) : rc;
}

enum error_code store_note_path(const struct store *store, const char *name,
                                char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = store_check_key(name, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!store->backend->note_path)
        return error_set(err, ERROR_INVALID, "note %s: a store in %s has no paths", name,
                         store->backend->scheme);
    return store->backend->note_path(store->state, name, path, err);
}
