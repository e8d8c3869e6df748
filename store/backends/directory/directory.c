#include "store/backends/directory/directory.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/backends/directory/directory_files.h"
#include "store/backends/directory/directory_refs.h"
#include "store/backends/directory/file_system.h"
#include "store/backends/directory/key_walk.h"
#include "store/backends/directory/spare_file.h"
#include "store/backends/directory/written_file.h"
#include "store/backends/scratch_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- open and names --- */

static enum error_code open_directory(const char *place, const struct object_options *options,
                                      void **state, struct error *err)
{
    struct directory *directory = NULL;
    char tmp[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    enum error_code rc = file_look(place, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_ABSENT)
        rc = options->make ? file_make_folders(place, err)
                           : error_set(err, ERROR_NOT_FOUND, "there is no store at %s", place);
    if (rc == ERROR_NONE && kind == FILE_PLAIN)
        rc = error_set(err, ERROR_INVALID, "store %s is not a folder", place);
    if (rc == ERROR_NONE)
        rc = memory_new(&directory, 1, "a store", err);
    if (rc == ERROR_NONE)
        rc = file_path(directory->root, err, "%s", place);
    if (rc == ERROR_NONE)
        rc = file_path(tmp, err, "%s/tmp", place);
    if (rc == ERROR_NONE)
        rc = scratch_space_init(&directory->scratch, tmp, err);
    if (rc != ERROR_NONE) {
        memory_free(directory);
        return rc;
    }
    directory->timeout_ms = options->timeout_ms;
    directory->is_local = file_system_is_local(place);
    spare_files_init(&directory->spares);
    written_files_init(&directory->written);
    *state = directory;
    return ERROR_NONE;
}

static void close_directory(void *state)
{
    struct directory *directory = state;
    written_files_close(&directory->written);
    spare_files_close(&directory->spares);
    scratch_space_close(&directory->scratch);
    memory_free(directory);
}

static enum error_code locate(const char *place, struct store_location *out, struct error *err)
{
    return store_location_add_folder(out, place, err);
}

static const char *root_of(const void *state)
{
    return ((const struct directory *)state)->root;
}

static unsigned capabilities_of(const void *state)
{
    const struct directory *directory = state;
    return STORE_IS_SHARED | STORE_HAS_PATHS | STORE_HAS_CHEAP_RECORDS | STORE_IS_DURABLE |
           (directory->is_local ? STORE_IS_LOCAL : 0U) |
           (atomic_load(&directory->no_links) ? 0U : STORE_HAS_LINKS);
}

/* Refuses a name that ends with the record suffix: it would be taken for the file of a record. */
static enum error_code check_names(const char *key, struct error *err)
{
    const size_t suffix = strlen(KEY_WALK_RECORD_SUFFIX);
    for (const char *name = key; *name;) {
        const size_t size = strcspn(name, "/");
        if (size > suffix && strncmp(name + size - suffix, KEY_WALK_RECORD_SUFFIX, suffix) == 0)
            return error_set(err, ERROR_INVALID,
                             "key %s: offset %zu: in a folder no name may end with '%s'", key,
                             (size_t)(name - key), KEY_WALK_RECORD_SUFFIX);
        name += size + (name[size] == '/');
    }
    return ERROR_NONE;
}

static enum error_code record_path(const struct directory *directory, const char *key,
                                   char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = check_names(key, err);
    return rc == ERROR_NONE
               ? file_path(path, err, "%s/%s%s", directory->root, key, KEY_WALK_RECORD_SUFFIX)
               : rc;
}

static enum error_code artifact_path(const struct directory *directory, const char *key,
                                     char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = check_names(key, err);
    return rc == ERROR_NONE ? file_path(path, err, "%s/%s", directory->root, key) : rc;
}

/* --- records --- */

enum { WRITE_COUNT_MAX = 8 }; /* attempts, if the record's folder is lost each time */

static enum error_code put_record(void *state, const char *key, const struct object_body *body,
                                  enum store_durability durability, bool *existed,
                                  struct error *err)
{
    struct directory *directory = state;
    char path[FILE_PATH_SIZE], temporary[FILE_PATH_SIZE];
    enum error_code rc = record_path(directory, key, path, err);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, existed, err);
    if (rc != ERROR_NONE || *existed)
        return rc;
    for (int i = 0; i < WRITE_COUNT_MAX; i++) {
        rc = directory_write_temporary(directory, body, durability, temporary, err);
        if (rc != ERROR_NONE)
            return rc;
        rc = directory_link_first(directory, temporary, path, existed, err);
        if (rc != ERROR_UNAVAILABLE)
            break;
    }
    (void)unlink(temporary);
    if (rc == ERROR_NONE && !*existed && durability == STORE_DURABLE)
        rc = directory_flush_folders(directory, path, err);
    return rc;
}

