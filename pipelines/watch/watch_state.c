#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/watch/watch_inbox.h"

#include <string.h>

enum { STATE_BYTES_MAX = 1 << 20 };

static enum error_code state_path(const struct watch_inbox *inbox, char path[FILE_PATH_SIZE],
                                  struct error *err)
{
    return file_path(path, err, "%s/watch.json", inbox->path);
}

static enum error_code copy(const char *text, char **out, struct error *err)
{
    const enum error_code rc = memory_new(out, strlen(text) + 1, "a line of the log", err);
    if (rc == ERROR_NONE)
        memcpy(*out, text, strlen(text) + 1);
    return rc;
}

static bool read_word(const struct json_node *root, const char *name, char *out, size_t size)
{
    const char *text = json_text(json_get(root, name));
    return text && text_copy(out, size, text);
}

static enum error_code parse(const struct json_node *root, const char *path,
                             struct watch_state *out, struct error *err)
{
    const char *line = json_text(json_get(root, "line"));
    const char *result = json_text(json_get(root, "result"));
    if (!read_word(root, "update", out->name, sizeof out->name) ||
        !read_word(root, "base", out->base, sizeof out->base) || !line != !result ||
        (line && !read_word(root, "model", out->model, sizeof out->model)))
        return error_set(err, ERROR_CORRUPT,
                         "%s: expected update, base, and line, result and model or none of them; "
                         "if it was edited, restore it; without it the update that was being "
                         "worked on may be applied twice",
                         path);
    out->is_decided = line != NULL;
    if (!line)
        return ERROR_NONE;
    const enum error_code rc = copy(line, &out->line, err);
    return rc == ERROR_NONE ? copy(result, &out->result, err) : rc;
}

enum error_code watch_state_read(const struct watch_inbox *inbox, struct watch_state *out,
                                 struct error *err)
{
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    struct json_document *document = NULL;
    *out = (struct watch_state){0};
    enum error_code rc = state_path(inbox, path, err);
    if (rc == ERROR_NONE)
        rc = file_read(path, STATE_BYTES_MAX, &text, &size, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = json_parse(text, size, path, &document, err);
    if (rc == ERROR_NONE)
        rc = parse(json_root(document), path, out, err);
    json_free(document);
    memory_free(text);
    return rc;
}

enum error_code watch_state_write(const struct watch_inbox *inbox, const struct watch_state *state,
                                  struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct json_writer json = {0};
    enum error_code rc = state_path(inbox, path, err);
    if (rc != ERROR_NONE)
        return rc;
    json_open_object(&json, NULL);
    json_put_string(&json, "update", state->name);
    json_put_string(&json, "base", state->base);
    if (state->is_decided) {
        json_put_string(&json, "model", state->model);
        json_put_string(&json, "line", state->line);
        json_put_string(&json, "result", state->result);
    }
    json_close_object(&json);
    json_put_raw(&json, "\n");
    rc = json_writer_finish(&json, err);
    if (rc == ERROR_NONE)
        rc = file_replace(path, json.text, json.size, true, err);
    json_writer_release(&json);
    return rc;
}

void watch_state_release(struct watch_state *state)
{
    memory_free(state->line);
    memory_free(state->result);
    *state = (struct watch_state){0};
}
