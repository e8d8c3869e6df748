#include "stages/ingest/remote_input.h"

#include "common/base/checksum.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "stages/plan/identity.h"
#include "stages/plan/identity_digits.h"
#include "stages/plan/setting_table.h"
#include "store/backends/s3_files.h"

#include <stdio.h>
#include <string.h>

/* "s3://bucket/folder/edges.csv.gz?endpoint=..." -> "edges.csv.gz": readers go by the end of a name. */
static void base_name(const char *address, char out[FILE_PATH_SIZE])
{
    size_t size = strcspn(address, "?");
    while (size && address[size - 1] == '/')
        size--;
    size_t from = size;
    while (from && address[from - 1] != '/')
        from--;
    (void)snprintf(out, FILE_PATH_SIZE, "%.*s", (int)(size - from), address + from);
}

static enum error_code look_at(struct remote_input *remote, const struct setting_spec *spec,
                               char *path, struct error *err)
{
    if (remote->count == REMOTE_INPUT_MAX)
        return error_set(err, ERROR_INVALID, "expected at most %d settings with addresses",
                         REMOTE_INPUT_MAX);
    const int i = remote->count++;
    remote->item[i].name = spec->name;
    remote->item[i].path = path;
    (void)text_copy(remote->item[i].address, sizeof remote->item[i].address, path);
    const enum error_code rc = s3_files_list(path, &remote->item[i].files, err);
    return error_context(err, rc, "%s: %.*s", spec->name, (int)strcspn(path, "?"), path);
}

/* Whatever the dataset depends on, but for the content of the files, for which their versions stand. */
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
        if (path && strncmp(spec->name, "ingest.", 7) == 0 && s3_files_is_address(path))
            rc = look_at(out, spec, path, err);
    }
    if (rc == ERROR_NONE && out->count)
        rc = name_note(settings, out, err);
    if (rc != ERROR_NONE)
        remote_input_close(out);
    return rc;
}

bool remote_input_recall(const struct remote_input *remote, struct store *store, char id[ID_SIZE])
{
    return remote->count &&
           store_switch_get(store, remote->note.text, id, ID_SIZE, NULL) == ERROR_NONE;
}

void remote_input_remember(const struct remote_input *remote, struct store *store, const char *id)
{
    struct error err = {0};
    if (remote->count && store_switch_set(store, remote->note.text, id, &err) != ERROR_NONE)
        log_debug("the input is fetched again next time: %s", err.message);
}

enum error_code remote_input_fetch(struct remote_input *remote, struct store *store,
                                   struct error *err)
{
    char size[32], base[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, remote->folder, err);
    for (int i = 0; rc == ERROR_NONE && i < remote->count; i++) {
        const struct s3_files *files = remote->item[i].files;
        base_name(remote->item[i].address, base);
        rc = file_path(remote->item[i].copy, err, "%s/%d/%s", remote->folder, i, base);
        if (rc != ERROR_NONE)
            break;
        log_info("progress fetching %s", text_size(s3_files_bytes(files), size));
        rc = s3_files_fetch(files, remote->item[i].copy, err);
        rc = error_context(err, rc, "%s: %s", remote->item[i].name, remote->item[i].address);
        if (rc == ERROR_NONE &&
            !text_copy(remote->item[i].path, SETTING_PATH_SIZE, remote->item[i].copy))
            rc = error_set(err, ERROR_INVALID, "%s: the path of its copy is too long: %s",
                           remote->item[i].name, remote->item[i].copy);
    }
    return rc;
}

/* Replaces `from` where it stands first; what does not fit is cut. */
static bool replace(char *text, size_t room, const char *from, const char *to)
{
    char rest[sizeof((struct error *)0)->message];
    char *at = strstr(text, from);
    if (!at)
        return false;
    (void)snprintf(rest, sizeof rest, "%s", at + strlen(from));
    (void)snprintf(at, room - (size_t)(at - text), "%s%s", to, rest);
    return true;
}

void remote_input_name_origin(const struct remote_input *remote, struct error *err)
{
    for (int i = 0; err && i < remote->count; i++) {
        char address[SETTING_PATH_SIZE];
        (void)snprintf(address, sizeof address, "%.*s", (int)strcspn(remote->item[i].address, "?"),
                       remote->item[i].address);
        for (int turn = 0; turn < 4 && remote->item[i].copy[0]; turn++)
            if (!replace(err->message, sizeof err->message, remote->item[i].copy, address))
                break;
    }
}

void remote_input_close(struct remote_input *remote)
{
    for (int i = 0; i < remote->count; i++)
        s3_files_close(remote->item[i].files);
    if (remote->folder[0])
        error_ignore(file_remove_all(remote->folder, NULL)); /* store_sweep() takes what stays */
    *remote = (struct remote_input){0};
}
