#include "store/backends/memory_backend.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/objects/keys.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PLACE_COUNT = 16, FILE_NAME_SIZE = 128 };

/* In the order in which a key's items are listed. */
enum item_kind { ITEM_RECORD, ITEM_ARTIFACT, ITEM_FILE, ITEM_REF, ITEM_NOTE };

struct item {
    enum item_kind kind;
    char key[KEY_SIZE];
    char file[FILE_NAME_SIZE]; /* of an artifact */
    uint8_t *data;             /* [size] */
    size_t size;
    struct item *next; /* in the order of keys, kinds and files */
};

struct place {
    char name[FILE_PATH_SIZE]; /* "": free */
    struct item *first;
    char scratch[FILE_PATH_SIZE]; /* "": none yet */
    int scratch_count;
};

static struct place places[PLACE_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over all of it */

/* --- items; with the lock --- */

static int item_order(const struct item *item, enum item_kind kind, const char *key,
                      const char *file)
{
    const int by_key = strcmp(item->key, key);
    if (by_key)
        return by_key;
    return item->kind != kind ? (int)item->kind - (int)kind : strcmp(item->file, file);
}

/* Where the item is, or would be put. */
static struct item **find_file(struct place *place, enum item_kind kind, const char *key,
                               const char *file, bool *found)
{
    struct item **at = &place->first;
    while (*at && item_order(*at, kind, key, file) < 0)
        at = &(*at)->next;
    *found = *at && item_order(*at, kind, key, file) == 0;
    return at;
}

/* NULL: there is none. */
static struct item **find(struct place *place, enum item_kind kind, const char *key)
{
    bool found = false;
    struct item **at = find_file(place, kind, key, "", &found);
    return found ? at : NULL;
}

static void drop(struct item **at)
{
    struct item *gone = *at;
    *at = gone->next;
    free(gone->data);
    free(gone);
}

static enum error_code no_memory(const char *key, struct error *err)
{
    return error_set(err, ERROR_NO_MEMORY, "no memory to hold %s", key);
}

/* In the place of what was there. Its bytes are given by the caller, who still has them after a failure. */
static enum error_code put_item(struct place *place, enum item_kind kind, const char *key,
                                const char *file, uint8_t *data, size_t size, struct error *err)
{
    bool found = false;
    struct item **at = find_file(place, kind, key, file, &found), *item = calloc(1, sizeof *item);
    if (!item)
        return no_memory(key, err);
    if (found)
        drop(at);
    item->kind = kind;
    item->data = data;
    item->size = size;
    item->next = *at;
    must(text_copy(item->key, KEY_SIZE, key) && text_copy(item->file, FILE_NAME_SIZE, file));
    *at = item;
    return ERROR_NONE;
}

static enum error_code put_copy(struct place *place, enum item_kind kind, const char *key,
                                const void *bytes, size_t size, struct error *err)
{
    uint8_t *data = malloc(size + 1);
    if (!data)
        return no_memory(key, err);
    if (size)
        memcpy(data, bytes, size);
    const enum error_code rc = put_item(place, kind, key, "", data, size, err);
    if (rc != ERROR_NONE)
        free(data);
    return rc; /* else the item has it. NOLINT(clang-analyzer-unix.Malloc) */
}

/* --- open and close --- */

static struct place *place_of(const char *name)
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
    (void)pthread_mutex_lock(&lock);
    struct place *place = place_of(name);
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
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

/* What was put stays. */
static void close_memory(void *state)
{
    (void)state;
}

static unsigned capabilities_of(const void *state)
{
    (void)state;
    return STORE_HAS_CHEAP_RECORDS;
}

static const char *no_folder(const void *state)
{
    (void)state;
    return NULL;
}

void memory_store_forget(const char *name)
{
    (void)pthread_mutex_lock(&lock);
    struct place *place = place_of(name);
    if (place && *name) {
        while (place->first)
            drop(&place->first);
        if (*place->scratch && file_remove_all(place->scratch, NULL) != ERROR_NONE) {
            /* what is left in a folder for temporary files goes with it */
        }
        *place = (struct place){0};
    }
    (void)pthread_mutex_unlock(&lock);
}

void memory_store_damage(const char *name, const char *key, const void *bytes, size_t size)
{
    (void)pthread_mutex_lock(&lock);
    struct place *place = place_of(name);
    must(place && put_copy(place, ITEM_RECORD, key, bytes, size, NULL) == ERROR_NONE);
    (void)pthread_mutex_unlock(&lock);
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
        return no_memory(key, err);
    enum error_code rc = gather(body, data, err);
    (void)pthread_mutex_lock(&lock);
    *existed = find(state, ITEM_RECORD, key) != NULL;
    const bool puts = rc == ERROR_NONE && !*existed;
    if (puts)
        rc = put_item(state, ITEM_RECORD, key, "", data, (size_t)body->size, err);
    (void)pthread_mutex_unlock(&lock);
    if (!puts || rc != ERROR_NONE)
        free(data);
    return rc; /* else the item has it. NOLINT(clang-analyzer-unix.Malloc) */
}

static enum error_code get_record(struct place *place, const char *key, struct stored_bytes *out,
                                  struct error *err)
{
    struct item **at = find(place, ITEM_RECORD, key);
    const struct item *item = at ? *at : NULL;
    if (!item)
        return error_set(err, ERROR_NOT_FOUND, "%s", key);
    const enum error_code rc = stored_bytes_new(out, item->size, err);
    if (rc == ERROR_NONE && item->size)
        memcpy(out->data, item->data, item->size);
    return rc;
}

static void get_records(void *state, struct object_get *get, size_t count)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        get[i].rc = get_record(state, get[i].key, &get[i].bytes, &get[i].err);
    (void)pthread_mutex_unlock(&lock);
}

