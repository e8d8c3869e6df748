#include "store/queue/work_queue.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "store/queue/queue_reply.h"
#include "store/queue/script_call.h"
#include "store/redis/redis_connection.h"
#include "store/redis/redis_exposure.h"
#include "store/redis/redis_policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    DEFAULT_LEASE_MS = 10000,
    DEFAULT_CRASHES =
        20, /* pre-emption is no fault of a unit, but a unit that kills its worker each time is */
    BEAT_LIFE_MS = 15000,
    BLOCK_SLICE_MS = 250, /* between two checks of the stop signal and of the queue */
};

static enum error_code copy_name(char *target, size_t size, const char *name, const char *what,
                                 struct error *err)
{
    if (!name || !name[0] || !text_copy(target, size, name))
        return error_set(err, ERROR_INVALID, "%s is '%s', expected 1 to %zu bytes", what,
                         name ? name : "", size - 1);
    return ERROR_NONE;
}

static bool is_key_name(const char *text)
{
    return text && text[0] && !strpbrk(text, "{}*?[]\\");
}

static enum error_code set_names(struct work_queue *q, const struct work_queue_config *config,
                                 struct error *err)
{
    const char *run = config->run_id ? config->run_id : "",
               *store = config->store_id ? config->store_id : "";
    if (!is_key_name(store))
        return error_set(err, ERROR_INVALID, "'%s' is no identity of a store", store);
    const int size = snprintf(q->stem, sizeof q->stem, "{%s:%s}:", store, run);
    if (!is_key_name(run) || size < 0 || (size_t)size >= sizeof q->stem)
        return error_set(err, ERROR_INVALID, "'%s' is no run id that keys of Redis can hold", run);
    (void)snprintf(q->life, sizeof q->life, "%slife", q->stem);
    enum error_code rc =
        copy_name(q->worker, sizeof q->worker, config->worker, "the name of the worker", err);
    if (rc == ERROR_NONE && config->stage)
        rc = copy_name(q->stage, sizeof q->stage, config->stage, "the stage", err);
    (void)snprintf(q->stream, sizeof q->stream, "%squeue:%s", q->stem, q->stage);
    return rc;
}

static enum error_code check_policy(struct redis_connection *connection, struct error *err)
{
    return redis_policy_check(connection, "parts of the queue", err);
}

enum error_code work_queue_check_policy(struct work_queue *queue, struct error *err)
{
    return check_policy(queue->connection, err);
}

static enum error_code check_exposure(struct redis_connection *connection, const char *url,
                                      const char *password_file, struct error *err)
{
    struct redis_address address;
    redis_exposure_warn_file(password_file);
    const enum error_code rc = redis_address_parse(url, &address, err);
    return rc == ERROR_NONE && !password_file ? redis_exposure_warn(connection, &address, err) : rc;
}