static enum error_code flush_record(void *state, const char *key, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = record_path(state, key, path, err);
    if (rc == ERROR_NONE)
        rc = file_sync(path, err);
    return rc == ERROR_NONE ? directory_flush_folders(state, path, err) : rc;
}

/* Reads the records one after the other. A local file takes microseconds, and most are in the page
 * cache. */
static void get_records(void *state, struct object_get *get, size_t count)
{
    const struct directory *directory = state;
    char path[FILE_PATH_SIZE];
    for (size_t i = 0; i < count; i++) {
        get[i].rc = record_path(directory, get[i].key, path, &get[i].err);
        if (get[i].rc == ERROR_NONE)
            get[i].rc = stored_bytes_read(&get[i].bytes, path, directory->is_local, &get[i].err);
    }
}

static bool same_bytes(const struct stored_bytes *a, const struct stored_bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Removes a record if it still equals `seen`. Moves it aside before comparing, so that no other
 * process can put a good record between comparison and removal. A record that differs is linked
 * back. */
static enum error_code discard_record(void *state, const char *key, const struct stored_bytes *seen,
                                      struct error *err)
{
    struct directory *directory = state;
    struct stored_bytes moved = {0};
    char path[FILE_PATH_SIZE], aside[FILE_PATH_SIZE];
    bool existed = false;
    enum error_code rc = record_path(directory, key, path, err);
    if (rc == ERROR_NONE)
        rc = scratch_space_free_name(&directory->scratch, aside, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_rename(path, aside, err);
    if (rc != ERROR_NONE)
        return errno == ENOENT ? ERROR_NONE : rc;
    rc = stored_bytes_read(&moved, aside, directory->is_local, err);
    if (rc == ERROR_NONE && !same_bytes(&moved, seen))
        rc = directory_link_first(directory, aside, path, &existed, err);
    stored_bytes_release(&moved);
    (void)unlink(aside);
    return rc;
}

/* --- artifacts --- */

static enum error_code find_artifact(void *state, const char *key, char path[FILE_PATH_SIZE],
                                     struct error *err)
{
    bool found = false;
    enum error_code rc = artifact_path(state, key, path, err);
    if (rc == ERROR_NONE)
        rc = key_walk_is_artifact(path, &found, err);
    if (rc == ERROR_NONE && !found)
        return error_set(err, ERROR_NOT_FOUND, "artifact %s is not in the store", key);
    return rc;
}

static enum error_code make_scratch(void *state, char path[FILE_PATH_SIZE], struct error *err)
{
    return scratch_space_folder(&((struct directory *)state)->scratch, path, err);
}

static enum error_code mark_folder(const char *folder, struct error *err)
{
    char mark[FILE_PATH_SIZE];
    const enum error_code rc = file_path(mark, err, "%s/%s", folder, KEY_WALK_ARTIFACT_MARK);
    return rc == ERROR_NONE ? file_replace(mark, "", 0, false, err) : rc;
}

/* Removes the scratch folder that `path` was in, if it is empty. */
static void remove_empty_scratch(const struct directory *directory, const char *path)
{
    char folder[FILE_PATH_SIZE];
    if (file_path(folder, NULL, "%s", path) == ERROR_NONE && directory_to_parent(directory, folder))
        (void)rmdir(folder); /* fails on the space itself, which holds its lease */
}

static enum error_code publish_artifact(void *state, const char *built, const char *key,
                                        bool *existed, struct error *err)
{
    struct directory *directory = state;
    enum file_kind kind = FILE_ABSENT;
    char target[FILE_PATH_SIZE];
    enum error_code rc = artifact_path(directory, key, target, err);
    *existed = false;
    if (rc == ERROR_NONE)
        rc = file_look(built, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_ABSENT)
        rc = error_set(err, ERROR_IO, "%s was removed before it was published", built);
    if (rc != ERROR_NONE)
        return rc;
    if (kind == FILE_FOLDER)
        rc = mark_folder(built, err);
    if (rc == ERROR_NONE)
        rc = file_sync_tree(built, err);
    if (rc == ERROR_NONE && kind == FILE_FOLDER)
        rc = directory_rename_first(directory, built, target, existed, err);
    else if (rc == ERROR_NONE)
        rc = directory_link_first(directory, built, target, existed, err);
    if (rc == ERROR_NONE)
        rc = directory_flush_folders(directory, target, err);
    if (rc == ERROR_NONE)
        rc = file_remove_all(built, err);
    remove_empty_scratch(directory, built);
    return rc;
}

/* A walk over the files of an artifact that is a folder, and of its subfolders. */
struct file_walk {
    const char *root, *folder; /* of the artifact; the subfolder with a slash at its end, or "" */
    object_file_visitor visit;
    void *context;
};

static enum error_code visit_file(void *context, const char *name, struct error *err)
{
    const struct file_walk *walk = context;
    char path[FILE_PATH_SIZE], file[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    uint64_t size = 0;
    if (!*walk->folder && strcmp(name, KEY_WALK_ARTIFACT_MARK) == 0)
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s%s", walk->root, walk->folder, name);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_FOLDER) {
        struct file_walk below = *walk;
        rc = file_path(file, err, "%s%s/", walk->folder, name);
        below.folder = file;
        return rc == ERROR_NONE ? file_list(path, visit_file, &below, err) : rc;
    }
    if (rc == ERROR_NONE)
        rc = file_path(file, err, "%s%s", walk->folder, name);
    if (rc == ERROR_NONE)
        rc = file_size(path, &size, err);
    return rc == ERROR_NONE ? walk->visit(walk->context, file, size, err) : rc;
}

static enum error_code visit_files(void *state, const char *key, object_file_visitor visit,
                                   void *context, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    uint64_t size = 0;
    enum error_code rc = find_artifact(state, key, path, err);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_FOLDER) {
        struct file_walk walk = {path, "", visit, context};
        return file_list(path, visit_file, &walk, err);
    }
    if (rc == ERROR_NONE)
        rc = file_size(path, &size, err);
    return rc == ERROR_NONE ? visit(context, "", size, err) : rc;
}

static enum error_code read_range(void *state, const char *key, const char *file, uint64_t offset,
                                  void *buffer, size_t size, size_t *got, struct error *err)
{
    char path[FILE_PATH_SIZE], whole[FILE_PATH_SIZE];
    enum error_code rc = find_artifact(state, key, path, err);
    if (rc == ERROR_NONE)
        rc = file_path(whole, err, "%s%s%s", path, *file ? "/" : "", file);
    return rc == ERROR_NONE ? file_read_range(whole, offset, buffer, size, got, err) : rc;
}

/* --- records and artifacts --- */

static enum error_code has_key(void *state, const char *key, bool *found, struct error *err)
{
    const struct directory *directory = state;
    char path[FILE_PATH_SIZE];
    enum error_code rc = record_path(directory, key, path, err);
    *found = false;
    if (rc == ERROR_NONE)
        rc = file_is_there(path, found, err);
    if (rc != ERROR_NONE || *found)
        return rc;
    rc = artifact_path(directory, key, path, err);
    return rc == ERROR_NONE ? key_walk_is_artifact(path, found, err) : rc;
}

static enum error_code age_of(void *state, const char *key, bool is_ref, int64_t *seconds,
                              struct error *err)
{
    const struct directory *directory = state;
    char path[FILE_PATH_SIZE];
    int64_t written = 0;
    enum error_code rc = is_ref ? file_path(path, err, "%s/switch/%s", directory->root, key)
                                : record_path(directory, key, path, err);
    if (rc == ERROR_NONE)
        rc = directory_written_at(path, &written, err);
    if (rc == ERROR_NOT_FOUND && !is_ref) {
        rc = artifact_path(directory, key, path, err);
        if (rc == ERROR_NONE)
            rc = directory_written_at(path, &written, err);
    }
    *seconds = rc == ERROR_NONE ? directory_now(directory) - written : 0;
    return rc;
}

/* Removes a key. An artifact is moved to tmp/ by one rename and deleted there, so that no reader
 * sees half of one. */
static enum error_code remove_key(void *state, const char *key, struct error *err)
{
    struct directory *directory = state;
    char path[FILE_PATH_SIZE], aside[FILE_PATH_SIZE];
    bool is_artifact = false;
    enum error_code rc = record_path(directory, key, path, err);
    if (rc == ERROR_NONE && unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be removed", path);
    if (rc == ERROR_NONE)
        rc = artifact_path(directory, key, path, err);
    if (rc == ERROR_NONE)
        rc = key_walk_is_artifact(path, &is_artifact, err);
    if (rc != ERROR_NONE)
        return rc;
    if (is_artifact) {
        rc = scratch_space_free_name(&directory->scratch, aside, err);
        if (rc == ERROR_NONE) {
            rc = file_rename(path, aside, err);
            rc = rc != ERROR_NONE && errno == ENOENT ? ERROR_NONE : rc;
        }
        if (rc == ERROR_NONE)
            rc = file_remove_all(aside, err);
    }
    directory_remove_empty_parents(directory, path);
    return rc;
}

static enum error_code list_keys(void *state, const char *prefix, const char *after,
                                 store_visitor visit, void *context, struct error *err)
{
    return key_walk(((const struct directory *)state)->root, prefix, after, visit, context, err);
}

/* --- hints --- */

static void send_written(void *state)
{
    written_files_send(&((struct directory *)state)->written);
}

static void let_go_of_record(void *state, const char *key)
{
    const struct directory *directory = state;
    char path[FILE_PATH_SIZE];
    if (directory->is_local && record_path(directory, key, path, NULL) == ERROR_NONE)
        written_file_let_go(path);
}

static void prepare_spares(void *state)
{
    struct directory *directory = state;
    spare_files_prepare(&directory->spares, &directory->scratch);
}

static enum error_code sweep_scratch(void *state, struct error *err)
{
    return scratch_space_sweep(&((struct directory *)state)->scratch, err);
}

/* --- notes --- */

static enum error_code note_path(const void *state, const char *name, char path[FILE_PATH_SIZE],
                                 struct error *err)
{
    return file_path(path, err, "%s/logs/%s", root_of(state), name);
}

static enum error_code put_note(void *state, const char *name, const char *text, size_t size,
                                struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = note_path(state, name, path, err);
    if (rc == ERROR_NONE)
        rc = directory_make_parents(state, path, err);
    return rc == ERROR_NONE ? file_replace(path, text, size, false, err) : rc;
}

static enum error_code get_note(void *state, const char *name, char **text, size_t *size,
                                struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = note_path(state, name, path, err);
    return rc == ERROR_NONE ? file_read(path, 0, text, size, err) : rc;
}

const struct object_backend directory_backend = {
    .scheme = "dir",
    .open = open_directory,
    .close = close_directory,
    .capabilities = capabilities_of,
    .locate = locate,
    .folder = root_of,
    .put_if_absent = put_record,
    .flush = flush_record,
    .get_many = get_records,
    .delete_if_match = discard_record,
    .scratch = make_scratch,
    .publish = publish_artifact,
    .path = find_artifact,
    .files = visit_files,
    .get_range = read_range,
    .sweep = sweep_scratch,
    .has = has_key,
    .remove = remove_key,
    .list = list_keys,
    .age = age_of,
    .ref_get = directory_ref_get,
    .ref_set = directory_ref_set,
    .ref_cas = directory_ref_exchange,
    .ref_list = directory_ref_list,
    .note_put = put_note,
    .note_get = get_note,
    .note_path = note_path,
    .start_writeback = send_written,
    .preallocate = prepare_spares,
    .drop_cache = let_go_of_record,
};