static enum error_code flush_record(void *state, const char *key, struct error *err)
{
    (void)pthread_mutex_lock(&lock);
    const bool found = find(state, ITEM_RECORD, key) != NULL;
    (void)pthread_mutex_unlock(&lock);
    return found ? ERROR_NONE : error_set(err, ERROR_NOT_FOUND, "%s", key);
}

static enum error_code discard_record(void *state, const char *key, const struct stored_bytes *seen,
                                      struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_RECORD, key);
    if (at && (*at)->size == seen->size && memcmp((*at)->data, seen->data, seen->size) == 0)
        drop(at);
    (void)pthread_mutex_unlock(&lock);
    return ERROR_NONE;
}

/* --- artifacts --- */

static enum error_code make_scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    struct place *place = state;
    const char *base = getenv("TMPDIR");
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&lock);
    if (!*place->scratch) {
        rc = file_path(place->scratch, err, "%s/graphmill-memory-XXXXXX",
                       base && *base ? base : "/tmp");
        if (rc == ERROR_NONE && !mkdtemp(place->scratch))
            rc = error_set_errno(err, ERROR_IO, "%s cannot be made", place->scratch);
        if (rc != ERROR_NONE)
            place->scratch[0] = '\0';
    }
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/%d", place->scratch, place->scratch_count++);
    (void)pthread_mutex_unlock(&lock);
    return rc == ERROR_NONE ? file_make_folders(path, err) : rc;
}

/* Files on their way in; the last of them, without a name, is the artifact itself. */
struct arrival {
    struct place *place;
    const char *path, *key;
};

static enum error_code take_file(struct arrival *a, const char *path, const char *file,
                                 struct error *err)
{
    uint64_t size = 0;
    size_t got = 0;
    enum error_code rc = file_size(path, &size, err);
    if (rc == ERROR_NONE && strlen(file) >= FILE_NAME_SIZE)
        rc = error_set(err, ERROR_INVALID, "artifact %s: the name %s is too long", a->key, file);
    if (rc != ERROR_NONE)
        return rc;
    uint8_t *data = malloc((size_t)size + 1);
    if (!data)
        return no_memory(a->key, err);
    rc = file_read_range(path, 0, data, (size_t)size, &got, err);
    if (rc == ERROR_NONE)
        rc = put_item(a->place, ITEM_FILE, a->key, file, data, got, err);
    if (rc != ERROR_NONE)
        free(data);
    return rc;
}

