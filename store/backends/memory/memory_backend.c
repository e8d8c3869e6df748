#include "store/backends/memory/memory_backend.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/memory/memory_artifacts.h"
#include "store/backends/memory/memory_items.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_COUNT = 16 };

static struct memory_place places[PLACE_COUNT]; /* guarded by memory_store_lock */

/* --- open and close --- */

static struct memory_place *place_of(const char *name)
{
    for (int i = 0; i < PLACE_COUNT; i++)
        if (strcmp(places[i].name, name) == 0)
            return &places[i];
    return NULL;
}

static enum error_code open_memory(const char *name, const struct object_options *options,
                                   void **state, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_place *place = place_of(name);
    if (!place && options->make) {
        place = place_of("");
        if (!place)
            rc = error_set(err, ERROR_NO_MEMORY, "memory:%s: there are %d places already", name,
                           PLACE_COUNT);
        else if (!text_copy(place->name, sizeof place->name, name))
            rc = error_set(err, ERROR_INVALID, "memory:%.60s...: the name is too long", name);
    } else if (!place) {
        rc = error_set(err, ERROR_NOT_FOUND, "there is no store at memory:%s", name);
    }
    *state = place;
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc;
}

/* Does nothing: the content stays. */
static void close_memory(void *state)
{
    (void)state;
}

static unsigned capabilities_of(const void *state)
{
    (void)state;
    return STORE_HAS_CHEAP_RECORDS;
}

static enum error_code locate(const char *place, struct store_location *out, struct error *err)
{
    (void)place;
    (void)err;
    out->is_shared = false;
    return ERROR_NONE;
}

static const char *no_folder(const void *state)
{
    (void)state;
    return NULL;
}

void memory_store_forget(const char *name)
{
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_place *place = place_of(name);
    if (place && *name) {
        while (place->first)
            memory_item_drop(&place->first);
        if (*place->scratch && file_remove_all(place->scratch, NULL) != ERROR_NONE) {
            /* the failure is ignored: a scratch folder is left in the folder for temporary files */
        }
        *place = (struct memory_place){0};
    }
    (void)pthread_mutex_unlock(&memory_store_lock);
}

void memory_store_damage(const char *name, const char *key, const void *bytes, size_t size)
{
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_place *place = place_of(name);
    must(place && memory_item_put_copy(place, ITEM_RECORD, key, bytes, size, NULL) == ERROR_NONE);
    (void)pthread_mutex_unlock(&memory_store_lock);
}

/* --- records --- */

