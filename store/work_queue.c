#include "store/work_queue.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "store/redis_connection.h"
#include "store/work_queue_scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_LEASE_MS = 10000,
    DEFAULT_DELIVERIES = 3,
    BEAT_LIFE_MS = 15000,
    BLOCK_SLICE_MS = 250, /* between two looks at the stop signal and the state of the queue */
    PART_SIZE = 512,      /* successors, or prerequisites, of one script call */
    NUMBER_SIZE = 24,
    STEM_SIZE = 100,
    RUN_KEY_SIZE = STEM_SIZE + 32,
    TOKEN_SIZE = 112,
    ARGUMENT_COUNT_MAX = 16 + 3 * PART_SIZE,
    SCAN_COUNT = 512,
};

enum script_name {
    SCRIPT_CLAIM,
    SCRIPT_COMPLETE,
    SCRIPT_RENEW,
    SCRIPT_GIVE_BACK,
    SCRIPT_BURY,
    SCRIPT_REBUILD_BEGIN,
    SCRIPT_RESTORE,
    SCRIPT_REBUILD_END,
    SCRIPT_BEAT,
    SCRIPT_BEATS,
    SCRIPT_COUNTS,
    SCRIPT_COUNT
};

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

struct work_queue {
    struct redis_connection *connection;
    struct redis_script script[SCRIPT_COUNT];
    char stem[STEM_SIZE]; /* "{run}:" */
    char life[RUN_KEY_SIZE];
    char stream[RUN_KEY_SIZE];
    char worker[WORKER_NAME_SIZE];
    char stage[STAGE_NAME_SIZE]; /* "": none */
    char lease_text[NUMBER_SIZE], deliveries_text[NUMBER_SIZE], beat_life_text[NUMBER_SIZE];
    int64_t lease_ms;
    int64_t claimed_generation; /* the connection whose own pending entries were looked at */
    int64_t scanned_ms;         /* when expired entries were last looked for */
    char token[TOKEN_SIZE];     /* of our rebuild */
    /* The call that is being put together. */
    const char *argument[ARGUMENT_COUNT_MAX];
    int argument_count;
    char number[PART_SIZE][NUMBER_SIZE];
};

static enum error_code copy_name(char *target, size_t size, const char *name, const char *what,
                                 struct error *err)
{
    if (!name || !name[0] || !text_copy(target, size, name))
        return error_set(err, ERROR_INVALID, "%s is '%s', expected 1 to %zu bytes", what,
                         name ? name : "", size - 1);
    return ERROR_NONE;
}

static enum error_code set_names(struct work_queue *q, const struct work_queue_config *config,
                                 struct error *err)
{
    const char *run = config->run_id ? config->run_id : "";
    const int size = snprintf(q->stem, sizeof q->stem, "{%s}:", run);
    if (!run[0] || strpbrk(run, "{}*?[]\\") || size < 0 || (size_t)size >= sizeof q->stem)
        return error_set(err, ERROR_INVALID, "'%s' is no run id that keys of Redis can hold", run);
    (void)snprintf(q->life, sizeof q->life, "%slife", q->stem);
    enum error_code rc =
        copy_name(q->worker, sizeof q->worker, config->worker, "the name of the worker", err);
    if (rc == ERROR_NONE && config->stage)
        rc = copy_name(q->stage, sizeof q->stage, config->stage, "the stage", err);
    (void)snprintf(q->stream, sizeof q->stream, "%squeue:%s", q->stem, q->stage);
    return rc;
}

enum error_code work_queue_open(const struct work_queue_config *config, struct work_queue **out,
                                struct error *err)
{
    struct work_queue *q = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&q, 1, "a work queue", err);
    if (rc == ERROR_NONE)
        rc = set_names(q, config, err);
    if (rc == ERROR_NONE)
        rc = redis_connection_new(config->url, config->password_file, &q->connection, err);
    if (rc != ERROR_NONE) {
        work_queue_close(q);
        return rc;
    }
    for (int i = 0; i < SCRIPT_COUNT; i++)
        q->script[i].text = script_text[i];
    q->lease_ms = config->lease_ms > 0 ? config->lease_ms : DEFAULT_LEASE_MS;
    const int64_t beat_life = 3 * q->lease_ms > BEAT_LIFE_MS ? 3 * q->lease_ms : BEAT_LIFE_MS;
    (void)snprintf(q->lease_text, NUMBER_SIZE, "%" PRId64, q->lease_ms);
    (void)snprintf(q->beat_life_text, NUMBER_SIZE, "%" PRId64, beat_life);
    (void)snprintf(q->deliveries_text, NUMBER_SIZE, "%d",
                   config->max_deliveries > 0 ? config->max_deliveries : DEFAULT_DELIVERIES);
    *out = q;
    return ERROR_NONE;
}

