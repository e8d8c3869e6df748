/*
 * The part of record handling that all backends share: records are hashed and compared, damaged
 * ones are replaced, and a replay compares instead of writing. Declared in store.h.
 */
#include "common/base/log.h"
#include "common/base/text.h"
#include "store/objects/keys.h"
#include "store/objects/store_state.h"
#include "store/objects/stored_bytes.h"

#include <string.h>

enum { PUT_ATTEMPTS = 100 };

_Static_assert(1 + 2 * RECORD_SECTION_COUNT_MAX <= OBJECT_PIECE_COUNT_MAX,
               "a record is put in one go");

void store_release_record(struct record_view *view)
{
    struct stored_bytes bytes = {.size = view->size, .mapped = view->mapped};
    memcpy(&bytes.data, &view->data,
           sizeof bytes.data); /* restores the pointer that was not const */
    stored_bytes_release(&bytes);
    *view = (struct record_view){0};
}

/* Reads one record; backends read many. */
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

/* Makes a record view from the bytes that were read under `key` with the code `rc`. The view takes
 * the bytes, or they are released. */
static enum error_code to_view(struct store *store, enum error_code rc, const char *key,
                               const char *owner_id, struct stored_bytes *bytes,
                               struct record_view *view, struct error *err)
{
    *view = (struct record_view){0};
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc, "record %s is not in the store", key);
    if (rc != ERROR_NONE)
        return rc;
    (void)atomic_fetch_add(&store->records_read, 1);
    (void)atomic_fetch_add(&store->bytes_read, bytes->size);
    rc = decode(bytes, key, owner_id, view, err);
    if (rc != ERROR_NONE) {
        stored_bytes_release(bytes);
        *view = (struct record_view){0};
    }
    *bytes = (struct stored_bytes){0};
    return rc;
}

/* Reads a damaged record again, because a byte may have changed on the way: it counts as damaged
 * only after two reads. */
static enum error_code read_again(struct store *store, const char *key, const char *owner_id,
                                  struct record_view *view, struct error *err)
{
    struct stored_bytes bytes = {0};
    enum error_code rc = get_bytes(store, key, &bytes, err);
    rc = to_view(store, rc, key, owner_id, &bytes, view, err);
    if (rc == ERROR_NONE)
        log_warn("record %s was damaged on its way here: the second read is sound", key);
    return rc;
}

enum error_code store_get(struct store *store, const char *key, const char *owner_id,
                          struct record_view *view, struct error *err)
{
    struct stored_bytes bytes = {0};
    enum error_code rc = store_check_key(key, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = get_bytes(store, key, &bytes, err);
    rc = to_view(store, rc, key, owner_id, &bytes, view, err);
    return rc == ERROR_CORRUPT ? read_again(store, key, owner_id, view, err) : rc;
}

enum error_code store_remove_damaged(struct store *store, const char *key, struct error *err)
{
    struct stored_bytes bytes = {0};
    struct record_view view;
    enum error_code rc = store_check_change(store, key, err);
    /* The backend removes it only if another read returns the same bytes. */
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY ||
        get_bytes(store, key, &bytes, NULL) != ERROR_NONE)
        return rc;
    if (decode(&bytes, key, NULL, &view, NULL) == ERROR_CORRUPT)
        rc = store->backend->delete_if_match(store->state, key, &bytes, err);
    stored_bytes_release(&bytes);
    return rc;
}

/* Reads records `first` .. first + count of a series at once, and visits them. */
static enum error_code get_some(struct store *store, const struct store_series *series,
                                size_t first, size_t count, struct error *err)
{
    struct key key[STORE_TOGETHER_MAX];
    struct object_get get[STORE_TOGETHER_MAX];
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        key[i] = series->key(series->context, first + i);
        get[i] = (struct object_get){.key = key[i].text};
        rc = store_check_key(key[i].text, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    store->backend->get_many(store->state, get, count);
    for (size_t i = 0; i < count; i++) {
        struct record_view view;
        if (rc != ERROR_NONE) {
            stored_bytes_release(&get[i].bytes);
            continue;
        }
        if (get[i].rc != ERROR_NONE && err)
            *err = get[i].err;
        rc = to_view(store, get[i].rc, get[i].key, series->owner_id, &get[i].bytes, &view, err);
        if (rc == ERROR_CORRUPT)
            rc = read_again(store, get[i].key, series->owner_id, &view, err);
        if (rc == ERROR_NONE)
            rc = series->visit(series->context, first + i, &view, err);
        store_release_record(&view);
    }
    return rc;
}

enum error_code store_get_each(struct store *store, const struct store_series *series,
                               struct error *err)
{
    const size_t together = series->together && series->together < STORE_TOGETHER_MAX
                                ? series->together
                                : STORE_TOGETHER_MAX;
    enum error_code rc = ERROR_NONE;
    for (size_t first = 0; rc == ERROR_NONE && first < series->count; first += together) {
        const size_t left = series->count - first;
        rc = get_some(store, series, first, left < together ? left : together, err);
    }
    return rc;
}

/* A record that is being put. */
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

/* Returns all pieces at once. */
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

/* Handles the record that is there already: an equal one is success, other content is the alarm,
 * and a damaged record of a recomputable kind is removed, so that the caller puts the good one
 * (*again). */
static enum error_code meet_existing(struct store *store, const struct outgoing *out,
                                     const char *owner_id, enum store_durability durability,
                                     bool *again, struct error *err)
{
    struct stored_bytes bytes = {0};
    struct record_view stored;
    *again = true;
    enum error_code rc = get_bytes(store, out->key, &bytes, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE; /* it was removed meanwhile */
    if (rc != ERROR_NONE)
        return rc;
    rc = decode(&bytes, out->key, owner_id, &stored, err);
    if (rc == ERROR_CORRUPT) { /* perhaps damaged only on the way */
        stored_bytes_release(&bytes);
        rc = get_bytes(store, out->key, &bytes, err);
        if (rc == ERROR_NONE)
            rc = decode(&bytes, out->key, owner_id, &stored, err);
        if (rc == ERROR_NOT_FOUND)
            return ERROR_NONE; /* it was removed meanwhile */
    }
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
        if (rc == ERROR_NOT_FOUND) { /* it was removed meanwhile too */
            *again = true;
            rc = ERROR_NONE;
        }
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
    enum error_code rc = store_check_change(store, key, err);
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
    const enum error_code rc = store_check_change(store, key, err);
    if (rc != ERROR_NONE || store->flags & STORE_REPLAY)
        return rc;
    return store->backend->flush(store->state, key, err);
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
