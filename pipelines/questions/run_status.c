#include "pipelines/questions/run_status.h"

#include "common/base/text.h"
#include "pipelines/run/queue_fill.h"
#include "pipelines/shared/redis_note.h"
#include "stages/engine/failure_notice.h"
#include "store/objects/keys.h"
#include "store/queue/redis_server.h"
#include "store/records/round/snapshot.h"

#include <stdio.h>
#include <string.h>

/* --- before there is a run --- */

struct beginnings {
    struct store *store;
    struct run_status *status;
};

/* Reads the notice of a failure. It may be from an earlier attempt; as long as there is no run, its
 * reason is useful anyway. */
static enum error_code read_failure(struct store *store, const char *key, struct run_status *status,
                                    char unit[UNIT_NAME_SIZE])
{
    struct failure_notice notice = {.store = store};
    struct failure_told told;
    bool found = false;
    unit[0] = '\0';
    (void)snprintf(notice.key.text, sizeof notice.key.text, "%s", key);
    const enum error_code rc = failure_notice_read(&notice, &found, &told, NULL);
    if (rc != ERROR_NONE || !found)
        return rc;
    must(text_copy(unit, UNIT_NAME_SIZE, told.unit));
    (void)snprintf(status->failed_stage, sizeof status->failed_stage, "%s", told.stage);
    (void)snprintf(status->failure, sizeof status->failure, "%.767s", told.sentence);
    return ERROR_NONE;
}

static enum error_code see_switch(void *context, const char *key, bool is_artifact,
                                  struct error *err)
{
    const struct beginnings *seen = context;
    char unit[UNIT_NAME_SIZE];
    (void)is_artifact;
    (void)err;
    if (text_begins(key, "current/dataset/"))
        seen->status->has_dataset = true;
    else if (text_begins(key, "current/partition/"))
        seen->status->has_partition = true;
    else if (text_begins(key, "current/failure/"))
        return read_failure(seen->store, key, seen->status, unit);
    return ERROR_NONE;
}

static enum error_code read_beginnings(struct store *store, struct run_status *status,
                                       struct error *err)
{
    struct beginnings seen = {store, status};
    return store_switch_list(store, see_switch, &seen, err);
}

/* Opens a store in which stages have begun but no run exists; otherwise the folder stays closed. */
static bool open_beginnings(struct run_folder *folder, const char *path)
{
    static struct run_status seen; /* too large for a stack */
    seen = (struct run_status){0};
    if (run_folder_open_store(folder, path, STORE_READ_ONLY, NULL) != ERROR_NONE)
        return false;
    if (read_beginnings(folder->store, &seen, NULL) == ERROR_NONE &&
        (seen.has_dataset || seen.has_partition || seen.failed_stage[0]))
        return true;
    run_folder_close(folder);
    return false;
}

enum error_code run_status_open(struct run_folder *folder, const char *path, const char *run_id,
                                struct error *err)
{
    struct run_state state;
    run_folder_close(folder);
    const enum error_code rc = run_folder_open(folder, path, run_id, err);
    if (rc == ERROR_NONE || run_id)
        return rc;
    if (rc == ERROR_NOT_FOUND && open_beginnings(folder, path))
        return ERROR_NONE;
    return run_state_read(path, &state) ? file_path(folder->path, err, "%s", path) : rc;
}

/* --- a run --- */

/* Drops the failure if its unit has been completed since. A failure without a unit (`unit` is "")
 * is kept. */
static void forgive(const struct run_folder *folder, const char *unit, struct run_status *status)
{
    bool open = true;
    if (unit_parse(unit, &(struct unit){0}, NULL) != ERROR_NONE ||
        chain_is_open(&folder->run.schedule, folder->store, folder->run.plan.id, &status->chain,
                      unit, &open, NULL) != ERROR_NONE ||
        open)
        return;
    status->failed_stage[0] = status->failure[0] = '\0';
}

static enum error_code read_storage(const struct run_folder *folder, struct run_status *status,
                                    struct error *err)
{
    struct snapshot snapshot = {0};
    const char *run_id = folder->run.plan.id;
    const enum error_code rc = chain_state_and_snapshot(&folder->run.schedule, folder->store,
                                                        run_id, &status->chain, &snapshot, err);
    if (rc == ERROR_NONE && status->chain.snapshot_version >= 0) {
        status->gradient_error = snapshot.progress[PROGRESS_GRADIENT_ERROR];
        status->train_loss = snapshot.train_loss;
        status->valid_metric = snapshot.valid_metric;
        status->best_metric = snapshot.best_metric;
        status->epoch = snapshot.epoch;
    }
    store_release_record(&snapshot.view);
    const struct key key = key_run(run_id, "failure");
    if (rc == ERROR_NONE && !status->chain.finished) {
        char unit[UNIT_NAME_SIZE];
        /* only a help for people */
        error_ignore(read_failure(folder->store, key.text, status, unit));
        forgive(folder, unit, status);
    }
    return rc;
}

/* Chooses the Redis: the requested one; the private one while it runs; the one that the folder was
 * started with. */
static bool find_redis(const struct run_folder *folder, const char *redis, struct redis_note *note)
{
    char path[FILE_PATH_SIZE];
    *note = (struct redis_note){{0}, {0}};
    if (redis)
        return text_copy(note->url, sizeof note->url, redis);
    if (!folder->path[0] || file_path(path, NULL, "%s/redis", folder->path) != ERROR_NONE)
        return false;
    return redis_server_find(path, note->url, sizeof note->url, NULL) == ERROR_NONE ||
           redis_note_read(folder->path, note);
}