void work_queue_close(struct work_queue *queue)
{
    if (!queue)
        return;
    redis_connection_free(queue->connection);
    memory_free(queue);
}

/* A script call is begun, given arguments one by one, and run. */
static void begin(struct work_queue *q)
{
    q->argument_count = 2; /* EVALSHA and the hash */
    q->argument[q->argument_count++] = "1";
    q->argument[q->argument_count++] = q->life;
}

static void give(struct work_queue *q, const char *text)
{
    must(q->argument_count < ARGUMENT_COUNT_MAX);
    q->argument[q->argument_count++] = text;
}

static enum error_code run(struct work_queue *q, enum script_name name, struct redisReply **reply,
                           struct error *err)
{
    return redis_connection_run(q->connection, &q->script[name], q->argument_count, q->argument,
                                reply, err);
}

/* Runs a script that answers one number. */
static enum error_code run_number(struct work_queue *q, enum script_name name, int64_t *number,
                                  struct error *err)
{
    struct redisReply *reply = NULL;
    const enum error_code rc = run(q, name, &reply, err);
    *number = redis_reply_integer(reply);
    redis_reply_free(reply);
    return rc;
}

/* Runs a plain command. */
static enum error_code call(struct work_queue *q, int argc, const char **argv,
                            struct redisReply **reply, struct error *err)
{
    return redis_connection_call(q->connection, argc, argv, reply, err);
}

static enum error_code take_claim(const char *unit, const char *id, int64_t deliveries,
                                  struct work_claim *out, struct error *err)
{
    if (!unit[0] || !text_copy(out->unit, sizeof out->unit, unit) ||
        !text_copy(out->id, sizeof out->id, id))
        return error_set(err, ERROR_CORRUPT, "queue entry %s has no unit: '%.100s'", id, unit);
    out->delivery_count = deliveries;
    return ERROR_NONE;
}

/* Claims what is there at this moment. Own pending entries are looked at once for each connection,
 * because only a lost connection leaves any; expired ones every third of a lease, or when idle. */
static enum error_code claim_now(struct work_queue *q, enum claim_result *result,
                                 struct work_claim *out, struct error *err)
{
    struct redisReply *reply = NULL;
    const int64_t now = clock_ms();
    const bool scan = q->scanned_ms == 0 || now - q->scanned_ms >= q->lease_ms / 3;
    begin(q);
    give(q, q->stage);
    give(q, q->worker);
    give(q, q->lease_text);
    give(q, q->deliveries_text);
    const int64_t generation = redis_connection_generation(q->connection);
    give(q, q->claimed_generation == generation ? "0" : "1");
    give(q, scan ? "1" : "0");
    enum error_code rc = run(q, SCRIPT_CLAIM, &reply, err);
    if (rc != ERROR_NONE)
        goto cleanup;
    q->claimed_generation = generation;
    if (scan)
        q->scanned_ms = now;
    const char *word = redis_reply_text(redis_reply_item(reply, 0));
    *result = strcmp(word, "unit") == 0   ? CLAIM_UNIT
              : strcmp(word, "lost") == 0 ? CLAIM_LOST
                                          : CLAIM_NOTHING;
    if (*result == CLAIM_UNIT)
        rc = take_claim(redis_reply_text(redis_reply_item(reply, 1)),
                        redis_reply_text(redis_reply_item(reply, 2)),
                        redis_reply_integer(redis_reply_item(reply, 3)), out, err);
cleanup:
    redis_reply_free(reply);
    return rc;
}

/* Waits for a new entry. A stream that vanishes meanwhile is no error: claim_now() tells. */
static enum error_code claim_blocked(struct work_queue *q, int64_t block_ms,
                                     enum claim_result *result, struct work_claim *out,
                                     struct error *err)
{
    struct redisReply *reply = NULL;
    char block[NUMBER_SIZE];
    (void)snprintf(block, sizeof block, "%" PRId64, block_ms);
    const char *argv[] = {"XREADGROUP", "GROUP", "workers", q->worker, "COUNT", "1",
                          "BLOCK",      block,   "STREAMS", q->stream, ">"};
    enum error_code rc = call(q, (int)(sizeof argv / sizeof *argv), argv, &reply, err);
    if (rc == ERROR_NOT_FOUND)
        rc = ERROR_NONE;
    const struct redisReply *stream = redis_reply_item(reply, 0);
    const struct redisReply *entry = redis_reply_item(redis_reply_item(stream, 1), 0);
    if (rc == ERROR_NONE && entry) {
        *result = CLAIM_UNIT;
        rc = take_claim(redis_reply_text(redis_reply_item(redis_reply_item(entry, 1), 1)),
                        redis_reply_text(redis_reply_item(entry, 0)), 1, out, err);
    }
    redis_reply_free(reply);
    return rc;
}