enum error_code work_queue_check_server(const char *url, const char *password_file,
                                        struct error *err)
{
    struct redis_connection *connection = NULL;
    struct redisReply *reply = NULL;
    const char *argv[] = {"PING"};
    enum error_code rc = redis_connection_new(url, password_file, &connection, err);
    if (rc == ERROR_NONE)
        rc = redis_connection_call(connection, 1, argv, &reply, err);
    if (rc == ERROR_NONE)
        rc = redis_version_check(connection, err);
    if (rc == ERROR_NONE)
        rc = check_policy(connection, err);
    if (rc == ERROR_NONE)
        rc = check_exposure(connection, url, password_file, err);
    redis_reply_free(reply);
    redis_connection_free(connection);
    if (rc == ERROR_UNAVAILABLE)
        return error_context(err, rc,
                             "no work queue; does a redis-server listen there, and on that port");
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
    if (rc == ERROR_NONE && !config->stage)
        rc = check_policy(q->connection, err);
    if (rc != ERROR_NONE) {
        work_queue_close(q);
        return rc;
    }
    script_call_init(q);
    q->lease_ms = config->lease_ms > 0 ? config->lease_ms : DEFAULT_LEASE_MS;
    const int64_t beat_life = 3 * q->lease_ms > BEAT_LIFE_MS ? 3 * q->lease_ms : BEAT_LIFE_MS;
    (void)snprintf(q->lease_text, NUMBER_SIZE, "%" PRId64, q->lease_ms);
    (void)snprintf(q->beat_life_text, NUMBER_SIZE, "%" PRId64, beat_life);
    (void)snprintf(q->crash_limit_text, NUMBER_SIZE, "%d",
                   config->crash_limit > 0 ? config->crash_limit : DEFAULT_CRASHES);
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

static bool scan_is_due(const struct work_queue *q)
{
    return q->scanned_ms == 0 || clock_ms() - q->scanned_ms >= q->lease_ms / 3;
}

/* Returns how claim_now() treats our own pending entries. A handle that claims for the first time
 * may belong to a worker that died; one that lost its connection only missed an answer. */
static const char *own_pending(const struct work_queue *q, int64_t generation)
{
    if (q->claimed_generation == generation)
        return "0";
    return q->claimed_generation == 0 ? "2" : "1";
}

/* Claims a unit that is available now. Own pending entries are checked once for each connection,
 * because only a lost connection leaves any; expired ones every third of a lease, or when idle. */
static enum error_code claim_now(struct work_queue *q, enum claim_result *result,
                                 struct work_claim *out, struct error *err)
{
    struct redisReply *reply = NULL;
    const int64_t now = clock_ms();
    const bool scan = scan_is_due(q);
    const int64_t generation = redis_connection_generation(q->connection);
    script_call_begin(q);
    script_call_give(q, q->stage);
    script_call_give(q, q->worker);
    script_call_give(q, q->lease_text);
    script_call_give(q, q->crash_limit_text);
    script_call_give(q, own_pending(q, generation));
    script_call_give(q, scan ? "1" : "0");
    enum error_code rc = script_call_run(q, SCRIPT_CLAIM, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_claim(reply, result, out, err);
    redis_reply_free(reply);
    if (rc != ERROR_NONE)
        return rc;
    q->claimed_generation = generation;
    if (scan)
        q->scanned_ms = now;
    return ERROR_NONE;
}

/* Waits for a new entry. If the stream vanishes meanwhile, this is no error: claim_now() finds the
 * queue lost. */
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
    if (rc == ERROR_NONE)
        rc = queue_reply_entry(reply, result, out, err);
    else if (rc == ERROR_NOT_FOUND)
        rc = ERROR_NONE;
    redis_reply_free(reply);
    return rc;
}

/* Claims a unit. A worker that goes from unit to unit makes one call, the blocking one, which
 * returns at once if an entry waits. Other claims, and whether the queue is alive, are only checked
 * when there is a reason. */
static enum error_code claim_any(struct work_queue *queue, int64_t block_ms,
                                 enum claim_result *result, struct work_claim *out,
                                 struct error *err)
{
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

enum error_code work_queue_claim(struct work_queue *queue, int64_t block_ms,
                                 enum claim_result *result, struct work_claim *out,
                                 struct error *err)
{
    bool fenced = false;
    must(queue->stage[0]);
    *out = (struct work_claim){0};
    enum error_code rc = claim_any(queue, block_ms, result, out, err);
    memcpy(out->owner, queue->worker, sizeof out->owner);
    if (rc == ERROR_NONE && *result == CLAIM_REFUSED)
        rc = work_queue_give_back(queue, out, &fenced, err);
    return rc;
}

/* Adds the arguments that identify the delivery. */
static void give_claim(struct work_queue *q, const struct work_claim *claim,
                       char deliveries[NUMBER_SIZE])
{
    (void)snprintf(deliveries, NUMBER_SIZE, "%" PRId64, claim->delivery_count);
    script_call_begin(q);
    script_call_give(q, q->stage);
    script_call_give(q, claim->owner);
    script_call_give(q, claim->id);
    script_call_give(q, deliveries);
}

/* Sends one part of completing a unit; the last part removes the entry. */
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

/* Runs a script that takes the unit from its holder. *fenced: the worker does not hold it any
 * more. */
static enum error_code let_go(struct work_queue *queue, enum script_name script,
                              const struct work_claim *claim, bool *fenced, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    int64_t held = 0;
    give_claim(queue, claim, deliveries);
    script_call_give(queue, claim->unit);
    const enum error_code rc = script_call_run_number(queue, script, &held, err);
    *fenced = rc == ERROR_NONE && held == 0;
    return rc;
}

enum error_code work_queue_give_back(struct work_queue *queue, const struct work_claim *claim,
                                     bool *fenced, struct error *err)
{
    return let_go(queue, SCRIPT_GIVE_BACK, claim, fenced, err);
}

enum error_code work_queue_hand_back(struct work_queue *queue, const struct work_claim *claim,
                                     bool *fenced, struct error *err)
{
    return let_go(queue, SCRIPT_HAND_BACK, claim, fenced, err);
}

enum error_code work_queue_exchange(struct work_queue *queue, struct work_claim *claim,
                                    char (*wanted)[QUEUE_UNIT_SIZE], int count, struct error *err)
{
    char deliveries[NUMBER_SIZE];
    struct redisReply *reply = NULL;
    enum claim_result result = CLAIM_NOTHING;
    struct work_claim other = {0};
    must(count <= EXCHANGE_COUNT_MAX && !claim->is_copy);
    give_claim(queue, claim, deliveries);
    script_call_give(queue, claim->unit);
    for (int i = 0; i < count; i++)
        script_call_give(queue, wanted[i]);
    enum error_code rc = script_call_run(queue, SCRIPT_EXCHANGE, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_claim(reply, &result, &other, err);
    redis_reply_free(reply);
    if (rc != ERROR_NONE || result != CLAIM_UNIT)
        return rc;
    memcpy(other.owner, queue->worker, sizeof other.owner);
    *claim = other;
    return ERROR_NONE;
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
    *found = false;
    unit[0] = reason[0] = '\0';
    script_call_begin(queue);
    enum error_code rc = script_call_run(queue, SCRIPT_FIRST_DEAD, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_dead(reply, found, unit, reason, reason_size, err);
    redis_reply_free(reply);
    return rc;
}

enum error_code work_queue_forget_dead(struct work_queue *queue, const char *unit,
                                       struct error *err)
{
    struct redisReply *reply = NULL;
    char key[RUN_KEY_SIZE];
    (void)snprintf(key, sizeof key, "%squeued", queue->stem);
    const char *argv[] = {"HDEL", key, unit};
    const enum error_code rc = script_call_command(queue, 3, argv, &reply, err);
    redis_reply_free(reply);
    return rc;
}

enum error_code work_queue_held(struct work_queue *queue, struct held_unit *out, int capacity,
                                int *count, struct error *err)
{
    struct redisReply *reply = NULL;
    char most[NUMBER_SIZE];
    *count = 0;
    (void)snprintf(most, sizeof most, "%d", capacity);
    const char *argv[] = {"XPENDING", queue->stream, "workers", "-", "+", most};
    enum error_code rc = script_call_command(queue, 6, argv, &reply, err);
    if (rc == ERROR_NONE)
        rc = queue_reply_held(reply, out, capacity, count, err);
    else if (rc == ERROR_NOT_FOUND) /* no group yet: nobody holds anything */
        rc = ERROR_NONE;
    redis_reply_free(reply);
    return rc;
}

enum error_code work_queue_begin_copy(struct work_queue *queue, const struct held_unit *held,
                                      int64_t hold_ms, bool *begun, struct work_claim *out,
                                      struct error *err)
{
    struct redisReply *reply = NULL;
    char deliveries[NUMBER_SIZE], hold[NUMBER_SIZE];
    *out = (struct work_claim){.delivery_count = held->delivery_count, .is_copy = true};
    memcpy(out->id, held->id, sizeof out->id);
    memcpy(out->owner, held->owner, sizeof out->owner);
    (void)snprintf(hold, sizeof hold, "%" PRId64, hold_ms);
    give_claim(queue, out, deliveries);
    script_call_give(queue, queue->worker);
    script_call_give(queue, hold);
    const enum error_code rc = script_call_run(queue, SCRIPT_BEGIN_COPY, &reply, err);
    *begun = rc == ERROR_NONE && queue_reply_unit(reply, out->unit);
    redis_reply_free(reply);
    return rc;
}
