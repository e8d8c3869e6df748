#include "store/work_queue.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "store/redis_connection.h"
#include "store/script_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    DEFAULT_LEASE_MS = 10000,
    DEFAULT_DELIVERIES = 3,
    BEAT_LIFE_MS = 15000,
    BLOCK_SLICE_MS = 250, /* between two looks at the stop signal and the state of the queue */
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
    script_call_init(q);
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

static enum error_code take_claim(const char *unit, const char *id, int64_t deliveries,
                                  struct work_claim *out, struct error *err)
{
    if (!unit[0] || !text_copy(out->unit, sizeof out->unit, unit) ||
        !text_copy(out->id, sizeof out->id, id))
        return error_set(err, ERROR_CORRUPT, "queue entry %s has no unit: '%.100s'", id, unit);
    out->delivery_count = deliveries;
    return ERROR_NONE;
}

static bool scan_is_due(const struct work_queue *q)
{
    return q->scanned_ms == 0 || clock_ms() - q->scanned_ms >= q->lease_ms / 3;
}

/* Claims what is there at this moment. Own pending entries are looked at once for each connection,
 * because only a lost connection leaves any; expired ones every third of a lease, or when idle. */
static enum error_code claim_now(struct work_queue *q, enum claim_result *result,
                                 struct work_claim *out, struct error *err)
{
    struct redisReply *reply = NULL;
    const int64_t now = clock_ms();
    const bool scan = scan_is_due(q);
    script_call_begin(q);
    script_call_give(q, q->stage);
    script_call_give(q, q->worker);
    script_call_give(q, q->lease_text);
    script_call_give(q, q->deliveries_text);
    const int64_t generation = redis_connection_generation(q->connection);
    script_call_give(q, q->claimed_generation == generation ? "0" : "1");
    script_call_give(q, scan ? "1" : "0");
    enum error_code rc = script_call_run(q, SCRIPT_CLAIM, &reply, err);
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
    enum error_code rc = script_call_wait(q, (int)(sizeof argv / sizeof *argv), argv, &reply, err);
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

/* A worker that goes from unit to unit only waits, which takes what is there at once: one call. All else
 * that can be claimed, and whether the queue lives at all, is looked at when there is reason to. */
enum error_code work_queue_claim(struct work_queue *queue, int64_t block_ms,
                                 enum claim_result *result, struct work_claim *out,
                                 struct error *err)
{
    must(queue->stage[0]);
    const int64_t until = clock_ms() + block_ms;
    bool look = block_ms == 0 || scan_is_due(queue) ||
                queue->claimed_generation != redis_connection_generation(queue->connection);
    *result = CLAIM_NOTHING;
    for (;; look = true) {
        enum error_code rc = look ? claim_now(queue, result, out, err) : ERROR_NONE;
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
    script_call_begin(q);
    script_call_give(q, q->stage);
    script_call_give(q, q->worker);
    script_call_give(q, claim->id);
    script_call_give(q, deliveries);
}

/* One part of completing a unit; the last part gives the entry up. */
static enum error_code complete_part(struct work_queue *q, const struct work_claim *claim,
                                     const struct work_successor *successor, int64_t count,
                                     bool last, int64_t *done_count, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    give_claim(q, claim, deliveries);
    script_call_give(q, claim->unit);
    script_call_give(q, last ? "1" : "0");
    for (int64_t i = 0; i < count; i++) {
        (void)snprintf(q->number[i], NUMBER_SIZE, "%" PRId32, successor[i].prerequisite_count);
        script_call_give(q, successor[i].unit);
        script_call_give(q, successor[i].stage);
        script_call_give(q, q->number[i]);
    }
    return script_call_run_number(q, SCRIPT_COMPLETE, done_count, err);
}

enum error_code work_queue_complete(struct work_queue *queue, const struct work_claim *claim,
                                    const struct work_successor *successor, int64_t successor_count,
                                    int64_t *done_count, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *done_count = 1;
    for (; successor_count > PART_SIZE && rc == ERROR_NONE && *done_count;
         successor += PART_SIZE, successor_count -= PART_SIZE)
        rc = complete_part(queue, claim, successor, PART_SIZE, false, done_count, err);
    if (rc == ERROR_NONE && *done_count)
        rc = complete_part(queue, claim, successor, successor_count, true, done_count, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "completing %s", claim->unit);
}

enum error_code work_queue_renew(struct work_queue *queue, const struct work_claim *claim,
                                 bool *fenced, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    int64_t held = 0;
    give_claim(queue, claim, deliveries);
    const enum error_code rc = script_call_run_number(queue, SCRIPT_RENEW, &held, err);
    *fenced = rc == ERROR_NONE && held == 0;
    return rc;
}

enum error_code work_queue_give_back(struct work_queue *queue, const struct work_claim *claim,
                                     bool *fenced, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    int64_t held = 0;
    give_claim(queue, claim, deliveries);
    script_call_give(queue, claim->unit);
    const enum error_code rc = script_call_run_number(queue, SCRIPT_GIVE_BACK, &held, err);
    *fenced = rc == ERROR_NONE && held == 0;
    return rc;
}

enum error_code work_queue_bury(struct work_queue *queue, const struct work_claim *claim,
                                const char *reason, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    int64_t held = 0;
    give_claim(queue, claim, deliveries);
    script_call_give(queue, claim->unit);
    script_call_give(queue, reason);
    return script_call_run_number(queue, SCRIPT_BURY, &held, err);
}

enum error_code work_queue_first_dead(struct work_queue *queue, bool *found,
                                      char unit[QUEUE_UNIT_SIZE], char *reason, size_t reason_size,
                                      struct error *err)
{
    struct redisReply *reply = NULL;
    char key[RUN_KEY_SIZE];
    (void)snprintf(key, sizeof key, "%sdead", queue->stem);
    const char *argv[] = {"XRANGE", key, "-", "+", "COUNT", "1"};
    const enum error_code rc = script_call_command(queue, 6, argv, &reply, err);
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