enum error_code work_queue_claim(struct work_queue *queue, int64_t block_ms,
                                 enum claim_result *result, struct work_claim *out,
                                 struct error *err)
{
    must(queue->stage[0]);
    const int64_t until = clock_ms() + block_ms;
    *result = CLAIM_NOTHING;
    for (;;) {
        enum error_code rc = claim_now(queue, result, out, err);
        const int64_t left = until - clock_ms();
        if (rc != ERROR_NONE || *result != CLAIM_NOTHING || left <= 0 || stop_signal_seen())
            return rc;
        rc = claim_blocked(queue, left < BLOCK_SLICE_MS ? left : BLOCK_SLICE_MS, result, out, err);
        if (rc != ERROR_NONE || *result != CLAIM_NOTHING || stop_signal_seen())
            return rc;
    }
}

/* The arguments that say which delivery is meant. */
static void give_claim(struct work_queue *q, const struct work_claim *claim,
                       char deliveries[NUMBER_SIZE])
{
    (void)snprintf(deliveries, NUMBER_SIZE, "%" PRId64, claim->delivery_count);
    begin(q);
    give(q, q->stage);
    give(q, q->worker);
    give(q, claim->id);
    give(q, deliveries);
}

/* One part of completing a unit; the last part gives the entry up. */
static enum error_code complete_part(struct work_queue *q, const struct work_claim *claim,
                                     const struct work_successor *successor, int64_t count,
                                     bool last, bool *fenced, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    int64_t held = 0;
    give_claim(q, claim, deliveries);
    give(q, claim->unit);
    give(q, last ? "1" : "0");
    for (int64_t i = 0; i < count; i++) {
        (void)snprintf(q->number[i], NUMBER_SIZE, "%" PRId32, successor[i].prerequisite_count);
        give(q, successor[i].unit);
        give(q, successor[i].stage);
        give(q, q->number[i]);
    }
    const enum error_code rc = run_number(q, SCRIPT_COMPLETE, &held, err);
    *fenced = rc == ERROR_NONE && held == 0;
    return rc;
}

enum error_code work_queue_complete(struct work_queue *queue, const struct work_claim *claim,
                                    const struct work_successor *successor, int64_t successor_count,
                                    bool *fenced, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *fenced = false;
    for (; successor_count > PART_SIZE && rc == ERROR_NONE && !*fenced;
         successor += PART_SIZE, successor_count -= PART_SIZE)
        rc = complete_part(queue, claim, successor, PART_SIZE, false, fenced, err);
    if (rc == ERROR_NONE && !*fenced)
        rc = complete_part(queue, claim, successor, successor_count, true, fenced, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "completing %s", claim->unit);
}

enum error_code work_queue_renew(struct work_queue *queue, const struct work_claim *claim,
                                 bool *fenced, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    int64_t held = 0;
    give_claim(queue, claim, deliveries);
    const enum error_code rc = run_number(queue, SCRIPT_RENEW, &held, err);
    *fenced = rc == ERROR_NONE && held == 0;
    return rc;
}

enum error_code work_queue_give_back(struct work_queue *queue, const struct work_claim *claim,
                                     bool *fenced, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    int64_t held = 0;
    give_claim(queue, claim, deliveries);
    give(queue, claim->unit);
    const enum error_code rc = run_number(queue, SCRIPT_GIVE_BACK, &held, err);
    *fenced = rc == ERROR_NONE && held == 0;
    return rc;
}

enum error_code work_queue_bury(struct work_queue *queue, const struct work_claim *claim,
                                const char *reason, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    int64_t held = 0;
    give_claim(queue, claim, deliveries);
    give(queue, claim->unit);
    give(queue, reason);
    return run_number(queue, SCRIPT_BURY, &held, err);
}

enum error_code work_queue_first_dead(struct work_queue *queue, bool *found,
                                      char unit[QUEUE_UNIT_SIZE], char *reason, size_t reason_size,
                                      struct error *err)
{
    struct redisReply *reply = NULL;
    char key[RUN_KEY_SIZE];
    (void)snprintf(key, sizeof key, "%sdead", queue->stem);
    const char *argv[] = {"XRANGE", key, "-", "+", "COUNT", "1"};
    const enum error_code rc = call(queue, 6, argv, &reply, err);
    const struct redisReply *fields = redis_reply_item(redis_reply_item(reply, 0), 1);
    *found = fields != NULL;
    unit[0] = reason[0] = '\0';
    if (*found) { /* unit, its name, reason, its text, ... */
        (void)snprintf(unit, QUEUE_UNIT_SIZE, "%s", redis_reply_text(redis_reply_item(fields, 1)));
        (void)snprintf(reason, reason_size, "%s", redis_reply_text(redis_reply_item(fields, 3)));
    }
    redis_reply_free(reply);
    return rc;
}