static enum error_code gather(const struct object_body *body, uint8_t *to, struct error *err)
{
    struct object_piece piece[OBJECT_PIECE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    uint64_t offset = 0;
    for (size_t count = 1; rc == ERROR_NONE && count;) {
        rc = body->next(body->context, offset, piece, &count, err);
        for (size_t i = 0; rc == ERROR_NONE && i < count; offset += piece[i++].size)
            if (piece[i].size)
                memcpy(to + offset, piece[i].data, piece[i].size);
    }
    must(rc != ERROR_NONE || offset == body->size);
    return rc;
}

static enum error_code put_record(void *state, const char *key, const struct object_body *body,
                                  enum store_durability durability, bool *existed,
                                  struct error *err)
{
    uint8_t *data = malloc((size_t)body->size + 1);
    (void)durability;
    if (!data)
        return memory_item_no_memory(key, err);
    enum error_code rc = gather(body, data, err);
    (void)pthread_mutex_lock(&memory_store_lock);
    *existed = memory_item_find(state, ITEM_RECORD, key) != NULL;
    const bool puts = rc == ERROR_NONE && !*existed;
    if (puts)
        rc = memory_item_put(state, ITEM_RECORD, key, "", data, (size_t)body->size, err);
    (void)pthread_mutex_unlock(&memory_store_lock);
    if (!puts || rc != ERROR_NONE)
        free(data);
    return rc; /* on success the item owns it. NOLINT(clang-analyzer-unix.Malloc) */
}

static enum error_code get_record(struct memory_place *place, const char *key,
                                  struct stored_bytes *out, struct error *err)
{
    struct memory_item **at = memory_item_find(place, ITEM_RECORD, key);
    const struct memory_item *item = at ? *at : NULL;
    if (!item)
        return error_set(err, ERROR_NOT_FOUND, "%s", key);
    const enum error_code rc = stored_bytes_new(out, item->size, err);
    if (rc == ERROR_NONE && item->size)
        memcpy(out->data, item->data, item->size);
    return rc;
}

static void get_records(void *state, struct object_get *get, size_t count)
{
    (void)pthread_mutex_lock(&memory_store_lock);
    for (size_t i = 0; i < count; i++)
        get[i].rc = get_record(state, get[i].key, &get[i].bytes, &get[i].err);
    (void)pthread_mutex_unlock(&memory_store_lock);
}

static enum error_code flush_record(void *state, const char *key, struct error *err)
{
    (void)pthread_mutex_lock(&memory_store_lock);
    const bool found = memory_item_find(state, ITEM_RECORD, key) != NULL;
    (void)pthread_mutex_unlock(&memory_store_lock);
    return found ? ERROR_NONE : error_set(err, ERROR_NOT_FOUND, "%s", key);
}

static enum error_code discard_record(void *state, const char *key, const struct stored_bytes *seen,
                                      struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_item **at = memory_item_find(state, ITEM_RECORD, key);
    if (at && (*at)->size == seen->size && memcmp((*at)->data, seen->data, seen->size) == 0)
        memory_item_drop(at);
    (void)pthread_mutex_unlock(&memory_store_lock);
    return ERROR_NONE;
}

static enum error_code sweep(void *state, struct error *err)
{
    (void)state;
    (void)err;
    return ERROR_NONE;
}

/* --- records and artifacts --- */

static enum error_code has_key(void *state, const char *key, bool *found, struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&memory_store_lock);
    *found =
        memory_item_find(state, ITEM_RECORD, key) || memory_item_find(state, ITEM_ARTIFACT, key);
    (void)pthread_mutex_unlock(&memory_store_lock);
    return ERROR_NONE;
}

static enum error_code age_of(void *state, const char *key, bool is_ref, int64_t *seconds,
                              struct error *err)
{
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_item **at = memory_item_find(state, is_ref ? ITEM_REF : ITEM_RECORD, key);
    if (!at && !is_ref)
        at = memory_item_find(state, ITEM_ARTIFACT, key);
    *seconds = at ? (clock_ms() - (*at)->put_ms) / 1000 : 0;
    const enum error_code rc = at ? ERROR_NONE : error_set(err, ERROR_NOT_FOUND, "%s", key);
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc;
}

static enum error_code remove_key(void *state, const char *key, struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_item **at = memory_item_find(state, ITEM_RECORD, key);
    if (at)
        memory_item_drop(at);
    memory_artifact_drop(state, key);
    (void)pthread_mutex_unlock(&memory_store_lock);
    return ERROR_NONE;
}

static bool is_below(const char *key, const char *prefix)
{
    const size_t size = strlen(prefix);
    return !size || (strncmp(key, prefix, size) == 0 && key[size] == '/');
}

/* Visits the items without holding the lock, since a visitor may put or remove. */
static enum error_code visit_items(struct memory_place *place, const char *prefix,
                                   const char *after, bool refs, store_visitor visit, void *context,
                                   struct error *err)
{
    char key[KEY_SIZE];
    int kind = ITEM_NOTE; /* after all items of the key `after` that are listed */
    enum error_code rc = ERROR_NONE;
    must(text_copy(key, sizeof key, after));
    for (bool found = true; rc == ERROR_NONE && found;) {
        found = false;
        (void)pthread_mutex_lock(&memory_store_lock);
        for (const struct memory_item *item = place->first; item && !found; item = item->next) {
            const int order = strcmp(item->key, key);
            found = (refs ? item->kind == ITEM_REF : item->kind <= ITEM_ARTIFACT) &&
                    (order > 0 || (order == 0 && (int)item->kind > kind)) &&
                    is_below(item->key, prefix);
            if (found) {
                memcpy(key, item->key, sizeof key);
                kind = (int)item->kind;
            }
        }
        (void)pthread_mutex_unlock(&memory_store_lock);
        if (found)
            rc = visit(context, key, kind == ITEM_ARTIFACT, err);
    }
    return rc;
}

