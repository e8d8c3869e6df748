/*
 * script_call - the handle of the work queue, and calls of its scripts, put together argument by
 * argument.
 *
 * Only work_queue*.c include it; for all other code `struct work_queue` is opaque.
 */
#ifndef STORE_QUEUE_SCRIPT_CALL_H
#define STORE_QUEUE_SCRIPT_CALL_H

#include "common/base/error.h"
#include "store/queue/work_queue.h"
#include "store/redis/redis_connection.h"

#include <stdint.h>

enum {
    PART_SIZE = 512, /* successors, or prerequisites, in one script call */
    NUMBER_SIZE = 24,
    STEM_SIZE = 160,
    RUN_KEY_SIZE = STEM_SIZE + 32,
    TOKEN_SIZE = 112, /* a worker's name and a time */
    ARGUMENT_COUNT_MAX = 16 + 3 * PART_SIZE,
};

/* Each is the script scripts/<name>.lua. */
enum script_name {
    SCRIPT_CLAIM,
    SCRIPT_COMPLETE,
    SCRIPT_RENEW,
    SCRIPT_GIVE_BACK,
    SCRIPT_HAND_BACK,
    SCRIPT_EXCHANGE,
    SCRIPT_BURY,
    SCRIPT_FIRST_DEAD,
    SCRIPT_BEGIN_COPY,
    SCRIPT_LOOK,
    SCRIPT_TAKE_CHARGE,
    SCRIPT_REBUILD_BEGIN,
    SCRIPT_RESTORE,
    SCRIPT_REBUILD_END,
    SCRIPT_BEAT,
    SCRIPT_BEATS,
    SCRIPT_COUNTS,
    SCRIPT_RETIRE,
    SCRIPT_COUNT
};

/* The texts of those files; scripts/embed.cmake generates the array. */
extern const char *const queue_script_text[SCRIPT_COUNT];

struct work_queue {
    struct redis_connection *connection;
    struct redis_script script[SCRIPT_COUNT];
    char stem[STEM_SIZE]; /* "{store:run}:" */
    char life[RUN_KEY_SIZE];
    char stream[RUN_KEY_SIZE];
    char worker[WORKER_NAME_SIZE];
    char stage[STAGE_NAME_SIZE]; /* "" if there is none */
    char lease_text[NUMBER_SIZE], crash_limit_text[NUMBER_SIZE], beat_life_text[NUMBER_SIZE];
    int64_t lease_ms;
    int64_t claimed_generation; /* the connection whose own pending entries were already checked */
    int64_t scanned_ms;         /* when expired entries were last searched */
    char token[TOKEN_SIZE];     /* identifies our rebuild */
    int64_t restored_count;
    /* The script call that is being built. */
    const char *argument[ARGUMENT_COUNT_MAX];
    int argument_count;
    char number[PART_SIZE][NUMBER_SIZE];
};

/* Sets the texts of the scripts in a new handle. */
void script_call_init(struct work_queue *queue);

/* Begin a script call, then give it arguments one by one, then run it. The arguments must stay
 * valid until then. */
void script_call_begin(struct work_queue *queue);
void script_call_give(struct work_queue *queue, const char *text);
/* Runs the script. The caller frees *reply whether it fails or not. Fails: as
 * redis_connection_run(), except that keys with unexpected contents empty the queue: the code is
 * then ERROR_BUSY, and the next claim finds the queue lost. The same holds for every call below. */
MUST_CHECK enum error_code script_call_run(struct work_queue *queue, enum script_name name,
                                           struct redisReply **reply, struct error *err);
/* Runs a script whose answer is one number. */
MUST_CHECK enum error_code script_call_run_number(struct work_queue *queue, enum script_name name,
                                                  int64_t *number, struct error *err);
/* Runs a plain command. */
MUST_CHECK enum error_code script_call_command(struct work_queue *queue, int argc,
                                               const char **argv, struct redisReply **reply,
                                               struct error *err);

/* Runs a plain command that blocks. *reply is NULL if the stop signal ended it. */
MUST_CHECK enum error_code script_call_wait(struct work_queue *queue, int argc, const char **argv,
                                            struct redisReply **reply, struct error *err);

#endif
