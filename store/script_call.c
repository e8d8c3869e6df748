#include "store/script_call.h"

#include "common/base/stop_signal.h"
#include "store/work_queue_scripts.h"

static const char *const script_text[SCRIPT_COUNT] = {
    [SCRIPT_CLAIM] = work_queue_claim_lua,
    [SCRIPT_COMPLETE] = work_queue_complete_lua,
    [SCRIPT_RENEW] = work_queue_renew_lua,
    [SCRIPT_GIVE_BACK] = work_queue_give_back_lua,
    [SCRIPT_BURY] = work_queue_bury_lua,
    [SCRIPT_REBUILD_BEGIN] = work_queue_rebuild_begin_lua,
    [SCRIPT_RESTORE] = work_queue_restore_lua,
    [SCRIPT_REBUILD_END] = work_queue_rebuild_end_lua,
    [SCRIPT_BEAT] = work_queue_beat_lua,
    [SCRIPT_BEATS] = work_queue_beats_lua,
    [SCRIPT_COUNTS] = work_queue_counts_lua,
};

void script_call_init(struct work_queue *queue)
{
    for (int i = 0; i < SCRIPT_COUNT; i++)
        queue->script[i].text = script_text[i];
}

void script_call_begin(struct work_queue *queue)
{
    queue->argument_count = 2; /* EVALSHA and the hash */
    queue->argument[queue->argument_count++] = "1";
    queue->argument[queue->argument_count++] = queue->life;
}

void script_call_give(struct work_queue *queue, const char *text)
{
    must(queue->argument_count < ARGUMENT_COUNT_MAX);
    queue->argument[queue->argument_count++] = text;
}

enum error_code script_call_run(struct work_queue *queue, enum script_name name,
                                struct redisReply **reply, struct error *err)
{
    return redis_connection_run(queue->connection, &queue->script[name], queue->argument_count,
                                queue->argument, reply, err);
}

enum error_code script_call_run_number(struct work_queue *queue, enum script_name name,
                                       int64_t *number, struct error *err)
{
    struct redisReply *reply = NULL;
    const enum error_code rc = script_call_run(queue, name, &reply, err);
    *number = redis_reply_integer(reply);
    redis_reply_free(reply);
    return rc;
}

enum error_code script_call_command(struct work_queue *queue, int argc, const char **argv,
                                    struct redisReply **reply, struct error *err)
{
    return redis_connection_call(queue->connection, argc, argv, reply, err);
}

enum error_code script_call_wait(struct work_queue *queue, int argc, const char **argv,
                                 struct redisReply **reply, struct error *err)
{
    return redis_connection_wait(queue->connection, argc, argv, stop_signal_seen, reply, err);
}
