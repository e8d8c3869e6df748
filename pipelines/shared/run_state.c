#include "pipelines/shared/run_state.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "pipelines/shared/child_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STATE_BYTES_MAX = 8192, STAT_BYTES_MAX = 1023 };

static const char file_name[] = "state";

/* The last record that this driver wrote. */
static struct {
    char stage[32];
    int64_t since;
} current;

/* Returns the start time of a process in ticks since the host started; 0: there is no such process.
 * Pids are reused, so only pid and start time together identify a process. */
static int64_t process_start(int64_t pid)
{
    enum { FIELDS_BEFORE = 19 }; /* between the closing bracket of the name and the 22nd field */
    char path[64], text[STAT_BYTES_MAX + 1];
    size_t size = 0;
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    if (pid <= 0 || file_read_range(path, 0, text, STAT_BYTES_MAX, &size, NULL) != ERROR_NONE)
        return 0;
    text[size] = '\0';
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i <= FIELDS_BEFORE; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoll(at, NULL, 10) : 0;
}

static void own_host(char host[64])
{
    (void)memset(host, 0, 64);
    (void)gethostname(host, 63);
}

/* Writes the record. `outcome` is RUN_AT_WORK, or how the driver ended. */
static void write_state(const char *folder, enum run_outcome outcome, const char *message)
{
    char path[FILE_PATH_SIZE], host[64];
    struct json_writer json = {0};
    own_host(host);
    json_open_object(&json, NULL);
    json_put_string(&json, "stage", current.stage);
    json_put_string(&json, "host", host);
    json_put_int64(&json, "pid", getpid());
    json_put_int64(&json, "process_start", process_start(getpid()));
    json_put_int64(&json, "since", current.since);
    if (outcome != RUN_AT_WORK) {
        json_put_int64(&json, "ended", (int64_t)time(NULL));
        json_put_string(&json, "outcome", run_outcome_word(outcome));
        json_put_string(&json, "message", message);
    }
    json_close_object(&json);
    if (json_writer_finish(&json, NULL) == ERROR_NONE &&
        file_path(path, NULL, "%s/%s", folder, file_name) == ERROR_NONE &&
        file_replace(path, json.text, json.size, false, NULL) != ERROR_NONE)
        (void)unlink(path); /* no record is better than an outdated one */
    json_writer_release(&json);
}

void run_state_write(const char *folder, const char *stage)
{
    (void)snprintf(current.stage, sizeof current.stage, "%s", stage);
    current.since = (int64_t)time(NULL);
    write_state(folder, RUN_AT_WORK, "");
}

void run_state_remove(const char *folder)
{
    char path[FILE_PATH_SIZE];
    if (file_path(path, NULL, "%s/%s", folder, file_name) == ERROR_NONE)
        (void)unlink(path);
}

void run_state_settle(const struct run_folder *folder, enum error_code rc, const struct error *err)
{
    if (!folder->lock || !current.stage[0])
        return;
    if (rc != ERROR_NONE)
        write_state(folder->path,
                    rc == ERROR_UNAVAILABLE && stop_signal_seen() ? RUN_STOPPED : RUN_FAILED,
                    err ? err->message : "");
    else
        run_state_remove(folder->path);
}

const char *run_outcome_word(enum run_outcome outcome)
{
    static const char *const words[] = {"", "at work", "stopped", "failed", "lost"};
    return words[outcome];
}

/* Returns whether the recorded process runs on this host. */
static enum run_outcome outcome_by_process(const struct run_state *state, int64_t start)
{
    char host[64];
    own_host(host);
    return strcmp(host, state->host) != 0 || process_start(state->pid) == start ? RUN_AT_WORK
                                                                                : RUN_LOST;
}

static bool parse(const char *text, size_t size, struct run_state *out)
{
    struct json_document *document = NULL;
    int64_t since = 0, start = 0, ended = (int64_t)time(NULL);
    if (json_parse(text, size, file_name, &document, NULL) != ERROR_NONE)
        return false;
    const struct json_node *root = json_root(document);
    const char *stage = json_text(json_get(root, "stage"));
    const char *host = json_text(json_get(root, "host"));
    const char *outcome = json_text(json_get(root, "outcome"));
    const char *message = json_text(json_get(root, "message"));
    const bool good = stage && text_copy(out->stage, sizeof out->stage, stage) && host &&
                      text_copy(out->host, sizeof out->host, host) &&
                      json_int64(json_get(root, "pid"), &out->pid) &&
                      json_int64(json_get(root, "process_start"), &start) &&
                      json_int64(json_get(root, "since"), &since);
    (void)json_int64(json_get(root, "ended"), &ended);
    (void)snprintf(out->message, sizeof out->message, "%s", message ? message : "");
    if (good && outcome)
        out->outcome = strcmp(outcome, "stopped") == 0 ? RUN_STOPPED : RUN_FAILED;
    else if (good)
        out->outcome = outcome_by_process(out, start);
    out->seconds = out->outcome == RUN_LOST ? -1 : ended > since ? ended - since : 0;
    json_free(document);
    return good;
}

bool run_state_read(const char *folder, struct run_state *out)
{
    char path[FILE_PATH_SIZE], *text = NULL;
    size_t size = 0;
    *out = (struct run_state){0};
    if (file_path(path, NULL, "%s/%s", folder, file_name) != ERROR_NONE ||
        file_read(path, STATE_BYTES_MAX, &text, &size, NULL) != ERROR_NONE)
        return false;
    const bool good = parse(text, size, out);
    memory_free(text);
    if (good && file_path(path, NULL, "%s/logs/%s.log", folder, out->stage) == ERROR_NONE)
        child_progress(path, 0, out->progress, sizeof out->progress);
    return good;
}
