#include "store/queue/script_call.h"

#include "common/base/stop_signal.h"
#include "store/queue/queue_reply.h"

void script_call_init(struct work_queue *queue)
{
    for (int i = 0; i < SCRIPT_COUNT; i++) {
        must(queue_script_text[i]);
        queue->script[i].text = queue_script_text[i];
    }
}

void script_call_begin(struct work_queue *queue)
{
    queue->argument_count = 2; /* leaves room for EVALSHA and the hash */
    queue->argument[queue->argument_count++] = "1";
    queue->argument[queue->argument_count++] = queue->life;
}

void script_call_give(struct work_queue *queue, const char *text)
{
    must(queue->argument_count < ARGUMENT_COUNT_MAX);
    queue->argument[queue->argument_count++] = text;
}

/* Empties the queue if its keys are damaged. Repairing them is not worth it, because the store
 * knows everything. */
static enum error_code empty_if_damaged(struct work_queue *queue, enum error_code rc,
                                        struct error *err)
{
    struct error of_wipe = {0};
    if (rc != ERROR_CORRUPT)
        return rc;
    rc = work_queue_wipe(queue, &of_wipe);
    if (rc != ERROR_NONE) {
        if (err)
            *err = of_wipe;
        return rc;
    }
    return error_context(err, ERROR_BUSY,
                         "the queue was damaged; it is emptied and filled from storage");
}

enum error_code script_call_run(struct work_queue *queue, enum script_name name,
                                struct redisReply **reply, struct error *err)
{
    const enum error_code rc =
        redis_connection_run(queue->connection, &queue->script[name], queue->argument_count,
                             queue->argument, reply, err);
    return empty_if_damaged(queue, rc, err);
}

enum error_code script_call_run_number(struct work_queue *queue, enum script_name name,
                                       int64_t *number, struct error *err)
{
    struct redisReply *reply = NULL;
    *number = 0;
    enum error_code rc = script_call_run(queue, name, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_number(reply, number, err);
    redis_reply_free(reply);
    return rc;
}

enum error_code script_call_command(struct work_queue *queue, int argc, const char **argv,
                                    struct redisReply **reply, struct error *err)
{
    const enum error_code rc = redis_connection_call(queue->connection, argc, argv, reply, err);
    return empty_if_damaged(queue, rc, err);
}

enum error_code script_call_wait(struct work_queue *queue, int argc, const char **argv,
                                 struct redisReply **reply, struct error *err)
{
    const enum error_code rc =
        redis_connection_wait(queue->connection, argc, argv, stop_signal_seen, reply, err);
    return empty_if_damaged(queue, rc, err);
}
