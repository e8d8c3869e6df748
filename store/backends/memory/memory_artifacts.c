#include "store/backends/memory/memory_artifacts.h"

#include "common/base/text.h"

#include <stdlib.h>
#include <string.h>

enum error_code memory_artifact_scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    struct memory_place *place = state;
    const char *base = getenv("TMPDIR");
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&memory_store_lock);
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
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc == ERROR_NONE ? file_make_folders(path, err) : rc;
}

/* An artifact that is being put: its files, and last an item without a name, which is the artifact
 * itself. */
struct arrival {
    struct memory_place *place;
    const char *path, *key;
};

static enum error_code take_file(struct arrival *a, const char *path, const char *file,
                                 struct error *err)
{
    uint64_t size = 0;
    size_t got = 0;
    enum error_code rc = file_size(path, &size, err);
    if (rc == ERROR_NONE && strlen(file) >= MEMORY_FILE_NAME_SIZE)
        rc = error_set(err, ERROR_INVALID, "artifact %s: the name %s is too long", a->key, file);
    if (rc != ERROR_NONE)
        return rc;
    uint8_t *data = malloc((size_t)size + 1);
    if (!data)
        return memory_item_no_memory(a->key, err);
    rc = file_read_range(path, 0, data, (size_t)size, &got, err);
    if (rc == ERROR_NONE)
        rc = memory_item_put(a->place, ITEM_FILE, a->key, file, data, got, err);
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

void memory_artifact_drop(struct memory_place *place, const char *key)
{
    struct memory_item **at = memory_item_find(place, ITEM_ARTIFACT, key);
    if (at)
        memory_item_drop(at);
    bool found = false;
    at = memory_item_find_file(place, ITEM_FILE, key, "", &found);
    while (*at && (*at)->kind == ITEM_FILE && strcmp((*at)->key, key) == 0)
        memory_item_drop(at);
}

static enum error_code take_artifact(struct arrival *a, struct error *err)
{
    enum file_kind kind = FILE_ABSENT;
    enum error_code rc = file_look(a->path, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_ABSENT)
        rc = error_set(err, ERROR_IO, "%s was removed before it was published", a->path);
    if (rc == ERROR_NONE)
        rc = kind == FILE_FOLDER ? file_list(a->path, take_entry, a, err)
                                 : take_file(a, a->path, "", err);
    if (rc == ERROR_NONE)
        rc = memory_item_put_copy(a->place, ITEM_ARTIFACT, a->key, "", 0, err);
    if (rc != ERROR_NONE)
        memory_artifact_drop(a->place, a->key);
    return rc;
}

enum error_code memory_artifact_publish(void *state, const char *path, const char *key,
                                        bool *existed, struct error *err)
{
    struct arrival arrival = {state, path, key};
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&memory_store_lock);
    *existed = memory_item_find(state, ITEM_ARTIFACT, key) != NULL;
    if (!*existed)
        rc = take_artifact(&arrival, err);
    (void)pthread_mutex_unlock(&memory_store_lock);
    return rc == ERROR_NONE ? file_remove_all(path, err) : rc;
}

static enum error_code no_artifact(const char *key, struct error *err)
{
    return error_set(err, ERROR_NOT_FOUND, "artifact %s is not in the store", key);
}

/* Finds the file of an artifact after `last`. Returns false if there are no more. */
static bool next_file(struct memory_place *place, const char *key, const char *last, bool is_first,
                      char file[MEMORY_FILE_NAME_SIZE], uint64_t *size)
{
    bool found = false;
    struct memory_item **at = memory_item_find_file(place, ITEM_FILE, key, last, &found);
    if (found && !is_first)
        at = &(*at)->next;
    if (!*at || (*at)->kind != ITEM_FILE || strcmp((*at)->key, key) != 0)
        return false;
    memcpy(file, (*at)->file, MEMORY_FILE_NAME_SIZE);
    *size = (*at)->size;
    return true;
}

/* Visits the files without holding the lock, since a visitor may read. */
enum error_code memory_artifact_files(void *state, const char *key, object_file_visitor visit,
                                      void *context, struct error *err)
{
    char file[MEMORY_FILE_NAME_SIZE] = "";
    uint64_t size = 0;
    (void)pthread_mutex_lock(&memory_store_lock);
    const bool found = memory_item_find(state, ITEM_ARTIFACT, key) != NULL;
    (void)pthread_mutex_unlock(&memory_store_lock);
    enum error_code rc = found ? ERROR_NONE : no_artifact(key, err);
    for (bool is_first = true; rc == ERROR_NONE; is_first = false) {
        (void)pthread_mutex_lock(&memory_store_lock);
        const bool more = next_file(state, key, file, is_first, file, &size);
        (void)pthread_mutex_unlock(&memory_store_lock);
        if (!more)
            break;
        rc = visit(context, file, size, err);
    }
    return rc;
}

enum error_code memory_artifact_read(void *state, const char *key, const char *file,
                                     uint64_t offset, void *buffer, size_t size, size_t *got,
                                     struct error *err)
{
    bool found = false;
    (void)pthread_mutex_lock(&memory_store_lock);
    struct memory_item **at = memory_item_find_file(state, ITEM_FILE, key, file, &found);
    *got = 0;
    if (found && offset < (*at)->size) {
        *got = (*at)->size - (size_t)offset < size ? (*at)->size - (size_t)offset : size;
        memcpy(buffer, (*at)->data + offset, *got);
    }
    (void)pthread_mutex_unlock(&memory_store_lock);
    return found ? ERROR_NONE : no_artifact(key, err);
}
