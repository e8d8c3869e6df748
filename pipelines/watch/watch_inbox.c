#include "pipelines/watch/watch_inbox.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char *const own_folders[] = {"done", "refused"};

/* --- open --- */

static enum error_code take_lock(struct watch_inbox *inbox, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/watch.lock", inbox->path);
    if (rc != ERROR_NONE)
        return rc;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, ERROR_IO, "%s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        inbox->lock = fd + 1;
        return ERROR_NONE;
    }
    const enum error_code failed =
        errno == EWOULDBLOCK
            ? error_set(err, ERROR_BUSY, "%s: another graphmill watch works there", inbox->path)
            : error_set_errno(err, ERROR_IO, "%s cannot be locked", path);
    (void)close(fd);
    return failed;
}

enum error_code watch_inbox_open(struct watch_inbox *inbox, const char *path, struct error *err)
{
    enum file_kind kind = FILE_ABSENT;
    enum error_code rc = file_look(path, &kind, err);
    if (rc == ERROR_NONE && kind != FILE_FOLDER)
        rc = error_set(err, ERROR_NOT_FOUND, "%s: expected a folder in which updates arrive", path);
    if (rc == ERROR_NONE)
        rc = file_absolute(inbox->path, path, err);
    if (rc == ERROR_NONE)
        rc = take_lock(inbox, err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof own_folders / sizeof *own_folders; i++) {
        char folder[FILE_PATH_SIZE];
        rc = file_path(folder, err, "%s/%s", inbox->path, own_folders[i]);
        if (rc == ERROR_NONE)
            rc = file_make_folders(folder, err);
        if (rc == ERROR_NONE)
            rc = file_sweep_temporary(folder, "", err);
    }
    return rc == ERROR_NONE ? file_sweep_temporary(inbox->path, "watch.json.", err) : rc;
}

void watch_inbox_close(struct watch_inbox *inbox)
{
    if (inbox->lock)
        (void)close(inbox->lock - 1);
    *inbox = (struct watch_inbox){0};
}

/* --- what is there --- */

static bool may_be_update(const struct watch_inbox *inbox, const char *name)
{
    for (int i = 0; i < inbox->left_count; i++)
        if (strcmp(name, inbox->left[i]) == 0)
            return false;
    for (size_t i = 0; i < sizeof own_folders / sizeof *own_folders; i++)
        if (strcmp(name, own_folders[i]) == 0)
            return false;
    return name[0] != '.' && !text_ends(name, ".partial");
}

enum error_code watch_inbox_leave(struct watch_inbox *inbox, const char *path, struct error *err)
{
    char whole[FILE_PATH_SIZE];
    const size_t size = strlen(inbox->path);
    enum error_code rc = file_absolute(whole, path, err);
    const bool is_inside =
        rc == ERROR_NONE && strncmp(whole, inbox->path, size) == 0 && whole[size] == '/';
    if (!is_inside)
        return rc;
    char *name = whole + size + 1;
    name[strcspn(name, "/")] = '\0';
    for (int i = 0; i < inbox->left_count; i++)
        if (strcmp(inbox->left[i], name) == 0)
            return ERROR_NONE;
    must(inbox->left_count < WATCH_LEFT_COUNT);
    return text_copy(inbox->left[inbox->left_count++], WATCH_NAME_SIZE, name)
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT, "%s: expected names of less than %d bytes", path,
                           WATCH_NAME_SIZE);
}

struct run_search {
    const char *folder;
    bool found;
};

/* Looks for names by which a folder is recognised as that of a run or of runs: "store" or
 * "store.uri" (pipelines/shared/run_folder.h), or "g/store" in a folder of runs. */
static enum error_code look_for_run(void *context, const char *name, struct error *err)
{
    struct run_search *search = context;
    char path[FILE_PATH_SIZE];
    if (search->found || strcmp(name, "store") == 0 || strcmp(name, "store.uri") == 0) {
        search->found = true;
        return ERROR_NONE;
    }
    enum error_code rc = file_path(path, err, "%s/%s/store", search->folder, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &search->found, err);
    if (rc == ERROR_NONE && !search->found)
        rc = file_path(path, err, "%s/%s/store.uri", search->folder, name);
    return rc == ERROR_NONE && !search->found ? file_is_there(path, &search->found, err) : rc;
}

struct search {
    const struct watch_inbox *inbox;
    char *name; /* [WATCH_NAME_SIZE] */
};

/* Considers a name; names come in order. A plain file, such as a pipeline file, is never an
 * update. */