static enum error_code ask_queue(const struct run_folder *folder, struct work_queue *queue,
                                 struct run_status *status)
{
    char unit[QUEUE_UNIT_SIZE], reason[sizeof status->failure];
    bool found = false;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < STAGE_LOOP_COUNT && rc == ERROR_NONE; i++)
        rc = work_queue_counts(queue, stage_loop[i].name, &status->counts[i], NULL);
    if (rc == ERROR_NONE)
        rc = work_queue_beats(queue, status->beat, BEAT_COUNT_MAX, &status->beat_count, NULL);
    if (rc == ERROR_NONE)
        rc = work_queue_first_dead(queue, &found, unit, reason, sizeof reason, NULL);
    if (rc != ERROR_NONE || !found || status->failed_stage[0])
        return rc;
    (void)snprintf(status->failed_stage, sizeof status->failed_stage, "%.*s",
                   (int)strcspn(unit, "/"), unit);
    (void)snprintf(status->failure, sizeof status->failure, "%.60s: %.700s", unit, reason);
    forgive(folder, unit, status);
    return ERROR_NONE;
}

/* Reads the queue. Redis is optional: without it the status comes from storage alone. */
static void read_queue(const struct run_folder *folder, const char *redis,
                       const char *password_file, struct run_status *status)
{
    struct redis_note note;
    struct work_queue *queue = NULL;
    if (!find_redis(folder, redis, &note))
        return;
    (void)snprintf(status->redis, sizeof status->redis, "%s", note.url);
    if (!password_file && note.password_file[0])
        password_file = note.password_file;
    if (queue_open(folder, note.url, password_file, "graphmill-status", &queue, NULL) != ERROR_NONE)
        return;
    status->connected = ask_queue(folder, queue, status) == ERROR_NONE;
    work_queue_close(queue);
}

enum error_code run_status_read(const struct run_folder *folder, const char *redis,
                                const char *redis_password_file, struct run_status *status,
                                struct error *err)
{
    *status = (struct run_status){0};
    status->has_state = folder->path[0] && run_state_read(folder->path, &status->state);
    if (status->has_state && status->state.outcome == RUN_FAILED) {
        (void)snprintf(status->failed_stage, sizeof status->failed_stage, "%s",
                       status->state.stage);
        (void)snprintf(status->failure, sizeof status->failure, "%s", status->state.message);
    }
    if (!folder->run.plan.id[0])
        return folder->store ? read_beginnings(folder->store, status, err) : ERROR_NONE;
    const enum error_code rc = read_storage(folder, status, err);
    if (rc == ERROR_NONE && (redis || !status->chain.finished))
        read_queue(folder, redis, redis_password_file, status);
    return rc;
}

/* --- words --- */

static bool somebody_works(const struct run_status *status)
{
    enum { FRESH_SECONDS = 30 };
    for (int i = 0; status->connected && i < status->beat_count; i++)
        if (status->beat[i].age_seconds < FRESH_SECONDS)
            return true;
    return false;
}

const char *run_status_word(const struct run_status *status)
{
    const bool is_driven = status->has_state && status->state.outcome == RUN_AT_WORK;
    const char *const training = status->chain.stopped ? "inferring" : "training";
    if (is_driven)
        return strcmp(status->state.stage, "training") == 0 ? training : status->state.stage;
    if (status->chain.finished)
        return "finished";
    if (status->failed_stage[0])
        return "failed";
    if (somebody_works(status))
        return training;
    if (status->has_state)
        return "stopped";
    return status->connected ? "waiting for workers" : "not running";
}

/* Returns the state of ingest or partition. */
static const char *word_before_run(const struct run_folder *folder, const struct run_status *status,
                                   const char *stage)
{
    const bool is_partition = strcmp(stage, "partition") == 0;
    const char *at = status->has_state ? status->state.stage : "";
    if (strcmp(at, stage) == 0)
        return run_outcome_word(status->state.outcome);
    if (strcmp(at, "ingest") == 0) /* and partition has not begun */
        return "waiting";
    if (strcmp(status->failed_stage, stage) == 0)
        return "failed";
    if (folder->run.plan.id[0] || at[0] || status->has_partition)
        return "done";
    return status->has_dataset && !is_partition ? "done" : "waiting";
}

const struct stage_counts *run_status_counts(const struct run_status *status, const char *stage)
{
    for (int i = 0; status->connected && i < STAGE_LOOP_COUNT; i++)
        if (strcmp(stage_loop[i].name, stage) == 0)
            return &status->counts[i];
    return NULL;
}

const char *run_status_stage(const struct run_folder *folder, const struct run_status *status,
                             const char *stage)
{
    const struct stage_counts *counts = run_status_counts(status, stage);
    const bool infers = strcmp(stage, "infer") == 0;
    if (strcmp(stage, "ingest") == 0 || strcmp(stage, "partition") == 0)
        return word_before_run(folder, status, stage);
    if (!folder->run.plan.id[0])
        return "waiting";
    if (status->chain.finished || (status->chain.stopped && !infers))
        return "done";
    if (strcmp(status->failed_stage, stage) == 0)
        return "failed";
    if (counts && counts->leased > 0)
        return "at work";
    if (counts || (infers && !status->chain.stopped))
        return "waiting";
    return status->has_state && strcmp(status->state.stage, "training") == 0
               ? run_outcome_word(status->state.outcome)
               : "not running";
}