static enum error_code take_entry(void *context, const char *name, struct error *err)
{
    struct arrival *a = context;
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", a->path, name);
    return rc == ERROR_NONE ? take_file(a, path, name, err) : rc;
}

static void drop_artifact(struct place *place, const char *key)
{
    struct item **at = find(place, ITEM_ARTIFACT, key);
    if (at)
        drop(at);
    bool found = false;
    at = find_file(place, ITEM_FILE, key, "", &found);
    while (*at && (*at)->kind == ITEM_FILE && strcmp((*at)->key, key) == 0)
        drop(at);
}

static enum error_code take_artifact(struct arrival *a, struct error *err)
{
    enum file_kind kind = FILE_ABSENT;
    enum error_code rc = file_look(a->path, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_ABSENT)
        rc = error_set(err, ERROR_IO, "%s was taken away before it was published", a->path);
    if (rc == ERROR_NONE)
        rc = kind == FILE_FOLDER ? file_list(a->path, take_entry, a, err)
                                 : take_file(a, a->path, "", err);
    if (rc == ERROR_NONE)
        rc = put_copy(a->place, ITEM_ARTIFACT, a->key, "", 0, err);
    if (rc != ERROR_NONE)
        drop_artifact(a->place, a->key);
    return rc;
}

static enum error_code publish(void *state, const char *path, const char *key, bool *existed,
                               struct error *err)
{
    struct arrival arrival = {state, path, key};
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&lock);
    *existed = find(state, ITEM_ARTIFACT, key) != NULL;
    if (!*existed)
        rc = take_artifact(&arrival, err);
    (void)pthread_mutex_unlock(&lock);
    return rc == ERROR_NONE ? file_remove_all(path, err) : rc;
}

static enum error_code no_artifact(const char *key, struct error *err)
{
    return error_set(err, ERROR_NOT_FOUND, "artifact %s is not in the store", key);
}

/* The file of an artifact behind `last`; false: there are no more. */
static bool next_file(struct place *place, const char *key, const char *last, bool is_first,
                      char file[FILE_NAME_SIZE], uint64_t *size)
{
    bool found = false;
    struct item **at = find_file(place, ITEM_FILE, key, last, &found);
    if (found && !is_first)
        at = &(*at)->next;
    if (!*at || (*at)->kind != ITEM_FILE || strcmp((*at)->key, key) != 0)
        return false;
    memcpy(file, (*at)->file, FILE_NAME_SIZE);
    *size = (*at)->size;
    return true;
}

/* Visits without the lock, since a visitor may read. */
static enum error_code visit_files(void *state, const char *key, object_file_visitor visit,
                                   void *context, struct error *err)
{
    char file[FILE_NAME_SIZE] = "";
    uint64_t size = 0;
    (void)pthread_mutex_lock(&lock);
    const bool found = find(state, ITEM_ARTIFACT, key) != NULL;
    (void)pthread_mutex_unlock(&lock);
    enum error_code rc = found ? ERROR_NONE : no_artifact(key, err);
    for (bool is_first = true; rc == ERROR_NONE; is_first = false) {
        (void)pthread_mutex_lock(&lock);
        const bool more = next_file(state, key, file, is_first, file, &size);
        (void)pthread_mutex_unlock(&lock);
        if (!more)
            break;
        rc = visit(context, file, size, err);
    }
    return rc;
}

static enum error_code read_range(void *state, const char *key, const char *file, uint64_t offset,
                                  void *buffer, size_t size, size_t *got, struct error *err)
{
    bool found = false;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find_file(state, ITEM_FILE, key, file, &found);
    *got = 0;
    if (found && offset < (*at)->size) {
        *got = (*at)->size - (size_t)offset < size ? (*at)->size - (size_t)offset : size;
        memcpy(buffer, (*at)->data + offset, *got);
    }
    (void)pthread_mutex_unlock(&lock);
    return found ? ERROR_NONE : no_artifact(key, err);
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
    (void)pthread_mutex_lock(&lock);
    *found = find(state, ITEM_RECORD, key) || find(state, ITEM_ARTIFACT, key);
    (void)pthread_mutex_unlock(&lock);
    return ERROR_NONE;
}

