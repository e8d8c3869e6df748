/*
 * What is the same for every backend: keys are checked, records are hashed and compared, damaged ones
 * make way, and a replay compares instead of writing.
 */
#include "store/objects/store.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/directory.h"
#include "store/backends/memory_backend.h"
#include "store/objects/keys.h"
#include "store/objects/object_store.h"
#include "store/objects/stored_bytes.h"
#include "store/objects/switch_text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PUT_ATTEMPTS = 100, CALL_TIMEOUT_MS = 30 * 1000 };

_Static_assert(1 + 2 * RECORD_SECTION_COUNT_MAX <= OBJECT_PIECE_COUNT_MAX,
               "a record is put in one go");

static const uint64_t cache_bytes_default = (uint64_t)8 << 30;

enum { BACKEND_COUNT = 2 };

static const struct object_backend *const backends[BACKEND_COUNT] = {&directory_backend,
                                                                     &memory_backend};

struct store {
    const struct object_backend *backend;
    void *state;
    unsigned flags;
    struct store_cache cache;
    pthread_mutex_t lock; /* over `replay` */
    struct store_replay replay;
    atomic_uint_least64_t records_read, bytes_read, records_written, bytes_written;
};

/* --- open and close --- */

/* How many bytes of `uri` are a scheme (RFC 3986) with a colon behind it; 0: it is a path. */
static size_t scheme_size(const char *uri)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const size_t first = strspn(uri, letters);
    const size_t size = first + strspn(uri + first, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                    "abcdefghijklmnopqrstuvwxyz0123456789+.-");
    return first && uri[size] == ':' ? size : 0;
}

/* Splits "scheme:place"; a text without a scheme is a folder. */
static enum error_code find_backend(const char *uri, const struct object_backend **backend,
                                    const char **place, struct error *err)
{
    const size_t size = scheme_size(uri);
    *backend = &directory_backend;
    *place = uri;
    if (size == 0)
        return *uri ? ERROR_NONE : error_set(err, ERROR_INVALID, "the store has an empty name");
    *place = uri + size + 1;
    for (size_t i = 0; i < BACKEND_COUNT; i++) {
        *backend = backends[i];
        if (strlen((*backend)->scheme) == size && strncmp(uri, (*backend)->scheme, size) == 0)
            return **place ? ERROR_NONE
                           : error_set(err, ERROR_INVALID, "store %s names no place", uri);
    }
    return error_set(
        err, ERROR_INVALID,
        "store %s: stores are dir:PATH or a path, found the scheme '%.*s' (a folder of "
        "that name is dir:%s; memory:NAME is of one process alone)",
        uri, (int)size, uri, uri);
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
    const enum error_code rc = find_backend(uri, &backend, &place, err);
    return rc == ERROR_NONE ? store_open_on(backend, place, flags, out, err) : rc;
}