static enum error_code consider(void *context, const char *name, struct error *err)
{
    const struct search *search = context;
    char path[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    struct run_search run = {.folder = path};
    if (search->name[0] || !may_be_update(search->inbox, name))
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s", search->inbox->path, name);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_FOLDER)
        rc = file_list(path, look_for_run, &run, err);
    if (rc == ERROR_NONE && kind == FILE_FOLDER && !run.found &&
        !text_copy(search->name, WATCH_NAME_SIZE, name))
        rc = error_set(err, ERROR_INPUT, "%s: expected a name of less than %d bytes", path,
                       WATCH_NAME_SIZE);
    return rc;
}

enum error_code watch_inbox_next(const struct watch_inbox *inbox, char name[WATCH_NAME_SIZE],
                                 struct error *err)
{
    struct search search = {.inbox = inbox, .name = name};
    name[0] = '\0';
    return file_list(inbox->path, consider, &search, err);
}

/* --- its files --- */

struct reading {
    const struct watch_inbox *inbox;
    struct watch_update *update;
    char stem[FILE_PATH_SIZE]; /* of the previous file */
    int count;
};

/* Returns the kind of a file by its name up to the ending and an optional '-' and suffix;
 * UPDATE_KIND_COUNT for an unknown name. */
static size_t kind_of(const char *name)
{
    const size_t size = strcspn(name, ".");
    size_t kind = 0;
    for (; kind < UPDATE_KIND_COUNT; kind++) {
        const char *expected = update_kind_table[kind].option + strlen("--");
        const size_t length = strlen(expected);
        if (size >= length && strncmp(expected, name, length) == 0 &&
            (size == length || name[length] == '-'))
            break;
    }
    return kind;
}

/* Returns whether a stem occurs twice. Names come in order, so equal stems are consecutive. */
static bool is_twice(struct reading *reading, const char *name)
{
    const size_t size = strcspn(name, ".");
    const bool again = strlen(reading->stem) == size && strncmp(reading->stem, name, size) == 0;
    (void)snprintf(reading->stem, sizeof reading->stem, "%.*s", (int)size, name);
    return again;
}

static enum error_code read_file(void *context, const char *name, struct error *err)
{
    struct reading *reading = context;
    struct watch_update *update = reading->update;
    char path[FILE_PATH_SIZE];
    enum file_kind found = FILE_ABSENT;
    if (name[0] == '.')
        return ERROR_NONE;
    const size_t kind = kind_of(name);
    enum error_code rc = file_path(path, err, "%s/%s/%s", reading->inbox->path, update->name, name);
    if (rc == ERROR_NONE)
        rc = file_look(path, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    if (kind == UPDATE_KIND_COUNT || found != FILE_PLAIN)
        return error_set(err, ERROR_INPUT,
                         "%s: expected a file called add-edges, remove-edges, add-nodes, "
                         "remove-nodes or features, with any ending, or add-edges-1, ...",
                         path);
    if (is_twice(reading, name))
        return error_set(err, ERROR_INPUT,
                         "%s: expected one file of this name, found another ending of it, too",
                         path);
    *update_request_files(&update->request, kind) = update->files[kind];
    reading->count++;
    rc = update_files_add(update->files[kind], path, err);
    return rc == ERROR_NONE ? rc : error_context(err, ERROR_INPUT, "an update of several files");
}

enum error_code watch_inbox_read(const struct watch_inbox *inbox, const char *name,
                                 struct watch_update *out, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct reading reading = {.inbox = inbox, .update = out};
    bool was_done = false;
    *out = (struct watch_update){0};
    must(text_copy(out->name, sizeof out->name, name));
    enum error_code rc = file_path(path, err, "%s/done/%s", inbox->path, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &was_done, err);
    if (rc == ERROR_NONE && was_done)
        rc = error_set(err, ERROR_INPUT,
                       "%s/%s: an update of this name was applied before, expected another name",
                       inbox->path, name);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/%s", inbox->path, name);
    if (rc == ERROR_NONE)
        rc = file_list(path, read_file, &reading, err);
    if (rc == ERROR_NONE && !reading.count)
        rc = error_set(err, ERROR_INPUT, "%s: expected a file such as add-edges.csv, found none",
                       path);
    return rc;
}

/* --- away with it --- */

/* Chooses the final place: the name, or the name with a number. After a kill the update's own
 * result may be there already. */
static enum error_code choose_place(const struct watch_inbox *inbox, const char *name,
                                    const char *where, char to[FILE_PATH_SIZE], struct error *err)
{
    bool found = false;
    enum error_code rc = file_path(to, err, "%s/%s/%s", inbox->path, where, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(to, &found, err);
    for (int number = 2; rc == ERROR_NONE && found; number++) {
        rc = file_path(to, err, "%s/%s/%s-%d", inbox->path, where, name, number);
        if (rc == ERROR_NONE)
            rc = file_is_there(to, &found, err);
    }
    return rc;
}

enum error_code watch_inbox_put_away(const struct watch_inbox *inbox, const char *name,
                                     const char *where, const char *result, struct error *err)
{
    char from[FILE_PATH_SIZE], to[FILE_PATH_SIZE], text[FILE_PATH_SIZE];
    bool found = false;
    enum error_code rc = file_path(from, err, "%s/%s", inbox->path, name);
    if (rc == ERROR_NONE)
        rc = file_is_there(from, &found, err);
    if (rc != ERROR_NONE || !found)
        return rc;
    rc = choose_place(inbox, name, where, to, err);
    if (rc == ERROR_NONE)
        rc = file_path(text, err, "%s.json", to);
    if (rc == ERROR_NONE)
        rc = file_replace(text, result, strlen(result), true, err);
    if (rc == ERROR_NONE)
        rc = file_rename(from, to, err);
    if (rc == ERROR_NONE)
        rc = file_path(text, err, "%s/%s", inbox->path, where);
    if (rc == ERROR_NONE)
        rc = file_sync(text, err);
    return rc == ERROR_NONE ? file_sync(inbox->path, err) : rc;
}
