#include "pipelines/run_status.h"

#include "pipelines/queue_fill.h"
#include "store/queue/redis_server.h"
#include "store/records/snapshot.h"

#include <stdio.h>

/* A folder in which ingest or partition is at work has no run yet, and a plan without an id. */
enum error_code run_status_open(struct run_folder *folder, const char *path, const char *run_id,
                                struct error *err)
{
    struct run_state state;
    run_folder_close(folder);
    const enum error_code rc = run_folder_open(folder, path, run_id, err);
    if (rc == ERROR_NONE || run_id || !run_state_read(path, &state))
        return rc;
    return file_path(folder->path, err, "%s", path);
}

static enum error_code read_storage(const struct run_folder *folder, struct run_status *status,
                                    struct error *err)
{
    struct snapshot snapshot = {0};
    const enum error_code rc = chain_state_and_snapshot(
        &folder->run.schedule, folder->store, folder->run.plan.id, &status->chain, &snapshot, err);
    if (rc == ERROR_NONE && status->chain.snapshot_version >= 0) {
        status->gradient_error = snapshot.progress[PROGRESS_GRADIENT_ERROR];
        status->train_loss = snapshot.train_loss;
        status->valid_metric = snapshot.valid_metric;
        status->best_metric = snapshot.best_metric;
        status->epoch = snapshot.epoch;
    }
    store_release_record(&snapshot.view);
    return rc;
}

/* Redis is a help, not the truth: without it the status is from storage alone. */
static void read_queue(const struct run_folder *folder, const char *redis,
                       const char *password_file, struct run_status *status)
{
    char path[FILE_PATH_SIZE], url[FILE_PATH_SIZE + 8];
    struct work_queue *queue = NULL;
    if (redis) {
        (void)snprintf(url, sizeof url, "%s", redis);
    } else if (!folder->path[0] || file_path(path, NULL, "%s/redis", folder->path) != ERROR_NONE ||
               redis_server_find(path, url, sizeof url, NULL) != ERROR_NONE) {
        return;
    }
    if (queue_open(folder, url, password_file, "graphmill-status", &queue, NULL) != ERROR_NONE)
        return;
    status->connected = true;
    for (int i = 0; i < STAGE_LOOP_COUNT && status->connected; i++)
        status->connected =
            work_queue_counts(queue, stage_loop[i].name, &status->counts[i], NULL) == ERROR_NONE;
    if (status->connected && work_queue_beats(queue, status->beat, BEAT_COUNT_MAX,
                                              &status->beat_count, NULL) != ERROR_NONE)
        status->connected = false;
    work_queue_close(queue);
}

enum error_code run_status_read(const struct run_folder *folder, const char *redis,
                                const char *redis_password_file, struct run_status *status,
                                struct error *err)
{
    *status = (struct run_status){0};
    status->has_state = folder->path[0] && run_state_read(folder->path, &status->state);
    if (!folder->run.plan.id[0])
        return ERROR_NONE;
    const enum error_code rc = read_storage(folder, status, err);
    if (rc == ERROR_NONE)
        read_queue(folder, redis, redis_password_file, status);
    return rc;
}

const char *run_status_word(const struct run_status *status)
{
    if (status->has_state && status->state.is_alive)
        return status->state.stage;
    if (status->chain.finished)
        return "finished";
    if (!status->connected)
        return "not running";
    return status->chain.stopped ? "inferring" : "training";
}