static enum error_code remove_key(void *state, const char *key, struct error *err)
{
    (void)err;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_RECORD, key);
    if (at)
        drop(at);
    drop_artifact(state, key);
    (void)pthread_mutex_unlock(&lock);
    return ERROR_NONE;
}

static bool is_below(const char *key, const char *prefix)
{
    const size_t size = strlen(prefix);
    return !size || (strncmp(key, prefix, size) == 0 && key[size] == '/');
}

/* Visits without the lock, since a visitor may put or remove. */
static enum error_code visit_items(struct place *place, const char *prefix, const char *after,
                                   bool refs, store_visitor visit, void *context, struct error *err)
{
    char key[KEY_SIZE];
    int kind = ITEM_NOTE; /* behind all that is listed of the key `after` */
    enum error_code rc = ERROR_NONE;
    must(text_copy(key, sizeof key, after));
    for (bool found = true; rc == ERROR_NONE && found;) {
        found = false;
        (void)pthread_mutex_lock(&lock);
        for (const struct item *item = place->first; item && !found; item = item->next) {
            const int order = strcmp(item->key, key);
            found = (refs ? item->kind == ITEM_REF : item->kind <= ITEM_ARTIFACT) &&
                    (order > 0 || (order == 0 && (int)item->kind > kind)) &&
                    is_below(item->key, prefix);
            if (found) {
                memcpy(key, item->key, sizeof key);
                kind = (int)item->kind;
            }
        }
        (void)pthread_mutex_unlock(&lock);
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

static enum error_code put_ref(struct place *place, const char *name, const char *text,
                               struct error *err)
{
    if (text)
        return put_copy(place, ITEM_REF, name, text, strlen(text) + 1, err);
    struct item **at = find(place, ITEM_REF, name);
    if (at)
        drop(at);
    return ERROR_NONE;
}

static enum error_code get_ref(void *state, const char *name, char *text, size_t size,
                               struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_REF, name);
    if (!at)
        rc = error_set(err, ERROR_NOT_FOUND, "%s", name);
    else if (!text_copy(text, size, (const char *)(*at)->data))
        rc = error_set(err, ERROR_CORRUPT, "%s: expected text of at most %zu bytes, found %zu",
                       name, size - 1, (*at)->size - 1);
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static enum error_code set_ref(void *state, const char *name, const char *text, struct error *err)
{
    (void)pthread_mutex_lock(&lock);
    const enum error_code rc = put_ref(state, name, text, err);
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static enum error_code exchange_ref(void *state, const char *name, const char *expected,
                                    const char *text, bool *matched, struct error *err)
{
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_REF, name);
    *matched = at && expected ? strcmp((const char *)(*at)->data, expected) == 0 : !at && !expected;
    const enum error_code rc = *matched ? put_ref(state, name, text, err) : ERROR_NONE;
    (void)pthread_mutex_unlock(&lock);
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
    (void)pthread_mutex_lock(&lock);
    const enum error_code rc = put_copy(state, ITEM_NOTE, name, text, size, err);
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static enum error_code get_note(void *state, const char *name, char **text, size_t *size,
                                struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&lock);
    struct item **at = find(state, ITEM_NOTE, name);
    if (!at)
        rc = error_set(err, ERROR_NOT_FOUND, "%s", name);
    else
        rc = memory_new(text, (*at)->size + 1, "a note", err);
    if (rc == ERROR_NONE && at) {
        *size = (*at)->size;
        if (*size)
            memcpy(*text, (*at)->data, *size);
    }
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

const struct object_backend memory_backend = {
    .scheme = "memory",
    .open = open_memory,
    .close = close_memory,
    .capabilities = capabilities_of,
    .folder = no_folder,
    .put_if_absent = put_record,
    .flush = flush_record,
    .get_many = get_records,
    .delete_if_match = discard_record,
    .scratch = make_scratch,
    .publish = publish,
    .files = visit_files,
    .get_range = read_range,
    .sweep = sweep,
    .has = has_key,
    .remove = remove_key,
    .list = list_keys,
    .ref_get = get_ref,
    .ref_set = set_ref,
    .ref_cas = exchange_ref,
    .ref_list = list_refs,
    .note_put = put_note,
    .note_get = get_note,
};