void store_close(struct store *store)
{
    if (!store)
        return;
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

const struct store_cache *store_cache_of(const struct store *store)
{
    return &store->cache;
}

bool store_may_write(const struct store *store)
{
    return !(store->flags & (STORE_READ_ONLY | STORE_REPLAY));
}

/* --- keys --- */

static enum error_code check_key(const char *key, struct error *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (strlen(key) >= KEY_SIZE)
        return error_set(err, ERROR_INVALID, "key %.60s...: expected at most %d bytes, found %zu",
                         key, KEY_SIZE - 1, strlen(key));
    static const char *const own[] = {"tmp", "switch", "logs"};
    const size_t first = strcspn(key, "/");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (first == strlen(own[i]) && strncmp(key, own[i], first) == 0)
            return error_set(err, ERROR_INVALID, "key %s: the store keeps '%.*s' for itself", key,
                             (int)first, key);
    for (const char *part = key;; part++) {
        const size_t size = strspn(part, allowed);
        if (part[size] != '\0' && part[size] != '/')
            return error_set(err, ERROR_INVALID,
                             "key %s: offset %zu: expected a letter, a digit, '.', '_' or '-'", key,
                             (size_t)(part + size - key));
        if (size == 0 || part[0] == '.')
            return error_set(err, ERROR_INVALID,
                             "key %s: offset %zu: expected a name that is not empty and does not "
                             "start with '.'",
                             key, (size_t)(part - key));
        part += size;
        if (!*part)
            return ERROR_NONE;
    }
}

/* For everything that writes. */
static enum error_code check_change(const struct store *store, const char *key, struct error *err)
{
    if (store->flags & STORE_READ_ONLY)
        return error_set(err, ERROR_INVALID,
                         "the store is open for reading only, %s stays as it is", key);
    return check_key(key, err);
}

/* --- records --- */

void store_release_record(struct record_view *view)
{
    struct stored_bytes bytes = {.size = view->size, .mapped = view->mapped};
    memcpy(&bytes.data, &view->data,
           sizeof bytes.data); /* back to what it was before it was const */
    stored_bytes_release(&bytes);
    *view = (struct record_view){0};
}

/* One record, of the many that a backend may be asked for. */
static enum error_code get_bytes(struct store *store, const char *key, struct stored_bytes *out,
                                 struct error *err)
{
    struct object_get get = {.key = key};
    store->backend->get_many(store->state, &get, 1);
    *out = get.bytes;
    if (get.rc != ERROR_NONE && err)
        *err = get.err;
    return get.rc;
}

static enum error_code decode(const struct stored_bytes *bytes, const char *key,
                              const char *owner_id, struct record_view *view, struct error *err)
{
    const enum error_code rc = record_decode(bytes->data, bytes->size, key, owner_id, view, err);
    view->mapped = bytes->mapped;
    return rc;
}

enum error_code store_get(struct store *store, const char *key, const char *owner_id,
                          struct record_view *view, struct error *err)
{
    struct stored_bytes bytes = {0};
    *view = (struct record_view){0};
    enum error_code rc = check_key(key, err);
    if (rc == ERROR_NONE)
        rc = get_bytes(store, key, &bytes, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc, "record %s is not in the store", key);
    if (rc != ERROR_NONE)
        return rc;
    (void)atomic_fetch_add(&store->records_read, 1);
    (void)atomic_fetch_add(&store->bytes_read, bytes.size);
    rc = decode(&bytes, key, owner_id, view, err);
    if (rc != ERROR_NONE) {
        stored_bytes_release(&bytes);
        *view = (struct record_view){0};
    }
    return rc;
}

/* A record on its way in. */
struct outgoing {
    const struct record *record;
    const char *key;
    struct checksum content;
    uint8_t head[RECORD_HEADER_SIZE + 32 * RECORD_SECTION_COUNT_MAX];
    struct object_piece piece[OBJECT_PIECE_COUNT_MAX];
    size_t piece_count;
    uint64_t size;
};

static void outgoing_init(struct outgoing *out, const char *key, const char *owner_id,
                          const struct record *record)
{
    static const uint8_t zeros[64];
    *out = (struct outgoing){.record = record, .key = key};
    out->content = record_encode_head(record, key, owner_id, out->head);
    out->piece[out->piece_count++] = (struct object_piece){out->head, record_head_size(record)};
    for (uint32_t i = 0; i < record->section_count; i++) {
        const struct record_section *section = &record->section[i];
        const size_t size = section->count * element_size(section->type);
        out->piece[out->piece_count++] = (struct object_piece){zeros, record_gap_before(record, i)};
        if (size)
            out->piece[out->piece_count++] = (struct object_piece){section->data, size};
    }
    for (size_t i = 0; i < out->piece_count; i++)
        out->size += out->piece[i].size;
}

/* All of it at once. */
static enum error_code next_pieces(void *context, uint64_t offset,
                                   struct object_piece piece[OBJECT_PIECE_COUNT_MAX], size_t *count,
                                   struct error *err)
{
    const struct outgoing *out = context;
    (void)err;
    *count = offset == 0 ? out->piece_count : 0;
    memcpy(piece, out->piece, *count * sizeof *piece);
    return ERROR_NONE;
}

static bool same_content(const struct outgoing *out, const struct record_view *stored)
{
    return stored->kind == out->record->kind && stored->version == out->record->version &&
           checksum_equal(&stored->content, &out->content);
}

static enum error_code alarm_of(const struct outgoing *out, const struct record_view *stored,
                                struct error *err)
{
    char expected[CHECKSUM_TEXT_SIZE], found[CHECKSUM_TEXT_SIZE];
    checksum_text(&stored->content, expected);
    checksum_text(&out->content, found);
    return error_set(
        err, ERROR_CORRUPT,
        "alarm: record %s was made again with other content: stored %s v%u %s (made on "
        "'%s'), now %s v%u %s (made on '%s')",
        out->key, record_kind_name(stored->kind), stored->version, expected, stored->environment,
        record_kind_name(out->record->kind), out->record->version, found, record_environment());
}

/* What stands there already: equal is success, other content is the alarm, and a damaged record of a
 * recomputable kind goes, so that the caller puts the good one (*again). */
static enum error_code meet_existing(struct store *store, const struct outgoing *out,
                                     const char *owner_id, enum store_durability durability,
                                     bool *again, struct error *err)
{
    struct stored_bytes bytes = {0};
    struct record_view stored;
    *again = true;
    enum error_code rc = get_bytes(store, out->key, &bytes, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE; /* removed since */
    if (rc != ERROR_NONE)
        return rc;
    rc = decode(&bytes, out->key, owner_id, &stored, err);
    if (rc == ERROR_CORRUPT && durability == STORE_RECOMPUTABLE) {
        rc = store->backend->delete_if_match(store->state, out->key, &bytes, err);
    } else if (rc != ERROR_NONE) {
        rc = error_context(err, rc, "damaged, and not one to be made again unasked");
    } else {
        *again = false;
        if (!same_content(out, &stored))
            rc = alarm_of(out, &stored, err);
        else if (durability == STORE_DURABLE)
            rc = store->backend->flush(store->state, out->key, err);
    }
    stored_bytes_release(&bytes);
    return rc;
}

static void note_replay(struct store *store, int *count, char first[KEY_SIZE], const char *key)
{
    (void)pthread_mutex_lock(&store->lock);
    if ((*count)++ == 0 && first)
        (void)text_copy(first, KEY_SIZE, key);
    (void)pthread_mutex_unlock(&store->lock);
}

static enum error_code replay_put(struct store *store, const struct outgoing *out,
                                  const char *owner_id, struct error *err)
{
    struct store_replay *replay = &store->replay;
    struct record_view stored;
    const enum error_code rc = store_get(store, out->key, owner_id, &stored, err);
    if (rc == ERROR_NOT_FOUND)
        note_replay(store, &replay->absent, replay->first_absent, out->key);
    else if (rc != ERROR_NONE)
        return rc;
    else if (same_content(out, &stored))
        note_replay(store, &replay->matched, NULL, out->key);
    else
        note_replay(store, &replay->differed, replay->first_difference, out->key);
    store_release_record(&stored);
    return ERROR_NONE;
}

enum error_code store_put(struct store *store, const char *key, const char *owner_id,
                          const struct record *record, enum store_durability durability,
                          struct error *err)
{
    struct outgoing out;
    bool again = true;
    enum error_code rc = check_change(store, key, err);
    if (rc != ERROR_NONE)
        return rc;
    outgoing_init(&out, key, owner_id, record);
    if (store->flags & STORE_REPLAY)
        return replay_put(store, &out, owner_id, err);
    (void)atomic_fetch_add(&store->records_written, 1);
    (void)atomic_fetch_add(&store->bytes_written, out.size);
    const struct object_body body = {.size = out.size, .next = next_pieces, .context = &out};
    for (int i = 0; again && i < PUT_ATTEMPTS; i++) {
        bool existed = false;
        rc = store->backend->put_if_absent(store->state, key, &body, durability, &existed, err);
        if (rc != ERROR_NONE || !existed)
            return rc;
        rc = meet_existing(store, &out, owner_id, durability, &again, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    return again ? error_set(err, ERROR_IO, "record %s vanishes whenever it is put", key) : rc;
}

enum error_code store_flush(struct store *store, const char *key, struct error *err)
{
    const enum error_code rc = check_change(store, key, err);
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    return store->backend->flush(store->state, key, err);
}

/* --- artifacts, lists, switches --- */

enum error_code store_has(struct store *store, const char *key, bool *found, struct error *err)
{
    const enum error_code rc = check_key(key, err);
    return rc == ERROR_NONE ? store->backend->has(store->state, key, found, err) : rc;
}

enum error_code store_remove(struct store *store, const char *key, struct error *err)
{
    const enum error_code rc = check_change(store, key, err);
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
    const enum error_code rc = *folder ? check_key(folder, err) : ERROR_NONE;
    return rc == ERROR_NONE ? store->backend->list(store->state, folder, "", visit, context, err)
                            : rc;
}

enum error_code store_scratch(struct store *store, char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = check_change(store, "scratch", err);
    return rc == ERROR_NONE ? store->backend->scratch(store->state, path, err) : rc;
}

enum error_code store_publish(struct store *store, const char *path, const char *key, bool *existed,
                              struct error *err)
{
    bool found = false;
    enum error_code rc = check_change(store, key, err);
    if (rc == ERROR_NONE && !(store->flags & STORE_REPLAY))
        rc = store->backend->publish(store->state, path, key, &found, err);
    if (existed)
        *existed = found;
    return rc;
}

enum error_code store_artifact(struct store *store, const char *key, char path[FILE_PATH_SIZE],
                               struct error *err)
{
    const enum error_code rc = check_key(key, err);
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

void store_drop_cache(struct store *store, const char *key)
{
    if (store_may_write(store) && store->backend->drop_cache && check_key(key, NULL) == ERROR_NONE)
        store->backend->drop_cache(store->state, key);
}

static enum error_code check_switch(const struct store *store, const char *key, const char *text,
                                    struct error *err)
{
    const enum error_code rc = check_change(store, key, err);
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

enum error_code store_switch_exchange(struct store *store, const char *key, const char *expected,
                                      const char *text, bool *matched, struct error *err)
{
    char old[SWITCH_LINE_SIZE], line[SWITCH_LINE_SIZE];
    enum error_code rc = check_switch(store, key, text, err);
    if (rc == ERROR_NONE && expected)
        rc = check_switch(store, key, expected, err);
    *matched = rc == ERROR_NONE;
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    if (expected)
        switch_text_encode(key, expected, old);
    switch_text_encode(key, text, line);
    return store->backend->ref_cas(store->state, key, expected ? old : NULL, line, matched, err);
}

enum error_code store_switch_get(struct store *store, const char *key, char *text, size_t size,
                                 struct error *err)
{
    char line[SWITCH_LINE_SIZE];
    enum error_code rc = check_key(key, err);
    if (rc == ERROR_NONE)
        rc = store->backend->ref_get(store->state, key, line, sizeof line, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc, "switch %s is not set", key);
    return rc == ERROR_NONE ? switch_text_decode(key, line, text, size, err) : rc;
}

enum error_code store_switch_remove(struct store *store, const char *key, struct error *err)
{
    const enum error_code rc = check_change(store, key, err);
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    return store->backend->ref_set(store->state, key, NULL, err);
}

enum error_code store_switch_list(struct store *store, store_visitor visit, void *context,
                                  struct error *err)
{
    return store->backend->ref_list(store->state, visit, context, err);
}

enum error_code store_note_put(struct store *store, const char *name, const char *text, size_t size,
                               struct error *err)
{
    const enum error_code rc = check_change(store, name, err);
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    return store->backend->note_put(store->state, name, text, size, err);
}

enum error_code store_note_get(struct store *store, const char *name, char **text, size_t *size,
                               struct error *err)
{
    const enum error_code rc = check_key(name, err);
    return rc == ERROR_NONE ? store->backend->note_get(store->state, name, text, size, err) : rc;
}

enum error_code store_note_path(const struct store *store, const char *name,
                                char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = check_key(name, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!store->backend->note_path)
        return error_set(err, ERROR_INVALID, "note %s: a store in %s has no paths", name,
                         store->backend->scheme);
    return store->backend->note_path(store->state, name, path, err);
}

struct store_traffic store_traffic(const struct store *store)
{
    return (struct store_traffic){.records_read = atomic_load(&store->records_read),
                                  .bytes_read = atomic_load(&store->bytes_read),
                                  .records_written = atomic_load(&store->records_written),
                                  .bytes_written = atomic_load(&store->bytes_written)};
}

struct store_replay store_replay_report(const struct store *store)
{
    return store->replay;
}
