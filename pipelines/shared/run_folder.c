#include "pipelines/shared/run_folder.h"

#include "common/base/memory.h"
#include "common/parallel/shared_area.h"
#include "pipelines/shared/scale_request.h"
#include "stages/plan/chain/metrics_log.h"
#include "store/records/round/outputs_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Fails with a message that names the holder of the lock, whose pid is in the file. */
static enum error_code name_holder(const char *folder, int fd, struct error *err)
{
    char pid[24] = "";
    const ssize_t size = pread(fd, pid, sizeof pid - 1, 0);
    pid[size > 0 ? size : 0] = '\0';
    pid[strcspn(pid, "\n")] = '\0';
    return error_set(err, ERROR_BUSY,
                     "%s: another graphmill is at work in this folder, with pid %s; " ADVICE
                     "wait for it or stop it",
                     folder, pid[0] ? pid : "unknown");
}

static enum error_code take_lock(struct run_folder *folder, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/lock", folder->path);
    if (rc != ERROR_NONE)
        return rc;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const bool held = errno == EWOULDBLOCK;
        const enum error_code failed =
            held ? name_holder(folder->path, fd, err)
                 : error_set_errno(err, ERROR_IO, "%s cannot be locked", path);
        (void)close(fd);
        return failed;
    }
    char pid[24];
    const int size = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)size, 0) != size) {
        /* a missing pid only shortens the message to a second driver */
    }
    folder->lock = fd + 1;
    return ERROR_NONE;
}

enum error_code run_folder_is_driven(const char *path, bool *driven, struct error *err)
{
    char lock[FILE_PATH_SIZE];
    *driven = false;
    const enum error_code rc = file_path(lock, err, "%s/lock", path);
    if (rc != ERROR_NONE)
        return rc;
    const int fd = open(lock, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? ERROR_NONE : error_set_errno(err, ERROR_IO, "%s", lock);
    *driven = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    (void)close(fd);
    return ERROR_NONE;
}

static enum error_code set_path(struct run_folder *folder, const char *path, struct error *err)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    return file_path(folder->path, err, "%.*s", (int)size, path);
}

/* --- which store --- */

static enum error_code note_path(const char *folder, char path[FILE_PATH_SIZE], struct error *err)
{
    return file_path(path, err, "%s/store.uri", folder);
}

/* Reads the first line of the folder's store.uri. */
static enum error_code read_note(const char *folder, char uri[FILE_PATH_SIZE], bool *found,
                                 struct error *err)
{
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    enum error_code rc = note_path(folder, path, err);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, found, err);
    if (rc != ERROR_NONE || !*found)
        return rc;
    rc = file_read(path, FILE_PATH_SIZE, &text, &size, err);
    if (rc == ERROR_NONE) {
        text[strcspn(text, "\n")] = '\0';
        rc = file_path(uri, err, "%s", text);
    }
    if (rc == ERROR_NONE && !store_is_uri(uri))
        rc = error_set(err, ERROR_CORRUPT, "%s: expected the address of a store, found '%.100s'",
                       path, uri);
    memory_free(text);
    return rc;
}

static enum error_code has_other_store(const char *folder, const char *uri, const char *own,
                                       struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "%s has a store already, %s, and --store says %s: " ADVICE
                     "name another folder "
                     "(--directory), or the same store",
                     folder, own, uri);
}

enum error_code run_folder_store_uri(const char *path, const char *uri, char out[FILE_PATH_SIZE],
                                     bool *found, struct error *err)
{
    char inner[FILE_PATH_SIZE];
    enum error_code rc = read_note(path, out, found, err);
    if (rc == ERROR_NONE && !*found) {
        rc = file_path(inner, err, "%s/store", path);
        if (rc == ERROR_NONE)
            rc = file_is_there(inner, found, err);
        if (rc == ERROR_NONE)
            rc = store_uri_of_folder(inner, out, err);
    }
    if (rc != ERROR_NONE || !uri)
        return rc;
    if (*found && strcmp(out, uri) != 0)
        return has_other_store(path, uri, out, err);
    return file_path(out, err, "%s", uri);
}

/* Records the store's address. This comes before the store is made: after a kill in between, a
 * store inside the folder without a note would be taken for the default one. */
static enum error_code write_note(const struct run_folder *folder, struct error *err)
{
    char path[FILE_PATH_SIZE], line[FILE_PATH_SIZE + 1];
    enum error_code rc = note_path(folder->path, path, err);
    const int size = snprintf(line, sizeof line, "%s\n", folder->store_uri);
    return rc == ERROR_NONE ? file_replace(path, line, (size_t)size, false, err) : rc;
}

