/* Reports on a run: heartbeats and counts. Declared in work_queue.h. */
#include "store/queue/queue_reply.h"
#include "store/queue/script_call.h"
#include "store/queue/work_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum error_code work_queue_beat(struct work_queue *queue, const struct worker_beat *beat,
                                struct error *err)
{
    char busy[NUMBER_SIZE];
    const char *const name[] = {"pid", "done", "memory"};
    const int64_t value[] = {beat->pid, beat->done, beat->memory_bytes};
    int64_t written = 0;
    script_call_begin(queue);
    script_call_give(queue, beat->worker);
    script_call_give(queue, queue->beat_life_text);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(queue->number[i], NUMBER_SIZE, "%" PRId64, value[i]);
        script_call_give(queue, name[i]);
        script_call_give(queue, queue->number[i]);
    }
    (void)snprintf(busy, sizeof busy, "%.4f", beat->busy_share);
    const char *const text[] = {"busy",     busy,   "stage",    beat->stage, "unit",
                                beat->unit, "host", beat->host, "note",      beat->note};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        script_call_give(queue, text[i]);
    return script_call_run_number(queue, SCRIPT_BEAT, &written, err);
}

enum error_code work_queue_counts(struct work_queue *queue, const char *stage,
                                  struct stage_counts *out, struct error *err)
{
    struct redisReply *reply = NULL;
    script_call_begin(queue);
    script_call_give(queue, stage);
    *out = (struct stage_counts){0};
    enum error_code rc = script_call_run(queue, SCRIPT_COUNTS, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_counts(reply, out, err);
    redis_reply_free(reply);
    return rc;
}

enum error_code work_queue_look(struct work_queue *queue, const char *const *stage, int stage_count,
                                int64_t period_ms, struct queue_look *out, struct error *err)
{
    struct redisReply *reply = NULL;
    char period[NUMBER_SIZE];
    *out = (struct queue_look){0};
    (void)snprintf(period, sizeof period, "%" PRId64, period_ms);
    script_call_begin(queue);
    script_call_give(queue, period);
    for (int i = 0; i < stage_count; i++)
        script_call_give(queue, stage[i]);
    enum error_code rc = script_call_run(queue, SCRIPT_LOOK, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_look(reply, out, err);
    redis_reply_free(reply);
    return rc;
}

enum error_code work_queue_take_charge(struct work_queue *queue, const char *token, int64_t hold_ms,
                                       bool *other, struct error *err)
{
    char hold[NUMBER_SIZE];
    int64_t taken = 0;
    (void)snprintf(hold, sizeof hold, "%" PRId64, hold_ms);
    script_call_begin(queue);
    script_call_give(queue, token);
    script_call_give(queue, hold);
    const enum error_code rc = script_call_run_number(queue, SCRIPT_TAKE_CHARGE, &taken, err);
    *other = rc == ERROR_NONE && taken == 0;
    return rc;
}

static int compare_beats(const void *a, const void *b)
{
    const struct worker_beat *x = a, *y = b;
    const int order = strcmp(x->stage, y->stage);
    return order ? order : strcmp(x->worker, y->worker);
}

enum error_code work_queue_beats(struct work_queue *queue, struct worker_beat *out, int capacity,
                                 int *count, struct error *err)
{
    struct redisReply *reply = NULL;
    *count = 0;
    script_call_begin(queue);
    enum error_code rc = script_call_run(queue, SCRIPT_BEATS, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_beats(reply, out, capacity, count, err);
    if (*count > 0)
        qsort(out, (size_t)*count, sizeof *out, compare_beats);
    redis_reply_free(reply);
    return rc;
}
