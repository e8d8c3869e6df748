#include "stages/ingest/remote_input.h"

#include "common/base/log.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "common/files/file_pattern.h"
#include "stages/plan/model/identity.h"
#include "stages/plan/model/identity_digits.h"
#include "stages/plan/settings/setting_table.h"
#include "store/backends/s3/s3_files.h"

#include <stdio.h>
#include <string.h>

static enum error_code look_at(struct remote_input *remote, const char *name, char *path,
                               const char *address, size_t size, struct error *err)
{
    if (remote->count == REMOTE_INPUT_MAX)
        return error_set(err, ERROR_INVALID,
                         "%s: expected at most %d addresses in the settings of ingest; a pattern "
                         "such as s3://bucket/part-*.csv is one",
                         name, REMOTE_INPUT_MAX);
    struct remote_item *item = &remote->item[remote->count++];
    item->name = name;
    item->path = path;
    (void)snprintf(item->address, sizeof item->address, "%.*s", (int)size, address);
    const enum error_code rc = s3_files_list(item->address, &item->files, err);
    return error_context(err, rc, "%s: %.*s", name, (int)strcspn(item->address, "?"),
                         item->address);
}

/* Collects each address in a setting, which may be a list. */
static enum error_code look_through(struct remote_input *remote, const char *name, char *path,
                                    struct error *err)
{
    const char *at = NULL, *item = NULL;
    size_t size = 0;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && *path && file_pattern_next(path, &at, &item, &size))
        if (s3_files_is_address(item))
            rc = look_at(remote, name, path, item, size, err);
        else
            remote->is_part_here = true;
    return rc;
}

/* Computes the name of the note: a hash of everything that the dataset depends on, with the
 * objects' versions instead of their content. */
static enum error_code name_note(const struct pipeline_settings *settings,
                                 struct remote_input *remote, struct error *err)
{
    char text[SETTINGS_TEXT_SIZE], content[CHECKSUM_TEXT_SIZE], digits[IDENTITY_DIGITS_SIZE];
    struct checksum_stream *sum = NULL;
    enum error_code rc = pipeline_settings_identity(settings, SETTING_OF_DATASET, text, err);
    if (rc == ERROR_NONE)
        rc = checksum_stream_new(&sum, err);
    if (rc != ERROR_NONE)
        return rc;
    checksum_stream_add(sum, GRAPHMILL_VERSION, sizeof GRAPHMILL_VERSION);
    checksum_stream_add(sum, text, strlen(text) + 1);
    checksum_stream_add(sum, &settings->seed, sizeof settings->seed);
    for (int i = 0; i < remote->count; i++) {
        checksum_stream_add(sum, remote->item[i].name, strlen(remote->item[i].name) + 1);
        s3_files_add_to_sum(remote->item[i].files, sum);
    }
    const struct checksum all = checksum_stream_sum(sum);
    checksum_stream_free(sum);
    checksum_text(&all, content);
    identity_digits("remote", content, digits);
    remote->note = key_current("remote", digits);
    return rc;
}

enum error_code remote_input_find(struct pipeline_settings *settings, struct remote_input *out,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *out = (struct remote_input){0};
    for (const struct setting_spec *spec = setting_table; rc == ERROR_NONE && spec->name; spec++) {
        char *path = setting_path(spec, settings);
        if (path && strncmp(spec->name, "ingest.", 7) == 0)
            rc = look_through(out, spec->name, path, err);
    }
    if (rc == ERROR_NONE && out->count)
        rc = name_note(settings, out, err);
    if (rc != ERROR_NONE)
        remote_input_close(out);
    return rc;
}

bool remote_input_recall(const struct remote_input *remote, struct store *store, char id[ID_SIZE])
{
    return remote->count && !remote->is_part_here &&
           store_switch_get(store, remote->note.text, id, ID_SIZE, NULL) == ERROR_NONE;
}

void remote_input_remember(const struct remote_input *remote, struct store *store, const char *id)
{
    struct error err = {0};
    /* If two processes set the ref, either may win: its name is a hash of the objects' versions,
     * and these determine the dataset. */
    if (remote->count && !remote->is_part_here &&
        store_switch_set(store, remote->note.text, id, &err) != ERROR_NONE)
        log_debug("the input is fetched again next time: %s", err.message);
}

/* Downloads an item. A copy keeps its name, because readers recognise formats by the ending; each
 * address has a folder of its own. */
static enum error_code fetch_item(struct remote_input *remote, int i, struct error *err)
{
    char size[32];
    struct remote_item *item = &remote->item[i];
    enum error_code rc = file_path(item->folder, err, "%s/%d", remote->folder, i);
    if (rc == ERROR_NONE)
        rc = file_make_folders(item->folder, err);
    if (rc != ERROR_NONE)
        return rc;
    log_progress("fetching %s", text_size(s3_files_bytes(item->files), size));
    rc = s3_files_fetch(item->files, item->folder, item->copy, err);
    return error_context(err, rc, "%s: %s", item->name, item->address);
}

/* Replaces the addresses in a setting by their copies. *next: the first item of the setting; then
 * the item after its last. */