/* Removes the note of a store that could not be opened, unless the folder already has data of a
 * run. */
static void take_note_back(const struct run_folder *folder)
{
    char path[FILE_PATH_SIZE], inner[FILE_PATH_SIZE];
    bool is_begun = true;
    if (note_path(folder->path, path, NULL) == ERROR_NONE &&
        file_path(inner, NULL, "%s/store", folder->path) == ERROR_NONE &&
        file_is_there(inner, &is_begun, NULL) == ERROR_NONE && !is_begun)
        error_ignore(file_remove_all(path, NULL)); /* the message names the address */
}

enum error_code run_folder_word(struct option_list *rest, const char *uri, struct error *err)
{
    if (!uri)
        return ERROR_NONE;
    if (rest->count == OPTION_LIST_MAX)
        return error_set(err, ERROR_USAGE, "expected at most %d words", OPTION_LIST_MAX);
    memmove(rest->item + 1, rest->item, (size_t)rest->count++ * sizeof *rest->item);
    rest->item[0] = uri;
    return store_is_uri(uri)
               ? ERROR_NONE
               : error_set(err, ERROR_USAGE,
                           "--store %s: expected the address of a store, such as dir:%s or "
                           "s3://BUCKET/PREFIX",
                           uri, uri);
}

/* --- open --- */

enum error_code run_folder_create(struct run_folder *folder, const char *path, const char *uri,
                                  struct error *err)
{
    char logs[FILE_PATH_SIZE];
    bool found = false;
    enum error_code rc = set_path(folder, path, err);
    if (rc == ERROR_NONE && uri && !store_is_uri(uri))
        rc = error_set(err, ERROR_INVALID,
                       "--store %s: expected the address of a store, such as dir:%s or "
                       "s3://BUCKET/PREFIX",
                       uri, uri);
    if (rc == ERROR_NONE)
        rc = file_path(logs, err, "%s/logs", folder->path);
    if (rc == ERROR_NONE)
        rc = file_make_folders(logs, err);
    if (rc == ERROR_NONE)
        rc = take_lock(folder, err);
    if (rc == ERROR_NONE)
        scale_request_clear(folder->path);
    if (rc == ERROR_NONE)
        rc = run_folder_store_uri(folder->path, uri, folder->store_uri, &found, err);
    const bool is_new = rc == ERROR_NONE && uri && !found;
    if (is_new)
        rc = write_note(folder, err);
    if (rc == ERROR_NONE)
        rc = store_open(folder->store_uri, 0, &folder->store, err);
    if (rc != ERROR_NONE && is_new)
        take_note_back(folder);
    if (rc == ERROR_NONE)
        rc = store_sweep(folder->store, err);
    if (rc != ERROR_NONE)
        run_folder_close(folder);
    return rc;
}

enum error_code run_folder_bind(struct run_folder *folder, const char *run_id, struct error *err)
{
    char newest[ID_SIZE];
    enum error_code rc = ERROR_NONE;
    if (!run_id) {
        rc = run_newest(folder->store, newest, err);
        run_id = newest;
    }
    return rc == ERROR_NONE ? run_open(folder->store, run_id, &folder->run, err) : rc;
}

/* Finds the store: that of the folder, or the folder itself. */
static enum error_code find_store(struct run_folder *folder, const char *path, struct error *err)
{
    bool found = false;
    enum error_code rc = set_path(folder, path, err);
    if (rc == ERROR_NONE)
        rc = file_is_there(folder->path, &found, err);
    if (rc == ERROR_NONE && !found)
        rc = error_set(err, ERROR_NOT_FOUND, "there is no such folder");
    if (rc == ERROR_NONE)
        rc = run_folder_store_uri(folder->path, NULL, folder->store_uri, &found, err);
    return rc == ERROR_NONE && !found ? store_uri_of_folder(folder->path, folder->store_uri, err)
                                      : rc;
}

enum error_code run_folder_open_store(struct run_folder *folder, const char *path, unsigned flags,
                                      struct error *err)
{
    enum error_code rc = store_is_uri(path) ? file_path(folder->store_uri, err, "%s", path)
                                            : find_store(folder, path, err);
    if (rc == ERROR_NONE)
        rc = store_open(folder->store_uri, flags | STORE_MUST_EXIST, &folder->store, err);
    if (rc != ERROR_NONE) {
        run_folder_close(folder);
        return error_context(err, rc, "%s", path);
    }
    return ERROR_NONE;
}

