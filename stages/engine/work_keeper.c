#include "stages/engine/work_keeper.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_LEASE_MS = 10000, TURN_MS_MAX = 5000 };

struct work_keeper {
    const struct work_queue_config *config;
    int64_t turn_ms;
    pthread_t thread;
    bool started;
    pthread_mutex_t mutex; /* guards all fields below */
    pthread_cond_t wake;
    bool stopping, has_claim;
    struct work_claim claim;
    char note[sizeof((struct worker_beat *)0)->note];
    int64_t done;
    double started_at, unit_at, busy_seconds;
};

/* Returns the memory in use, from /proc; 0 if there is no /proc. */
static int64_t resident_bytes(void)
{
    int64_t total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%" SCNd64 " %" SCNd64, &total, &resident) != 2) /* NOLINT(cert-err34-c) */
        resident = 0;
    (void)fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static struct worker_beat describe(const struct work_keeper *keeper)
{
    const double now = clock_seconds(), life = now - keeper->started_at;
    const double busy = keeper->busy_seconds + (keeper->has_claim ? now - keeper->unit_at : 0.0);
    struct worker_beat beat = {
        .pid = getpid(),
        .done = keeper->done,
        .memory_bytes = resident_bytes(),
        .busy_share = life > 0.0 ? busy / life : 0.0,
    };
    (void)text_copy(beat.worker, sizeof beat.worker, keeper->config->worker);
    (void)text_copy(beat.stage, sizeof beat.stage, keeper->config->stage);
    if (keeper->has_claim)
        (void)text_copy(beat.unit, sizeof beat.unit, keeper->claim.unit);
    memcpy(beat.note, keeper->note, sizeof beat.note);
    if (gethostname(beat.host, sizeof beat.host - 1) != 0)
        beat.host[0] = '\0';
    return beat;
}

/* Does one turn. A call that fails is made again at the next turn; the worker itself meets the
 * failure, too, and reports it. */
static void tell(struct work_keeper *keeper, struct work_queue **queue)
{
    bool fenced = false;
    if (!*queue && work_queue_open(keeper->config, queue, NULL) != ERROR_NONE)
        return;
    (void)pthread_mutex_lock(&keeper->mutex);
    const bool renew = keeper->has_claim && !keeper->claim.is_copy;
    const struct work_claim claim = keeper->claim;
    const struct worker_beat beat = describe(keeper);
    (void)pthread_mutex_unlock(&keeper->mutex);
    if (renew && work_queue_renew(*queue, &claim, &fenced, NULL) != ERROR_NONE)
        return;
    /* A lost lease needs no action: publishing is safe, and the worker finds out when it completes
     * the unit. */
    error_ignore(work_queue_beat(*queue, &beat, NULL)); /* the next heartbeat follows soon */
}

static void wait_turn(struct work_keeper *keeper)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t ns = until.tv_nsec + keeper->turn_ms % 1000 * 1000000;
    until.tv_sec += keeper->turn_ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    while (!keeper->stopping && pthread_cond_timedwait(&keeper->wake, &keeper->mutex, &until) == 0)
        ;
}

static void *keep(void *context)
{
    struct work_keeper *keeper = context;
    struct work_queue *queue = NULL;
    (void)pthread_mutex_lock(&keeper->mutex);
    while (!keeper->stopping) {
        (void)pthread_mutex_unlock(&keeper->mutex);
        tell(keeper, &queue);
        (void)pthread_mutex_lock(&keeper->mutex);
        if (!keeper->stopping)
            wait_turn(keeper);
    }
    (void)pthread_mutex_unlock(&keeper->mutex);
    work_queue_close(queue);
    return NULL;
}

enum error_code work_keeper_new(const struct work_queue_config *config, struct work_keeper **out,
                                struct error *err)
{
    struct work_keeper *keeper = NULL;
    pthread_condattr_t attributes;
    *out = NULL;
    const enum error_code rc = memory_new(&keeper, 1, "the heartbeat", err);
    if (rc != ERROR_NONE)
        return rc;
    const int64_t third = (config->lease_ms > 0 ? config->lease_ms : DEFAULT_LEASE_MS) / 3;
    keeper->config = config;
    keeper->turn_ms = third < TURN_MS_MAX ? third + (third == 0) : TURN_MS_MAX;
    keeper->started_at = clock_seconds();
    (void)pthread_mutex_init(&keeper->mutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&keeper->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (pthread_create(&keeper->thread, NULL, keep, keeper) != 0) {
        work_keeper_free(keeper);
        return error_set(err, ERROR_NO_MEMORY, "no thread for the heartbeat");
    }
    keeper->started = true;
    *out = keeper;
    return ERROR_NONE;
}

void work_keeper_free(struct work_keeper *keeper)
{
    if (!keeper)
        return;
    (void)pthread_mutex_lock(&keeper->mutex);
    keeper->stopping = true;
    (void)pthread_cond_signal(&keeper->wake);
    (void)pthread_mutex_unlock(&keeper->mutex);
    if (keeper->started)
        (void)pthread_join(keeper->thread, NULL);
    (void)pthread_cond_destroy(&keeper->wake);
    (void)pthread_mutex_destroy(&keeper->mutex);
    memory_free(keeper);
}

void work_keeper_begin(struct work_keeper *keeper, const struct work_claim *claim)
{
    (void)pthread_mutex_lock(&keeper->mutex);
    keeper->claim = *claim;
    keeper->has_claim = true;
    keeper->unit_at = clock_seconds();
    (void)pthread_mutex_unlock(&keeper->mutex);
}

void work_keeper_end(struct work_keeper *keeper, bool done)
{
    (void)pthread_mutex_lock(&keeper->mutex);
    keeper->busy_seconds += clock_seconds() - keeper->unit_at;
    keeper->has_claim = false;
    keeper->done += done;
    (void)pthread_mutex_unlock(&keeper->mutex);
}

void work_keeper_note(struct work_keeper *keeper, const char *note)
{
    (void)pthread_mutex_lock(&keeper->mutex);
    (void)snprintf(keeper->note, sizeof keeper->note, "%s", note);
    (void)pthread_mutex_unlock(&keeper->mutex);
}
