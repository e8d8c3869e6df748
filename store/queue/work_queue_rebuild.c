/* Fills an empty queue again, and empties a queue. Declared in work_queue.h. */
#include "store/queue/queue_reply.h"
#include "store/queue/script_call.h"
#include "store/queue/work_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SCAN_COUNT = 512 };

enum error_code work_queue_rebuild_begin(struct work_queue *queue, bool *won, bool *alive,
                                         struct error *err)
{
    struct redisReply *reply = NULL;
    script_call_begin(queue);
    script_call_give(queue, queue->worker);
    script_call_give(queue, queue->lease_text);
    *won = *alive = false;
    enum error_code rc = script_call_run(queue, SCRIPT_REBUILD_BEGIN, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_rebuild(reply, won, alive, queue->token, sizeof queue->token, err);
    redis_reply_free(reply);
    return rc;
}

/* Returns the error of a rebuild that has to be begun again. */
static enum error_code rebuild_lost(struct error *err)
{
    return error_set(err, ERROR_BUSY, "the queue was lost again, or another worker rebuilds it");
}

static enum error_code restore_part(struct work_queue *q, const struct work_successor *unit,
                                    const char (*done)[QUEUE_UNIT_SIZE], int64_t count,
                                    struct error *err)
{
    char needed[NUMBER_SIZE];
    int64_t kept = 0;
    (void)snprintf(needed, sizeof needed, "%" PRId32, unit->prerequisite_count);
    script_call_begin(q);
    script_call_give(q, q->token);
    script_call_give(q, q->lease_text);
    script_call_give(q, unit->unit);
    script_call_give(q, unit->stage);
    script_call_give(q, needed);
    for (int64_t i = 0; i < count; i++)
        script_call_give(q, done[i]);
    const enum error_code rc = script_call_run_number(q, SCRIPT_RESTORE, &kept, err);
    q->restored_count += rc == ERROR_NONE && kept == 2;
    return rc == ERROR_NONE && kept == 0 ? rebuild_lost(err) : rc;
}

enum error_code work_queue_restore(struct work_queue *queue, const struct work_successor *unit,
                                   const char (*done)[QUEUE_UNIT_SIZE], int64_t done_count,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (; done_count > PART_SIZE && rc == ERROR_NONE; done += PART_SIZE, done_count -= PART_SIZE)
        rc = restore_part(queue, unit, done, PART_SIZE, err);
    return rc == ERROR_NONE ? restore_part(queue, unit, done, done_count, err) : rc;
}

enum error_code work_queue_rebuild_end(struct work_queue *queue, struct error *err)
{
    int64_t kept = 0;
    script_call_begin(queue);
    script_call_give(queue, queue->token);
    const enum error_code rc = script_call_run_number(queue, SCRIPT_REBUILD_END, &kept, err);
    return rc == ERROR_NONE && kept == 0 ? rebuild_lost(err) : rc;
}

int64_t work_queue_restored_count(const struct work_queue *queue)
{
    return queue->restored_count;
}

/* Removes the keys of one page of a scan. */
static enum error_code unlink_page(struct work_queue *q, const struct redisReply *keys,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int64_t from = 0; from < redis_reply_count(keys) && rc == ERROR_NONE;) {
        struct redisReply *reply = NULL;
        int argc = 0;
        q->argument[argc++] = "UNLINK";
        while (from < redis_reply_count(keys) && argc < ARGUMENT_COUNT_MAX)
            q->argument[argc++] = redis_reply_text(redis_reply_item(keys, from++));
        rc = redis_connection_call(q->connection, argc, q->argument, &reply, err);
        redis_reply_free(reply);
    }
    return rc;
}

/* Removes the keys that begin with the stem and `beginning`. None of these commands fails on a key
 * of the wrong type. */
static enum error_code unlink_all(struct work_queue *queue, const char *beginning,
                                  struct error *err)
{
    struct redisReply *reply = NULL;
    enum error_code rc = ERROR_NONE;
    char pattern[RUN_KEY_SIZE + 2], cursor[NUMBER_SIZE] = "0", count[NUMBER_SIZE];
    (void)snprintf(pattern, sizeof pattern, "%s%s*", queue->stem, beginning);
    (void)snprintf(count, sizeof count, "%d", SCAN_COUNT);
    while (rc == ERROR_NONE) {
        const char *scan[] = {"SCAN", cursor, "MATCH", pattern, "COUNT", count};
        rc = redis_connection_call(queue->connection, 6, scan, &reply, err);
        if (rc == ERROR_NONE)
            rc = queue_reply_scan(reply, cursor, sizeof cursor, err);
        if (rc == ERROR_NONE)
            rc = unlink_page(queue, redis_reply_item(reply, 1), err);
        redis_reply_free(reply);
        if (strcmp(cursor, "0") == 0)
            break;
    }
    return rc;
}

/* Empties the queue. The life is removed first, so that no worker uses what is left meanwhile. */
enum error_code work_queue_wipe(struct work_queue *queue, struct error *err)
{
    struct redisReply *reply = NULL;
    const char *unlink_life[] = {"UNLINK", queue->life};
    const enum error_code rc =
        redis_connection_call(queue->connection, 2, unlink_life, &reply, err);
    redis_reply_free(reply);
    return rc == ERROR_NONE ? unlink_all(queue, "", err) : rc;
}

/* Lets the queue expire. Units that still wait when training stops early would wait for ever, each
 * under its own key, so these keys are removed. */
enum error_code work_queue_retire(struct work_queue *queue, const char *const *stage,
                                  int stage_count, int64_t keep_ms, struct error *err)
{
    const int64_t limits[] = {0, keep_ms};
    int64_t more = 1;
    enum error_code rc = ERROR_NONE;
    for (int turn = 0; rc == ERROR_NONE && more && turn < 2; turn++) {
        char limit[NUMBER_SIZE];
        (void)snprintf(limit, sizeof limit, "%" PRId64, limits[turn]);
        script_call_begin(queue);
        script_call_give(queue, limit);
        for (int i = 0; i < stage_count; i++)
            script_call_give(queue, stage[i]);
        rc = script_call_run_number(queue, SCRIPT_RETIRE, &more, err);
        if (rc == ERROR_NONE && more && turn == 0)
            rc = unlink_all(queue, "wait:", err);
    }
    return rc;
}