static enum error_code name_copies(const struct remote_input *remote, int *next, struct error *err)
{
    const struct remote_item *first = &remote->item[*next];
    const bool is_list = file_pattern_is_list(first->path);
    char all[SETTING_PATH_SIZE] = "";
    const char *at = NULL, *item = NULL;
    size_t size = 0, used = 0;
    while (file_pattern_next(first->path, &at, &item, &size)) {
        const bool is_address = s3_files_is_address(item);
        const int added = snprintf(all + used, sizeof all - used, "%s%.*s",
                                   !is_list ? ""
                                   : used   ? ", "
                                            : "[",
                                   is_address ? FILE_PATH_SIZE : (int)size,
                                   is_address ? remote->item[(*next)++].copy : item);
        if (added < 0 || used + (size_t)added + 2 > sizeof all)
            return error_set(err, ERROR_INVALID,
                             "%s: the paths of the copies are longer than %zu bytes%s: %s",
                             first->name, sizeof all - 2,
                             is_list ? "; a pattern such as s3://bucket/part-*.csv is shorter" : "",
                             first->copy);
        used += (size_t)added;
    }
    /* zeros follow it */
    if (is_list)
        all[used] = ']';
    must(text_copy(first->path, SETTING_PATH_SIZE, all));
    return ERROR_NONE;
}

enum error_code remote_input_fetch(struct remote_input *remote, struct store *store,
                                   struct error *err)
{
    enum error_code rc = store_scratch(store, remote->folder, err);
    for (int i = 0; rc == ERROR_NONE && i < remote->count; i++)
        rc = fetch_item(remote, i, err);
    for (int i = 0; rc == ERROR_NONE && i < remote->count;)
        rc = name_copies(remote, &i, err);
    return rc;
}

/* The folder of the copies of an item, and the address that the user gave. */
struct names {
    char here[FILE_PATH_SIZE + 1], there[SETTING_PATH_SIZE + 1];
};

static void names_of(const struct remote_item *item, struct names *out)
{
    (void)snprintf(out->here, sizeof out->here, "%s/", item->folder);
    (void)snprintf(out->there, sizeof out->there, "%.*s/", (int)s3_files_folder_size(item->address),
                   item->address);
}

enum { NAMED_MOST = 4 }; /* how often a text may contain the name of one folder */

static void name_origin(const void *origin, char *text, size_t room)
{
    const struct remote_input *remote = origin;
    struct names names;
    for (int i = 0; i < remote->count; i++) {
        names_of(&remote->item[i], &names);
        for (int turn = 0; turn < NAMED_MOST && remote->item[i].folder[0]; turn++)
            if (!text_replace(text, room, names.here, names.there))
                break;
    }
}

void remote_input_name_origin(const struct remote_input *remote, struct error *err)
{
    struct names names;
    for (int i = 0; i < remote->count; i++) {
        names_of(&remote->item[i], &names);
        for (int turn = 0; turn < NAMED_MOST && remote->item[i].folder[0]; turn++)
            if (!error_rename(err, names.here, names.there))
                break;
    }
}

void remote_input_close(struct remote_input *remote)
{
    for (int i = 0; i < remote->count; i++)
        s3_files_close(remote->item[i].files);
    /* store_sweep() removes what remains */
    if (remote->folder[0])
        error_ignore(file_remove_all(remote->folder, NULL));
    *remote = (struct remote_input){0};
}

/* ---- files of an update
 * --------------------------------------------------------------------------- */

static enum error_code look_at_update(struct remote_update *update, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t kind = 0; rc == ERROR_NONE && kind < UPDATE_KIND_COUNT; kind++) {
        const char **files = update_request_files(&update->request, kind);
        const char *option = update_kind_table[kind].option;
        if (!*files)
            continue;
        if (!text_copy(update->path[kind], sizeof update->path[kind], *files))
            return error_set(err, ERROR_INVALID, "%s: expected less than %d bytes", option,
                             UPDATE_FILES_SIZE);
        *files = update->path[kind];
        rc = look_through(&update->files, option, update->path[kind], err);
    }
    return rc;
}

/* Refuses a folder of objects for an update: without a pattern nothing says in which order the
 * objects are read. */
static enum error_code check_files(const struct remote_item *item, struct error *err)
{
    enum file_kind kind = FILE_ABSENT;
    const enum error_code rc = file_look(item->copy, &kind, err);
    if (rc != ERROR_NONE || kind != FILE_FOLDER)
        return rc;
    return error_set(err, ERROR_INVALID,
                     "%s: %.*s: expected the address of an object or a pattern of objects, found "
                     "a folder",
                     item->name, (int)strcspn(item->address, "?"), item->address);
}

enum error_code remote_update_fetch(const struct update_request *given, struct store *store,
                                    struct remote_update *out, struct error *err)
{
    out->request = *given;
    enum error_code rc = look_at_update(out, err);
    if (rc != ERROR_NONE || out->files.count == 0)
        return rc;
    out->request.name_origin = name_origin;
    out->request.origin = &out->files;
    rc = remote_input_fetch(&out->files, store, err);
    for (int i = 0; rc == ERROR_NONE && i < out->files.count; i++)
        rc = check_files(&out->files.item[i], err);
    return rc;
}