enum error_code work_queue_rebuild_begin(struct work_queue *queue, bool *won, bool *alive,
                                         struct error *err)
{
    struct redisReply *reply = NULL;
    begin(queue);
    give(queue, queue->worker);
    give(queue, queue->lease_text);
    enum error_code rc = run(queue, SCRIPT_REBUILD_BEGIN, &reply, err);
    *won = redis_reply_integer(redis_reply_item(reply, 0)) == 1;
    *alive = redis_reply_integer(redis_reply_item(reply, 1)) == 1;
    if (*won)
        (void)text_copy(queue->token, sizeof queue->token,
                        redis_reply_text(redis_reply_item(reply, 2)));
    redis_reply_free(reply);
    return rc;
}

/* What a rebuild answers when it has to be begun again. */
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
    begin(q);
    give(q, q->token);
    give(q, q->lease_text);
    give(q, unit->unit);
    give(q, unit->stage);
    give(q, needed);
    for (int64_t i = 0; i < count; i++)
        give(q, done[i]);
    const enum error_code rc = run_number(q, SCRIPT_RESTORE, &kept, err);
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
    begin(queue);
    give(queue, queue->token);
    const enum error_code rc = run_number(queue, SCRIPT_REBUILD_END, &kept, err);
    return rc == ERROR_NONE && kept == 0 ? rebuild_lost(err) : rc;
}

enum error_code work_queue_is_idle(struct work_queue *queue, bool *idle, struct error *err)
{
    struct redisReply *reply = NULL;
    char key[RUN_KEY_SIZE];
    (void)snprintf(key, sizeof key, "%squeued", queue->stem);
    const char *argv[] = {"SCARD", key};
    const enum error_code rc = call(queue, 2, argv, &reply, err);
    *idle = rc == ERROR_NONE && redis_reply_integer(reply) == 0;
    redis_reply_free(reply);
    return rc;
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
        rc = call(q, argc, q->argument, &reply, err);
        redis_reply_free(reply);
    }
    return rc;
}

/* The life goes first, so that nobody works on what is left meanwhile. */
enum error_code work_queue_wipe(struct work_queue *queue, struct error *err)
{
    struct redisReply *reply = NULL;
    const char *unlink_life[] = {"UNLINK", queue->life};
    char pattern[RUN_KEY_SIZE + 2], cursor[NUMBER_SIZE] = "0", count[NUMBER_SIZE];
    (void)snprintf(pattern, sizeof pattern, "%s*", queue->stem);
    (void)snprintf(count, sizeof count, "%d", SCAN_COUNT);
    enum error_code rc = call(queue, 2, unlink_life, &reply, err);
    redis_reply_free(reply);
    while (rc == ERROR_NONE) {
        const char *scan[] = {"SCAN", cursor, "MATCH", pattern, "COUNT", count};
        rc = call(queue, 6, scan, &reply, err);
        if (rc == ERROR_NONE)
            rc = unlink_page(queue, redis_reply_item(reply, 1), err);
        (void)snprintf(cursor, sizeof cursor, "%s", redis_reply_text(redis_reply_item(reply, 0)));
        redis_reply_free(reply);
        if (strcmp(cursor, "0") == 0)
            break;
    }
    return rc;
}

enum error_code work_queue_beat(struct work_queue *queue, const struct worker_beat *beat,
                                struct error *err)
{
    char busy[NUMBER_SIZE];
    const char *const name[] = {"pid", "done", "memory"};
    const int64_t value[] = {beat->pid, beat->done, beat->memory_bytes};
    int64_t written = 0;
    begin(queue);
    give(queue, beat->worker);
    give(queue, queue->beat_life_text);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(queue->number[i], NUMBER_SIZE, "%" PRId64, value[i]);
        give(queue, name[i]);
        give(queue, queue->number[i]);
    }
    (void)snprintf(busy, sizeof busy, "%.4f", beat->busy_share);
    const char *const text[] = {"busy", busy,       "stage", beat->stage,
                                "unit", beat->unit, "host",  beat->host};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        give(queue, text[i]);
    return run_number(queue, SCRIPT_BEAT, &written, err);
}

enum error_code work_queue_counts(struct work_queue *queue, const char *stage,
                                  struct stage_counts *out, struct error *err)
{
    struct redisReply *reply = NULL;
    begin(queue);
    give(queue, stage);
    const enum error_code rc = run(queue, SCRIPT_COUNTS, &reply, err);
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
    begin(queue);
    const enum error_code rc = run(queue, SCRIPT_BEATS, &reply, err);
    for (int64_t i = 0; i < redis_reply_count(reply) && *count < capacity; i++)
        out[(*count)++] = read_beat(redis_reply_item(reply, i));
    if (*count > 0)
        qsort(out, (size_t)*count, sizeof *out, compare_beats);
    redis_reply_free(reply);
    return rc;
}
