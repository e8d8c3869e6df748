#include "pipelines/run_state.h"

#include "common/base/file.h"
#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/child_process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char file_name[] = "state";

void run_state_write(const char *folder, const char *stage)
{
    char path[FILE_PATH_SIZE];
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    json_put_string(&json, "stage", stage);
    json_put_int64(&json, "pid", getpid());
    json_put_int64(&json, "since", (int64_t)time(NULL));
    json_close_object(&json);
    if (json_writer_finish(&json, NULL) == ERROR_NONE &&
        file_path(path, NULL, "%s/%s", folder, file_name) == ERROR_NONE &&
        file_replace(path, json.text, json.size, false, NULL) != ERROR_NONE)
        (void)unlink(path); /* rather nothing than what is over */
    json_writer_release(&json);
}

void run_state_remove(const char *folder)
{
    char path[FILE_PATH_SIZE];
    if (file_path(path, NULL, "%s/%s", folder, file_name) == ERROR_NONE)
        (void)unlink(path);
}

static bool parse(const char *text, size_t size, struct run_state *out)
{
    struct json_document *document = NULL;
    int64_t since = 0;
    if (json_parse(text, size, file_name, &document, NULL) != ERROR_NONE)
        return false;
    const struct json_node *root = json_root(document);
    const char *stage = json_text(json_get(root, "stage"));
    const bool good = stage && text_copy(out->stage, sizeof out->stage, stage) &&
                      json_int64(json_get(root, "pid"), &out->pid) &&
                      json_int64(json_get(root, "since"), &since);
    const int64_t seconds = (int64_t)time(NULL) - since;
    out->seconds = seconds > 0 ? seconds : 0;
    json_free(document);
    return good;
}

static bool is_alive(int64_t pid)
{
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

bool run_state_read(const char *folder, struct run_state *out)
{
    enum { STATE_BYTES_MAX = 1024 };
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    *out = (struct run_state){0};
    if (file_path(path, NULL, "%s/%s", folder, file_name) != ERROR_NONE ||
        file_read(path, STATE_BYTES_MAX, &text, &size, NULL) != ERROR_NONE)
        return false;
    const bool good = parse(text, size, out);
    memory_free(text);
    if (!good)
        return false;
    out->is_alive = is_alive(out->pid);
    if (file_path(path, NULL, "%s/logs/%s.log", folder, out->stage) == ERROR_NONE)
        child_progress(path, 0, out->progress, sizeof out->progress);
    return true;
}
