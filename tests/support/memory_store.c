#include "tests/support/memory_store.h"

#include "common/base/text.h"
#include "store/objects/keys.h"

#include "tests/support/temp_dir.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_COUNT = 16 };

enum item_kind { ITEM_RECORD, ITEM_ARTIFACT, ITEM_SWITCH };

struct item {
    enum item_kind kind;
    char key[KEY_SIZE];
    uint8_t *data; /* [size], from malloc() */
    size_t size;
    struct item *next; /* in the order of the keys' bytes */
};

struct place {
    char name[FILE_PATH_SIZE]; /* "": free */
    struct item *first;
    struct temp_dir files; /* of artifacts and scratch */
    int scratch_count;
};

static struct place places[PLACE_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over all of it */

/* --- items; with the lock --- */

static struct item **find(struct place *place, enum item_kind kind, const char *key)
{
    struct item **at = &place->first;
    while (*at && strcmp((*at)->key, key) < 0)
        at = &(*at)->next;
    while (*at && strcmp((*at)->key, key) == 0 && (*at)->kind != kind)
        at = &(*at)->next;
    return at;
}

static bool is_at(struct item *const *at, enum item_kind kind, const char *key)
{
    return *at && (*at)->kind == kind && strcmp((*at)->key, key) == 0;
}

static void drop(struct item **at)
{
    struct item *gone = *at;
    *at = gone->next;
    free(gone->data);
    free(gone);
}

static struct item *add(struct place *place, enum item_kind kind, const char *key, size_t size)
{
    struct item **at = find(place, kind, key), *item = calloc(1, sizeof *item);
    must(item != NULL);
    item->kind = kind;
    must(text_copy(item->key, KEY_SIZE, key));
    item->data = malloc(size + 1);
    must(item->data != NULL);
    item->size = size;
    item->next = *at;
    *at = item;
    return item;
}

static struct place *place_of(const char *name)
{
    for (int i = 0; i < PLACE_COUNT; i++)
        if (strcmp(places[i].name, name) == 0)
            return &places[i];
    return NULL;
}

/* --- open and close --- */

static enum error_code open_memory(const char *name, bool make, void **state, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&lock);
    struct place *place = place_of(name);
    if (!place && make) {
        place = place_of("");
        must(place != NULL && text_copy(place->name, sizeof place->name, name));
        temp_dir_make(&place->files);
    }
    if (!place)
        rc = error_set(err, ERROR_NOT_FOUND, "there is no store at %s", name);
    *state = place;
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static void close_memory(void *state)
{
    (void)state;
}

static const char *no_root(const void *state)
{
    (void)state;
    return NULL;
}

void memory_store_forget(const char *name)
{
    (void)pthread_mutex_lock(&lock);
    struct place *place = place_of(name);
    if (place) {
        while (place->first)
            drop(&place->first);
        temp_dir_remove(&place->files);
        *place = (struct place){0};
    }
    (void)pthread_mutex_unlock(&lock);
}

void memory_store_damage(const char *name, const char *key, const void *bytes, size_t size)
{
    (void)pthread_mutex_lock(&lock);
    struct place *place = place_of(name);
    must(place != NULL);
    struct item **at = find(place, ITEM_RECORD, key);
    if (is_at(at, ITEM_RECORD, key))
        drop(at);
    memcpy(add(place, ITEM_RECORD, key, size)->data, bytes, size);
    (void)pthread_mutex_unlock(&lock);
}

/* --- records --- */

static enum error_code put(void *state, const char *key, const struct store_piece *piece,
                           size_t piece_count, enum store_durability durability, bool *existed,
                           struct error *err)
{
    size_t size = 0, end = 0;
    (void)durability;
    (void)err;
    for (size_t i = 0; i < piece_count; i++)
        size += piece[i].size;
    (void)pthread_mutex_lock(&lock);
    *existed = is_at(find(state, ITEM_RECORD, key), ITEM_RECORD, key);
    if (!*existed) {
        struct item *item = add(state, ITEM_RECORD, key, size);
        for (size_t i = 0; i < piece_count; end += piece[i++].size)
            memcpy(item->data + end, piece[i].data, piece[i].size);
    }
    (void)pthread_mutex_unlock(&lock);
    return ERROR_NONE;
}

static enum error_code get(void *state, const char *key, struct stored_bytes *out,
                           struct error *err)
{
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_RECORD, key);
    const struct item *item = is_at(at, ITEM_RECORD, key) ? *at : NULL;
    enum error_code rc =
        item ? stored_bytes_new(out, item->size, err) : error_set(err, ERROR_NOT_FOUND, "%s", key);
    if (rc == ERROR_NONE && item)
        memcpy(out->data, item->data, item->size);
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static enum error_code flush(void *state, const char *key, struct error *err)
{
    (void)pthread_mutex_lock(&lock);
    const bool found = is_at(find(state, ITEM_RECORD, key), ITEM_RECORD, key);
    (void)pthread_mutex_unlock(&lock);
    return found ? ERROR_NONE : error_set(err, ERROR_NOT_FOUND, "%s", key);
}

static enum error_code discard(void *state, const char *key, const struct stored_bytes *seen,
                               struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_RECORD, key);
    if (is_at(at, ITEM_RECORD, key) && (*at)->size == seen->size &&
        memcmp((*at)->data, seen->data, seen->size) == 0)
        drop(at);
    (void)pthread_mutex_unlock(&lock);
    return ERROR_NONE;
}

/* --- artifacts: their bytes are the path --- */