bool run_folder_has_store(const struct run_folder *folder)
{
    const char *root = store_root(folder->store);
    const size_t size = strlen(folder->path);
    return root && size && strncmp(root, folder->path, size) == 0 &&
           (root[size] == '/' || root[size] == '\0');
}

enum error_code run_folder_open(struct run_folder *folder, const char *path, const char *run_id,
                                struct error *err)
{
    enum error_code rc = run_folder_open_store(folder, path, STORE_READ_ONLY, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = run_folder_bind(folder, run_id, err);
    if (rc != ERROR_NONE) {
        run_folder_close(folder);
        return error_context(err, rc, "%s", path);
    }
    return ERROR_NONE;
}

/* Sets a link; `target` is relative to the run folder. */
static enum error_code set_link(const struct run_folder *folder, const char *name,
                                const char *target, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", folder->path, name);
    return rc == ERROR_NONE ? file_link_replace(path, target, err) : rc;
}

/* Links `name` to `path`. The target is relative if it is inside the run folder, so that the folder
 * can be moved. */
static enum error_code link_to(const struct run_folder *folder, const char *name, const char *path,
                               struct error *err)
{
    const size_t size = strlen(folder->path);
    char absolute[FILE_PATH_SIZE];
    if (strncmp(path, folder->path, size) == 0 && path[size] == '/')
        return set_link(folder, name, path + size + 1, err);
    const enum error_code rc = file_absolute(absolute, path, err);
    return rc == ERROR_NONE ? set_link(folder, name, absolute, err) : rc;
}

static bool has_paths(const struct run_folder *folder)
{
    return store_capabilities(folder->store) & STORE_HAS_PATHS;
}

static enum error_code remove_outputs(const struct run_folder *folder, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/outputs", folder->path);
    return rc == ERROR_NONE ? file_remove_all(path, err) : rc;
}

/* Copies the outputs into the folder, for a store without paths. */
static enum error_code copy_outputs(const struct run_folder *folder, const char *key,
                                    struct error *err)
{
    struct artifact_handle files;
    char path[FILE_PATH_SIZE];
    enum error_code rc = remove_outputs(folder, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/outputs", folder->path);
    if (rc == ERROR_NONE)
        rc = outputs_acquire(folder->store, key, NULL, &files, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_copy_tree(files.path, path, err);
    artifact_release(&files);
    return rc;
}

static enum error_code link_outputs(const struct run_folder *folder,
                                    const struct chain_state *state, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const struct key outputs =
        key_outputs(folder->run.plan.id, state->weights_version, folder->run.schedule.outputs_tag);
    if (!state->finished)
        return remove_outputs(folder, err);
    if (!has_paths(folder))
        return copy_outputs(folder, outputs.text, err);
    const enum error_code rc = store_artifact(folder->store, outputs.text, path, err);
    return rc == ERROR_NONE ? link_to(folder, "outputs", path, err) : rc;
}

/* Links to the metrics file, which grows during the run, or copies it from a store without
 * paths. */
static enum error_code show_metrics(const struct run_folder *folder, struct error *err)
{
    const struct key note = metrics_log_note(folder->run.plan.id);
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    enum error_code rc = ERROR_NONE;
    if (has_paths(folder)) {
        rc = store_note_path(folder->store, note.text, path, err);
        return rc == ERROR_NONE ? link_to(folder, "metrics.jsonl", path, err) : rc;
    }
    rc = store_note_get(folder->store, note.text, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/metrics.jsonl", folder->path);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, size, false, err);
    memory_free(text);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

enum error_code run_folder_link(const struct run_folder *folder, const struct chain_state *state,
                                struct error *err)
{
    enum error_code rc = link_outputs(folder, state, err);
    /* Workers append to it during the run; after the end nobody else would notice that it is
     * gone. */
    if (rc == ERROR_NONE && state->finished)
        rc = metrics_log_update(folder->store, folder->run.plan.id, state->snapshot_version, NULL,
                                err);
    return rc == ERROR_NONE ? show_metrics(folder, err) : rc;
}

void run_folder_close(struct run_folder *folder)
{
    run_close(&folder->run);
    store_close(folder->store);
    if (folder->lock) {
        shared_area_sweep(); /* removes shared memory of workers that were killed */
        (void)close(folder->lock - 1);
    }
    *folder = (struct run_folder){0};
}
