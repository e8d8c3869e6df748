/* The side of work_queue.h that tells how a run is doing: heartbeats and counts. */
#include "common/base/text.h"
#include "store/script_call.h"
#include "store/work_queue.h"

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
    const char *const text[] = {"busy", busy,       "stage", beat->stage,
                                "unit", beat->unit, "host",  beat->host};
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
    const enum error_code rc = script_call_run(queue, SCRIPT_COUNTS, &reply, err);
    const int64_t entries = redis_reply_integer(redis_reply_item(reply, 0));
    *out = (struct stage_counts){
        .leased = redis_reply_integer(redis_reply_item(reply, 1)),
        .done = redis_reply_integer(redis_reply_item(reply, 2)),
        .retried = redis_reply_integer(redis_reply_item(reply, 3)),
    };
    out->waiting = entries > out->leased ? entries - out->leased : 0;
    redis_reply_free(reply);
    return rc;
}

static int compare_beats(const void *a, const void *b)
{
    const struct worker_beat *x = a, *y = b;
    const int order = strcmp(x->stage, y->stage);
    return order ? order : strcmp(x->worker, y->worker);
}

static struct worker_beat read_beat(const struct redisReply *fields)
{
    struct worker_beat beat = {0};
    const char *text[9];
    for (int64_t i = 0; i < 9; i++)
        text[i] = redis_reply_text(redis_reply_item(fields, i));
    (void)snprintf(beat.worker, sizeof beat.worker, "%s", text[0]);
    (void)snprintf(beat.stage, sizeof beat.stage, "%s", text[2]);
    (void)snprintf(beat.unit, sizeof beat.unit, "%s", text[3]);
    (void)snprintf(beat.host, sizeof beat.host, "%s", text[4]);
    beat.age_seconds = (double)redis_reply_integer(redis_reply_item(fields, 1)) / 1000.0;
    beat.pid = redis_reply_integer(redis_reply_item(fields, 5));
    beat.done = redis_reply_integer(redis_reply_item(fields, 6));
    beat.memory_bytes = redis_reply_integer(redis_reply_item(fields, 7));
    (void)text_double(text[8], strlen(text[8]), &beat.busy_share); /* 0 when it is none */
    return beat;
}

enum error_code work_queue_beats(struct work_queue *queue, struct worker_beat *out, int capacity,
                                 int *count, struct error *err)
{
    struct redisReply *reply = NULL;
    *count = 0;
    script_call_begin(queue);
    const enum error_code rc = script_call_run(queue, SCRIPT_BEATS, &reply, err);
    for (int64_t i = 0; i < redis_reply_count(reply) && *count < capacity; i++)
        out[(*count)++] = read_beat(redis_reply_item(reply, i));
    if (*count > 0)
        qsort(out, (size_t)*count, sizeof *out, compare_beats);
    redis_reply_free(reply);
    return rc;
}