static enum error_code scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    struct place *place = state;
    (void)pthread_mutex_lock(&lock);
    enum error_code rc = file_path(path, err, "%s/%d", place->files.path, place->scratch_count++);
    (void)pthread_mutex_unlock(&lock);
    return rc == ERROR_NONE ? file_make_folders(path, err) : rc;
}

static enum error_code publish(void *state, const char *path, const char *key, struct error *err)
{
    struct place *place = state;
    char target[FILE_PATH_SIZE];
    (void)pthread_mutex_lock(&lock);
    const bool existed = is_at(find(place, ITEM_ARTIFACT, key), ITEM_ARTIFACT, key);
    enum error_code rc =
        file_path(target, err, "%s/artifact-%d", place->files.path, place->scratch_count++);
    if (rc == ERROR_NONE)
        rc = existed ? file_remove_all(path, err) : file_rename(path, target, err);
    if (rc == ERROR_NONE && !existed) {
        struct item *item = add(place, ITEM_ARTIFACT, key, strlen(target) + 1);
        memcpy(item->data, target, item->size);
    }
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static enum error_code artifact(void *state, const char *key, char path[FILE_PATH_SIZE],
                                struct error *err)
{
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_ARTIFACT, key);
    const bool found = is_at(at, ITEM_ARTIFACT, key);
    if (found)
        memcpy(path, (*at)->data, (*at)->size);
    (void)pthread_mutex_unlock(&lock);
    return found ? ERROR_NONE
                 : error_set(err, ERROR_NOT_FOUND, "artifact %s is not in the store", key);
}

static enum error_code sweep(void *state, struct error *err)
{
    (void)state;
    (void)err;
    return ERROR_NONE;
}

/* --- records and artifacts --- */

static enum error_code has(void *state, const char *key, bool *found, struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&lock);
    *found = is_at(find(state, ITEM_RECORD, key), ITEM_RECORD, key) ||
             is_at(find(state, ITEM_ARTIFACT, key), ITEM_ARTIFACT, key);
    (void)pthread_mutex_unlock(&lock);
    return ERROR_NONE;
}

static enum error_code remove_key(void *state, const char *key, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_RECORD, key);
    if (is_at(at, ITEM_RECORD, key))
        drop(at);
    at = find(state, ITEM_ARTIFACT, key);
    if (is_at(at, ITEM_ARTIFACT, key)) {
        rc = file_remove_all((const char *)(*at)->data, err);
        drop(at);
    }
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

/* Visits without the lock, since a visitor may put or remove. */
static enum error_code visit_items(struct place *place, const char *prefix, bool switches,
                                   store_visitor visit, void *context, struct error *err)
{
    char last[KEY_SIZE] = "", key[KEY_SIZE] = "";
    enum item_kind kind = ITEM_RECORD;
    const size_t size = strlen(prefix);
    enum error_code rc = ERROR_NONE;
    for (bool found = true; rc == ERROR_NONE && found;) {
        found = false;
        (void)pthread_mutex_lock(&lock);
        for (const struct item *item = place->first; item && !found; item = item->next) {
            found = (item->kind == ITEM_SWITCH) == switches && strcmp(item->key, last) > 0 &&
                    (!size || (strncmp(item->key, prefix, size) == 0 && item->key[size] == '/'));
            if (found) {
                memcpy(key, item->key, sizeof key);
                kind = item->kind;
            }
        }
        (void)pthread_mutex_unlock(&lock);
        if (found)
            rc = visit(context, key, kind == ITEM_ARTIFACT, err);
        memcpy(last, key, sizeof last);
    }
    return rc;
}

static enum error_code list(void *state, const char *prefix, store_visitor visit, void *context,
                            struct error *err)
{
    return visit_items(state, prefix, false, visit, context, err);
}

/* --- switches --- */

static enum error_code switch_set(void *state, const char *key, const char *text, struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_SWITCH, key);
    if (is_at(at, ITEM_SWITCH, key))
        drop(at);
    memcpy(add(state, ITEM_SWITCH, key, strlen(text) + 1)->data, text, strlen(text) + 1);
    (void)pthread_mutex_unlock(&lock);
    return ERROR_NONE;
}

static enum error_code switch_get(void *state, const char *key, char *text, size_t size,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_SWITCH, key);
    if (!is_at(at, ITEM_SWITCH, key))
        rc = error_set(err, ERROR_NOT_FOUND, "%s", key);
    else if (!text_copy(text, size, (const char *)(*at)->data))
        rc = error_set(err, ERROR_CORRUPT, "%s: expected text of at most %zu bytes, found %zu", key,
                       size - 1, (*at)->size - 1);
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static enum error_code switch_remove(void *state, const char *key, struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_SWITCH, key);
    if (is_at(at, ITEM_SWITCH, key))
        drop(at);
    (void)pthread_mutex_unlock(&lock);
    return ERROR_NONE;
}

static enum error_code switch_list(void *state, store_visitor visit, void *context,
                                   struct error *err)
{
    return visit_items(state, "", true, visit, context, err);
}

const struct store_backend memory_backend = {
    .scheme = "memory",
    .open = open_memory,
    .close = close_memory,
    .root = no_root,
    .put = put,
    .flush = flush,
    .get = get,
    .discard = discard,
    .has = has,
    .remove = remove_key,
    .list = list,
    .scratch = scratch,
    .publish = publish,
    .artifact = artifact,
    .sweep = sweep,
    .switch_set = switch_set,
    .switch_get = switch_get,
    .switch_remove = switch_remove,
    .switch_list = switch_list,
};
