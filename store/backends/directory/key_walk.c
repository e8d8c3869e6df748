#include "store/backends/directory/key_walk.h"

#include "common/base/memory.h"
#include "store/objects/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum entry_kind { ENTRY_FOLDER, ENTRY_RECORD, ENTRY_ARTIFACT };

struct entry {
    char name[KEY_SIZE + 2]; /* the part of the key */
    enum entry_kind kind;
};

struct walk {
    const char *root;
    const char *folder; /* key of the folder with a slash at its end, or "" */
    struct entry *entry;
    size_t count, capacity;
};

enum error_code key_walk_is_artifact(const char *path, bool *found, struct error *err)
{
    enum file_kind kind = FILE_ABSENT;
    char mark[FILE_PATH_SIZE];
    enum error_code rc = file_look(path, &kind, err);
    *found = kind == FILE_PLAIN;
    if (rc != ERROR_NONE || kind != FILE_FOLDER)
        return rc;
    rc = file_path(mark, err, "%s/%s", path, KEY_WALK_ARTIFACT_MARK);
    return rc == ERROR_NONE ? file_is_there(mark, found, err) : rc;
}

static bool is_record_name(const char *name)
{
    const size_t size = strlen(name), suffix = strlen(KEY_WALK_RECORD_SUFFIX);
    return size > suffix && strcmp(name + size - suffix, KEY_WALK_RECORD_SUFFIX) == 0;
}

static enum error_code add_entry(void *context, const char *name, struct error *err)
{
    struct walk *walk = context;
    char path[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    bool is_artifact = false;
    if (name[0] == '.' || strlen(name) >= KEY_SIZE ||
        (!*walk->folder &&
         (strcmp(name, "tmp") == 0 || strcmp(name, "switch") == 0 || strcmp(name, "logs") == 0)))
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s%s", walk->root, walk->folder, name);
    if (rc == ERROR_NONE)
        rc = memory_grow(&walk->entry, &walk->capacity, walk->count + 1, "the keys of a folder",
                         err);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_FOLDER)
        rc = key_walk_is_artifact(path, &is_artifact, err);
    /* the entry was removed since the folder was read */
    if (rc != ERROR_NONE || kind == FILE_ABSENT)
        return rc;
    struct entry *entry = &walk->entry[walk->count++];
    if (kind == FILE_PLAIN && is_record_name(name)) {
        const int size = (int)(strlen(name) - strlen(KEY_WALK_RECORD_SUFFIX));
        entry->kind = ENTRY_RECORD;
        (void)snprintf(entry->name, sizeof entry->name, "%.*s", size, name);
    } else {
        entry->kind = kind == FILE_PLAIN || is_artifact ? ENTRY_ARTIFACT : ENTRY_FOLDER;
        (void)snprintf(entry->name, sizeof entry->name, "%s%s", name,
                       entry->kind == ENTRY_FOLDER ? "/" : "");
    }
    return ERROR_NONE;
}

static int entry_order(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* Returns whether `key` comes after `after`, or is a folder that may contain such a key. */
static bool is_behind(const char *key, enum entry_kind kind, const char *after)
{
    return strcmp(key, after) > 0 ||
           (kind == ENTRY_FOLDER && strncmp(after, key, strlen(key)) == 0);
}

static enum error_code walk_folder(const char *root, const char *folder, const char *after,
                                   store_visitor visit, void *context, struct error *err)
{
    struct walk walk = {.root = root, .folder = folder};
    char path[FILE_PATH_SIZE], key[FILE_PATH_SIZE];
    enum error_code rc = file_path(path, err, "%s/%s", root, folder);
    if (rc == ERROR_NONE)
        rc = file_list(path, add_entry, &walk, err);
    if (rc == ERROR_NOT_FOUND)
        rc = ERROR_NONE;
    if (rc == ERROR_NONE && walk.count > 1)
        qsort(walk.entry, walk.count, sizeof *walk.entry, entry_order);
    for (size_t i = 0; rc == ERROR_NONE && i < walk.count; i++) {
        rc = file_path(key, err, "%s%s", folder, walk.entry[i].name);
        if (rc != ERROR_NONE || !is_behind(key, walk.entry[i].kind, after))
            continue;
        if (walk.entry[i].kind == ENTRY_FOLDER)
            rc = walk_folder(root, key, after, visit, context, err);
        else
            rc = visit(context, key, walk.entry[i].kind == ENTRY_ARTIFACT, err);
    }
    memory_free(walk.entry);
    return rc;
}

enum error_code key_walk(const char *root, const char *prefix, const char *after,
                         store_visitor visit, void *context, struct error *err)
{
    char path[FILE_PATH_SIZE], folder[FILE_PATH_SIZE];
    bool is_artifact = false;
    enum error_code rc = file_path(path, err, "%s/%s", root, prefix);
    if (rc == ERROR_NONE)
        rc = file_path(folder, err, "%s%s", prefix, *prefix ? "/" : "");
    if (rc == ERROR_NONE && *prefix)
        rc = key_walk_is_artifact(path, &is_artifact, err);
    if (rc != ERROR_NONE || is_artifact)
        return rc;
    return walk_folder(root, folder, after, visit, context, err);
}
