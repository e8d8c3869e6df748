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

static bool ends_with(const char *name, const char *end)
{
    const size_t size = strlen(name), end_size = strlen(end);
    return size >= end_size && strcmp(name + size - end_size, end) == 0;
}

static bool may_be_update(const char *name)
{
    for (size_t i = 0; i < sizeof own_folders / sizeof *own_folders; i++)
        if (strcmp(name, own_folders[i]) == 0)
            return false;
    return name[0] != '.' && !ends_with(name, ".partial");
}

struct search {
    const struct watch_inbox *inbox;
    char *name; /* [WATCH_NAME_SIZE] */
};

/* Names come in order. A file is none of ours, such as a pipeline file that lies there. */
static enum error_code consider(void *context, const char *name, struct error *err)
{
    const struct search *search = context;
    char path[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    if (search->name[0] || !may_be_update(name))
        return ERROR_NONE;
    enum error_code rc = file_path(path, err, "%s/%s", search->inbox->path, name);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    if (rc == ERROR_NONE && kind == FILE_FOLDER && !text_copy(search->name, WATCH_NAME_SIZE, name))
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
    int count;
};

static const char **place_of(struct update_request *request, const char *name)
{
    const struct {
        const char *name;
        const char **place;
    } all[WATCH_FILE_COUNT] = {{"add-edges", &request->add_edges},
                               {"remove-edges", &request->remove_edges},
                               {"add-nodes", &request->add_nodes},
                               {"remove-nodes", &request->remove_nodes},
                               {"features", &request->features}};
    const size_t size = strcspn(name, ".");
    for (size_t i = 0; i < WATCH_FILE_COUNT; i++)
        if (strlen(all[i].name) == size && strncmp(all[i].name, name, size) == 0)
            return all[i].place;
    return NULL;
}

static enum error_code read_file(void *context, const char *name, struct error *err)
{
    struct reading *reading = context;
    struct watch_update *update = reading->update;
    char path[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    if (name[0] == '.')
        return ERROR_NONE;
    const char **place = place_of(&update->request, name);
    enum error_code rc = file_path(path, err, "%s/%s/%s", reading->inbox->path, update->name, name);
    if (rc == ERROR_NONE)
        rc = file_look(path, &kind, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!place || kind != FILE_PLAIN)
        return error_set(err, ERROR_INPUT,
                         "%s: expected a file called add-edges, remove-edges, add-nodes, "
                         "remove-nodes or features, with any ending",
                         path);
    if (*place)
        return error_set(err, ERROR_INPUT, "%s: expected one file of this name, found %s, too",
                         path, *place);
    must(reading->count < WATCH_FILE_COUNT);
    *place = update->file[reading->count];
    memcpy(update->file[reading->count++], path, sizeof path);
    return ERROR_NONE;
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

/* The place for it: its name, or with a number. After a kill the result of it may be there already. */
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
