#include "stages/engine/queue_watch.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "stages/engine/stage_list.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/chain_rebuild.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    PATIENCE_MS = 2000,    /* without a completed unit, before queue and storage are compared */
    PAUSE_MS_MAX = 30000,  /* between two comparisons while workers have units */
    TELL_STUCK_MS = 10000, /* if no worker has a unit */
    TELL_SLOW_MS = 60000,  /* if a worker has a unit, which may take long */
    TELL_AGAIN_MS = 60000,
    BEATS_MAX = 256,
    KEEP_MS = 600000, /* how long the queue of a finished run is kept */
    REASON_SIZE = 400,
};

/* Queues the units that are next by storage and that the queue has lost. */
static enum error_code compare(struct queue_watch *watch, struct work_queue *queue,
                               int64_t *restored, struct error *err)
{
    const int64_t before = work_queue_restored_count(queue);
    const enum error_code rc =
        chain_rebuild(watch->schedule, watch->store, watch->run_id, queue, err);
    *restored = work_queue_restored_count(queue) - before;
    return rc;
}

static void append(char reason[REASON_SIZE], const char *format, ...) PRINTF_LIKE(2, 3);
static void append(char reason[REASON_SIZE], const char *format, ...)
{
    const size_t used = strlen(reason);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason + used, REASON_SIZE - used, format, args);
    va_end(args);
}

/* Adds why a stage with waiting units does not do them. */
static void explain_stage(const char *stage, const struct stage_counts *counts,
                          const struct worker_beat *beat, int beat_count, char reason[REASON_SIZE])
{
    int alive = 0;
    for (int i = 0; i < beat_count; i++) {
        if (strcmp(beat[i].stage, stage) != 0)
            continue;
        alive++;
        if (beat[i].note[0])
            append(reason, "; %s: %s", beat[i].worker, beat[i].note);
        else if (beat[i].unit[0])
            append(reason, "; %s works on %s, seen %.0f s ago", beat[i].worker, beat[i].unit,
                   beat[i].age_seconds);
    }
    if (counts->waiting > 0)
        append(reason,
               alive ? "; %" PRId64 " wait for %s"
                     : "; %" PRId64 " wait for %s, which has no worker: start graphmill-%s",
               counts->waiting, stage, stage);
}

/* Writes "; ..." for each reason why nothing moves, or "". */
static enum error_code explain(struct work_queue *queue, char reason[REASON_SIZE],
                               struct error *err)
{
    static _Thread_local struct worker_beat beat[BEATS_MAX];
    int beat_count = 0;
    reason[0] = '\0';
    enum error_code rc = work_queue_beats(queue, beat, BEATS_MAX, &beat_count, err);
    for (int i = 0; i < STAGE_LOOP_COUNT && rc == ERROR_NONE; i++) {
        struct stage_counts counts = {0};
        rc = work_queue_counts(queue, stage_loop[i].name, &counts, err);
        if (rc == ERROR_NONE)
            explain_stage(stage_loop[i].name, &counts, beat, beat_count, reason);
    }
    return rc;
}

static enum error_code tell(struct queue_watch *watch, struct work_queue *queue,
                            const struct queue_look *look, int64_t now, struct error *err)
{
    char reason[REASON_SIZE];
    const int64_t still_ms = now - watch->moved_ms;
    if (still_ms < (look->leased > 0 ? TELL_SLOW_MS : TELL_STUCK_MS) || now < watch->tell_ms)
        return ERROR_NONE;
    watch->tell_ms = now + TELL_AGAIN_MS;
    const enum error_code rc = explain(queue, reason, err);
    if (rc == ERROR_NONE)
        log_warn("no unit of run %s was completed for %" PRId64
                 " s%s; queue and storage agree, and are compared repeatedly",
                 watch->run_id, still_ms / 1000,
                 reason[0] ? reason : "; storage names no unit that could be next");
    return rc;
}

static enum error_code compare_and_tell(struct queue_watch *watch, struct work_queue *queue,
                                        const struct queue_look *look, int64_t now,
                                        struct error *err)
{
    int64_t restored = 0;
    const enum error_code rc = compare(watch, queue, &restored, err);
    if (rc != ERROR_NONE)
        return rc;
    if (restored > 0) {
        log_warn("no unit of run %s was completed for %" PRId64 " s: the queue had lost %" PRId64
                 " units; they are queued again, from storage",
                 watch->run_id, (now - watch->moved_ms) / 1000, restored);
        watch->pause_ms = PATIENCE_MS;
    } else if (look->leased > 0 || look->waiting > 0) {
        watch->pause_ms = 2 * watch->pause_ms < PAUSE_MS_MAX ? 2 * watch->pause_ms : PAUSE_MS_MAX;
    }
    watch->compare_ms = now + watch->pause_ms;
    return ERROR_NONE;
}

enum error_code queue_watch_turn(struct queue_watch *watch, struct work_queue *queue,
                                 struct error *err)
{
    struct queue_look look = {0};
    const char *stage[STAGE_LOOP_COUNT];
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        stage[i] = stage_loop[i].name;
    const int64_t now = clock_ms();
    const bool due = watch->moved_ms && now >= watch->compare_ms;
    enum error_code rc =
        work_queue_look(queue, stage, STAGE_LOOP_COUNT, due ? PATIENCE_MS : 0, &look, err);
    if (rc != ERROR_NONE || !look.alive)
        return rc; /* the next claim finds that the queue is lost */
    if (!watch->moved_ms || look.done != watch->done) {
        watch->done = look.done;
        watch->moved_ms = now;
        watch->pause_ms = PATIENCE_MS;
        watch->compare_ms = now + PATIENCE_MS;
        watch->tell_ms = 0;
        return ERROR_NONE;
    }
    if (look.may_check)
        rc = compare_and_tell(watch, queue, &look, now, err);
    return rc == ERROR_NONE ? tell(watch, queue, &look, now, err) : rc;
}

void queue_watch_retire(struct work_queue *queue)
{
    const char *stages[STAGE_LOOP_COUNT];
    struct error err = {0};
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        stages[i] = stage_loop[i].name;
    if (work_queue_retire(queue, stages, STAGE_LOOP_COUNT, KEEP_MS, &err) != ERROR_NONE)
        log_debug("the queue of the finished run stays: %s", err.message);
}