static enum error_code list_keys(void *state, const char *prefix, const char *after,
                                 store_visitor visit, void *context, struct error *err)
{
    return visit_items(state, prefix, after, false, visit, context, err);
}

/* --- refs --- */

static enum error_code put_ref(struct memory_place *place, const char *name, const char *text,
                               struct error *err)
{
    if (text)
        return memory_item_put_copy(place, ITEM_REF, name, text, strlen(text) + 1, err);
    struct memory_item **at = memory_item_find(place, ITEM_REF, name);
    if (at)
        memory_item_drop(at);
    return ERROR_NONE;
}

static enum error_code get_ref(void *state, const char *name, char *text, size_t size,
                               struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_item **at = memory_item_find(state, ITEM_REF, name);
    if (!at)
        rc = error_set(err, ERROR_NOT_FOUND, "%s", name);
    else if (!text_copy(text, size, (const char *)(*at)->data))
        rc = error_set(err, ERROR_CORRUPT, "%s: expected text of at most %zu bytes, found %zu",
                       name, size - 1, (*at)->size - 1);
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc;
}

static enum error_code set_ref(void *state, const char *name, const char *text, struct error *err)
{
    (void)pthread_mutex_lock(&memory_store_lock);
    const enum error_code rc = put_ref(state, name, text, err);
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc;
}

static enum error_code exchange_ref(void *state, const char *name, const char *expected,
                                    const char *text, bool *matched, struct error *err)
{
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_item **at = memory_item_find(state, ITEM_REF, name);
    *matched = at && expected ? strcmp((const char *)(*at)->data, expected) == 0 : !at && !expected;
    const enum error_code rc = *matched ? put_ref(state, name, text, err) : ERROR_NONE;
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc;
}

static enum error_code list_refs(void *state, store_visitor visit, void *context, struct error *err)
{
    return visit_items(state, "", "", true, visit, context, err);
}

/* --- notes --- */

static enum error_code put_note(void *state, const char *name, const char *text, size_t size,
                                struct error *err)
{
    (void)pthread_mutex_lock(&memory_store_lock);
    const enum error_code rc = memory_item_put_copy(state, ITEM_NOTE, name, text, size, err);
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc;
}

static enum error_code get_note(void *state, const char *name, char **text, size_t *size,
                                struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_item **at = memory_item_find(state, ITEM_NOTE, name);
    if (!at)
        rc = error_set(err, ERROR_NOT_FOUND, "%s", name);
    else
        rc = memory_new(text, (*at)->size + 1, "a note", err);
    if (rc == ERROR_NONE && at) {
        *size = (*at)->size;
        if (*size)
            memcpy(*text, (*at)->data, *size);
    }
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc;
}

const struct object_backend memory_backend = {
    .scheme = "memory",
    .open = open_memory,
    .close = close_memory,
    .capabilities = capabilities_of,
    .locate = locate,
    .folder = no_folder,
    .put_if_absent = put_record,
    .flush = flush_record,
    .get_many = get_records,
    .delete_if_match = discard_record,
    .scratch = memory_artifact_scratch,
    .publish = memory_artifact_publish,
    .files = memory_artifact_files,
    .get_range = memory_artifact_read,
    .sweep = sweep,
    .has = has_key,
    .remove = remove_key,
    .list = list_keys,
    .age = age_of,
    .ref_get = get_ref,
    .ref_set = set_ref,
    .ref_cas = exchange_ref,
    .ref_list = list_refs,
    .note_put = put_note,
    .note_get = get_note,
};
