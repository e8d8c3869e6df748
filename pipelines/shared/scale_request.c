#include "pipelines/shared/scale_request.h"

#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "stages/engine/stage_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REQUEST_BYTES_MAX = 4096 };

static enum error_code request_path(const char *folder, int stage, const char *ending,
                                    char path[FILE_PATH_SIZE], struct error *err)
{
    return file_path(path, err, "%s/scale/%s%s", folder, stage_loop[stage].name, ending);
}

static enum error_code put(const char *path, struct json_writer *json, struct error *err)
{
    enum error_code rc = json_writer_finish(json, err);
    if (rc == ERROR_NONE)
        rc = file_replace(path, json->text, json->size, false, err);
    json_writer_release(json);
    return rc;
}

static struct json_document *read_document(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    struct json_document *document = NULL;
    if (file_read(path, REQUEST_BYTES_MAX, &text, &size, NULL) != ERROR_NONE)
        return NULL;
    if (json_parse(text, size, path, &document, NULL) != ERROR_NONE)
        document = NULL;
    memory_free(text);
    return document;
}

static bool copy_text(const struct json_node *node, char *out, size_t size)
{
    const char *text = json_text(node);
    return text && text_copy(out, size, text);
}

enum error_code scale_request_put(const char *folder, struct scale_request *request,
                                  struct error *err)
{
    char path[FILE_PATH_SIZE], within[FILE_PATH_SIZE];
    struct json_writer json = {0};
    (void)snprintf(request->token, sizeof request->token, "%ld-%" PRId64, (long)getpid(),
                   clock_ms());
    enum error_code rc = file_path(within, err, "%s/scale", folder);
    if (rc == ERROR_NONE)
        rc = file_make_folders(within, err);
    if (rc == ERROR_NONE)
        rc = request_path(folder, request->stage, "", path, err);
    if (rc != ERROR_NONE)
        return rc;
    json_open_object(&json, NULL);
    json_put_string(&json, "stage", stage_loop[request->stage].name);
    json_put_int64(&json, "workers", request->workers);
    json_put_string(&json, "token", request->token);
    json_close_object(&json);
    return put(path, &json, err);
}

static bool parse_request(const char *path, struct scale_request *out)
{
    struct json_document *document = read_document(path);
    const struct json_node *root = document ? json_root(document) : NULL;
    const bool good = root && json_int64(json_get(root, "workers"), &out->workers) &&
                      copy_text(json_get(root, "token"), out->token, sizeof out->token);
    json_free(document);
    return good;
}

/* Takes a request. The file is renamed before it is read, so that a request that is put meanwhile
 * is a new one and is not removed with this one. */
static bool take(const char *folder, int stage, struct scale_request *out)
{
    char path[FILE_PATH_SIZE], taken[FILE_PATH_SIZE];
    if (request_path(folder, stage, "", path, NULL) != ERROR_NONE ||
        request_path(folder, stage, ".taken", taken, NULL) != ERROR_NONE ||
        access(path, F_OK) != 0 || file_rename(path, taken, NULL) != ERROR_NONE)
        return false;
    *out = (struct scale_request){.stage = stage};
    const bool good = parse_request(taken, out);
    (void)unlink(taken);
    return good;
}

void scale_request_take(const char *folder, bool *found, struct scale_request *out)
{
    char within[FILE_PATH_SIZE];
    *found = false;
    if (file_path(within, NULL, "%s/scale", folder) != ERROR_NONE || access(within, F_OK) != 0)
        return;
    for (int i = 0; i < STAGE_LOOP_COUNT && !*found; i++)
        *found = take(folder, i, out);
}

void scale_answer_put(const char *folder, const struct scale_request *request,
                      const struct scale_answer *answer)
{
    char path[FILE_PATH_SIZE];
    struct json_writer json = {0};
    if (request_path(folder, request->stage, ".answer", path, NULL) != ERROR_NONE)
        return;
    json_open_object(&json, NULL);
    json_put_string(&json, "token", request->token);
    json_put_int64(&json, "before", answer->before);
    json_put_int64(&json, "now", answer->now);
    json_put_string(&json, "refused", answer->refused);
    json_close_object(&json);
    if (put(path, &json, NULL) != ERROR_NONE)
        (void)unlink(path); /* no answer is better than the answer to another request */
}

bool scale_answer_read(const char *folder, const struct scale_request *request,
                       struct scale_answer *out)
{
    char path[FILE_PATH_SIZE];
    *out = (struct scale_answer){0};
    if (request_path(folder, request->stage, ".answer", path, NULL) != ERROR_NONE)
        return false;
    struct json_document *document = read_document(path);
    const struct json_node *root = document ? json_root(document) : NULL;
    const bool good = root && copy_text(json_get(root, "token"), out->token, sizeof out->token) &&
                      json_int64(json_get(root, "before"), &out->before) &&
                      json_int64(json_get(root, "now"), &out->now) &&
                      copy_text(json_get(root, "refused"), out->refused, sizeof out->refused);
    json_free(document);
    return good && strcmp(out->token, request->token) == 0;
}

void scale_request_clear(const char *folder)
{
    char within[FILE_PATH_SIZE];
    if (file_path(within, NULL, "%s/scale", folder) == ERROR_NONE)
        /* a file that stays would be taken for a request */
        error_ignore(file_remove_all(within, NULL));
}
