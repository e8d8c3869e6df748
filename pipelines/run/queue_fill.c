#include "pipelines/run/queue_fill.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/chain_rebuild.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOOK_MS = 1000,
    MARK_MS = 15000,      /* a driver that has not renewed its mark for this long is gone */
    TELL_FIRST_MS = 3000, /* after the first failure to reach Redis */
    TELL_AGAIN_MS = 60000,
    TOKEN_SIZE = 160,
    FILL_ATTEMPTS = 50,
    FILL_PAUSE_MS = 100,
};

enum error_code queue_open(const struct run_folder *folder, const char *url,
                           const char *password_file, const char *name, struct work_queue **out,
                           struct error *err)
{
    char store_id[STORE_IDENTITY_SIZE];
    *out = NULL;
    const enum error_code rc = store_identity(folder->store, store_id, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct work_queue_config config = {.url = url,
                                             .password_file = password_file,
                                             .store_id = store_id,
                                             .run_id = folder->run.plan.id,
                                             .worker = name};
    return work_queue_open(&config, out, err);
}

/* Writes the token of this folder's store. It is the same for all successive drivers of this
 * folder, and differs for a copy of the folder (host, device and inode of the store's folder). A
 * store that is not a folder is the same from everywhere, so all its drivers have one token. */
static void make_token(const struct run_folder *folder, char token[TOKEN_SIZE])
{
    struct stat root = {0};
    char host[64] = "";
    const char *path = store_root(folder->store);
    if (path)
        (void)gethostname(host, sizeof host - 1);
    if (path && stat(path, &root) != 0)
        root = (struct stat){0};
    (void)snprintf(token, TOKEN_SIZE, "%s:%ju:%ju", host, (uintmax_t)root.st_dev,
                   (uintmax_t)root.st_ino);
}

static enum error_code take_charge(const struct run_folder *folder, struct work_queue *queue,
                                   bool *other, struct error *err)
{
    char token[TOKEN_SIZE];
    make_token(folder, token);
    return work_queue_take_charge(queue, token, MARK_MS, other, err);
}

enum error_code queue_open_own(const struct run_folder *folder, const char *url,
                               const char *password_file, const char *name, struct work_queue **out,
                               struct error *err)
{
    char store_id[STORE_IDENTITY_SIZE];
    bool other = false;
    enum error_code rc = queue_open(folder, url, password_file, name, out, err);
    if (rc == ERROR_NONE)
        rc = take_charge(folder, *out, &other, err);
    if (rc != ERROR_NONE || !other)
        return rc;
    log_info("another driver works on a copy of %s: this one gets an identity of its own",
             folder->store_uri);
    work_queue_close(*out);
    *out = NULL;
    rc = store_identity_renew(folder->store, store_id, err);
    return rc == ERROR_NONE ? queue_open(folder, url, password_file, name, out, err) : rc;
}

/* ERROR_BUSY means that a worker filled the queue at the same time and was faster, so the queue is
 * filled. */
static enum error_code fill_once(const struct run_folder *folder, struct work_queue *queue,
                                 struct error *err)
{
    bool won = false, alive = false;
    enum error_code rc = work_queue_rebuild_begin(queue, &won, &alive, err);
    if (rc == ERROR_NONE && won)
        rc = chain_rebuild(&folder->run.schedule, folder->store, folder->run.plan.id, queue, err);
    if (rc == ERROR_NONE && won)
        rc = work_queue_rebuild_end(queue, err);
    return rc;
}

enum error_code queue_fill(const struct run_folder *folder, struct work_queue *queue,
                           struct error *err)
{
    bool other = false;
    enum error_code rc = work_queue_wipe(queue, err);
    if (rc == ERROR_NONE)
        rc = take_charge(folder, queue, &other, err);
    if (rc == ERROR_NONE)
        rc = fill_once(folder, queue, err);
    for (int i = 0; rc == ERROR_BUSY && i < FILL_ATTEMPTS; i++) {
        clock_sleep_ms(FILL_PAUSE_MS);
        rc = fill_once(folder, queue, err);
    }
    return rc;
}

/* Logs that Redis does not answer. The workers keep trying, and the person at the driver should
 * know why nothing happens. */
static void tell_failure(struct queue_guard *guard, const struct error *err, int64_t now)
{
    if (!guard->failed_ms) {
        guard->failed_ms = now;
        guard->tell_ms = now + TELL_FIRST_MS;
    }
    if (now < guard->tell_ms)
        return;
    guard->tell_ms = now + TELL_AGAIN_MS;
    log_warn("%s; for %" PRId64 " s now; the workers go on when it answers", err->message,
             (now - guard->failed_ms) / 1000);
}

void queue_guard_turn(struct queue_guard *guard)
{
    struct error err = {0};
    bool other = false;
    int64_t now = clock_ms();
    if (now < guard->look_ms)
        return;
    guard->watch.schedule = &guard->folder->run.schedule;
    guard->watch.store = guard->folder->store;
    guard->watch.run_id = guard->folder->run.plan.id;
    enum error_code rc = take_charge(guard->folder, guard->queue, &other, &err);
    if (rc == ERROR_NONE)
        rc = queue_watch_turn(&guard->watch, guard->queue, &err);
    now = clock_ms();
    guard->look_ms = now + LOOK_MS;
    if (rc != ERROR_NONE)
        tell_failure(guard, &err, now);
    else
        guard->failed_ms = 0;
}
