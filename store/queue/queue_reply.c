#include "store/queue/queue_reply.h"

#include "common/base/text.h"

#include <stdio.h>
#include <string.h>

static enum error_code bad_shape(const char *what, struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE,
                     "Redis answered %s in a form that no Redis uses; is it a Redis server?", what);
}

/* Reads the integer at `index` of an array. */
static bool integer_at(const struct redisReply *reply, int64_t index, int64_t *out)
{
    return redis_reply_is_integer(redis_reply_item(reply, index), out);
}

/* Copies the text at `index` of an array, if it fits `out`. */
static bool text_at(const struct redisReply *reply, int64_t index, char *out, size_t size)
{
    const struct redisReply *item = redis_reply_item(reply, index);
    return redis_reply_is_text(item) && text_copy(out, size, redis_reply_text(item));
}

/* Copies the start of a text, for messages. */
static void shorten(char *out, size_t size, const struct redisReply *text)
{
    (void)snprintf(out, size, "%s", redis_reply_text(text));
}

enum error_code queue_reply_number(const struct redisReply *reply, int64_t *out, struct error *err)
{
    *out = 0;
    return redis_reply_is_integer(reply, out) ? ERROR_NONE : bad_shape("a script", err);
}

/* Returns whether a text is plain. Names of units are printed, so no other text is accepted. */
static bool is_name(const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c <= ' ' || *c > '~')
            return false;
    return text[0] != '\0';
}

bool queue_reply_unit(const struct redisReply *reply, char unit[QUEUE_UNIT_SIZE])
{
    const char *name = redis_reply_text(reply);
    if (is_name(name) && text_copy(unit, QUEUE_UNIT_SIZE, name))
        return true;
    unit[0] = '\0';
    return false;
}

static enum claim_result name_claim(const struct redisReply *unit, struct work_claim *out)
{
    return queue_reply_unit(unit, out->unit) ? CLAIM_UNIT : CLAIM_REFUSED;
}

enum error_code queue_reply_claim(const struct redisReply *reply, enum claim_result *result,
                                  struct work_claim *out, struct error *err)
{
    const char *word = redis_reply_text(redis_reply_item(reply, 0));
    *result = CLAIM_NOTHING;
    if (strcmp(word, "nothing") == 0)
        return ERROR_NONE;
    if (strcmp(word, "lost") == 0) {
        *result = CLAIM_LOST;
        return ERROR_NONE;
    }
    const bool known = strcmp(word, "unit") == 0 || strcmp(word, "refused") == 0;
    if (!known || !text_at(reply, 2, out->id, sizeof out->id) ||
        !integer_at(reply, 3, &out->delivery_count))
        return bad_shape("a claim", err);
    *result = name_claim(redis_reply_item(reply, 1), out);
    return ERROR_NONE;
}

/* Returns the value of `name` in a flat list of names and values, or NULL. */
static const struct redisReply *field_of(const struct redisReply *fields, const char *name)
{
    for (int64_t i = 0; i + 1 < redis_reply_count(fields); i += 2)
        if (strcmp(redis_reply_text(redis_reply_item(fields, i)), name) == 0)
            return redis_reply_item(fields, i + 1);
    return NULL;
}

enum error_code queue_reply_entry(const struct redisReply *reply, enum claim_result *result,
                                  struct work_claim *out, struct error *err)
{
    *result = CLAIM_NOTHING;
    if (redis_reply_count(reply) == 0) /* nil, or a list without a stream */
        return ERROR_NONE;
    const struct redisReply *entries = redis_reply_item(redis_reply_item(reply, 0), 1);
    if (!redis_reply_is_array(entries))
        return bad_shape("XREADGROUP", err);
    const struct redisReply *entry = redis_reply_item(entries, 0);
    if (redis_reply_count(entries) == 0)
        return ERROR_NONE;
    if (!text_at(entry, 0, out->id, sizeof out->id))
        return bad_shape("XREADGROUP", err);
    out->delivery_count = 1;
    *result = name_claim(field_of(redis_reply_item(entry, 1), "unit"), out);
    return ERROR_NONE;
}

enum error_code queue_reply_dead(const struct redisReply *reply, bool *found,
                                 char unit[QUEUE_UNIT_SIZE], char *reason, size_t reason_size,
                                 struct error *err)
{
    *found = false;
    unit[0] = reason[0] = '\0';
    if (!redis_reply_is_array(reply))
        return bad_shape("the list of dead units", err);
    if (redis_reply_count(reply) == 0)
        return ERROR_NONE;
    if (!text_at(reply, 0, unit, QUEUE_UNIT_SIZE) ||
        !redis_reply_is_text(redis_reply_item(reply, 1)))
        return bad_shape("the list of dead units", err);
    shorten(reason, reason_size, redis_reply_item(reply, 1));
    *found = true;
    return ERROR_NONE;
}

enum error_code queue_reply_rebuild(const struct redisReply *reply, bool *won, bool *alive,
                                    char *token, size_t token_size, struct error *err)
{
    int64_t has_won = 0, is_alive = 0;
    *won = *alive = false;
    if (!integer_at(reply, 0, &has_won) || !integer_at(reply, 1, &is_alive) ||
        !text_at(reply, 2, token, token_size))
        return bad_shape("the beginning of a rebuild", err);
    *won = has_won == 1;
    *alive = is_alive == 1;
    return ERROR_NONE;
}

/* Returns how many entries nobody holds; 0 for numbers that make no sense. */
static int64_t waiting_of(int64_t entries, int64_t leased)
{
    return leased >= 0 && entries > leased ? entries - leased : 0;
}

enum error_code queue_reply_look(const struct redisReply *reply, struct queue_look *out,
                                 struct error *err)
{
    int64_t number[5] = {0};
    *out = (struct queue_look){0};
    for (int i = 0; i < 5; i++)
        if (!integer_at(reply, i, &number[i]))
            return bad_shape("a look at the queue", err);
    *out = (struct queue_look){.alive = number[0] == 1,
                               .may_check = number[1] == 1,
                               .done = number[2],
                               .waiting = waiting_of(number[3], number[4]),
                               .leased = number[4]};
    return ERROR_NONE;
}

enum error_code queue_reply_held(const struct redisReply *reply, struct held_unit *out,
                                 int capacity, int *count, struct error *err)
{
    *count = 0;
    if (!redis_reply_is_array(reply))
        return bad_shape("XPENDING", err);
    for (int64_t i = 0; i < redis_reply_count(reply) && *count < capacity; i++) {
        const struct redisReply *item = redis_reply_item(reply, i);
        struct held_unit *held = &out[*count];
        if (!text_at(item, 0, held->id, sizeof held->id) ||
            !integer_at(item, 3, &held->delivery_count))
            return bad_shape("XPENDING", err);
        /* a consumer name that no worker can have holds nothing that could be completed */
        *count += text_at(item, 1, held->owner, sizeof held->owner);
    }
    return ERROR_NONE;
}

enum error_code queue_reply_counts(const struct redisReply *reply, struct stage_counts *out,
                                   struct error *err)
{
    int64_t number[4] = {0};
    *out = (struct stage_counts){0};
    for (int i = 0; i < 4; i++)
        if (!integer_at(reply, i, &number[i]))
            return bad_shape("the counts of a stage", err);
    *out = (struct stage_counts){.waiting = waiting_of(number[0], number[1]),
                                 .leased = number[1],
                                 .done = number[2],
                                 .retried = number[3]};
    return ERROR_NONE;
}

/* Reads a heartbeat. They are for people, so a missing or odd field is shown empty. */
static struct worker_beat read_beat(const struct redisReply *fields)
{
    struct worker_beat beat = {0};
    int64_t age_ms = 0;
    const struct redisReply *busy = redis_reply_item(fields, 8);
    shorten(beat.worker, sizeof beat.worker, redis_reply_item(fields, 0));
    shorten(beat.stage, sizeof beat.stage, redis_reply_item(fields, 2));
    shorten(beat.unit, sizeof beat.unit, redis_reply_item(fields, 3));
    shorten(beat.host, sizeof beat.host, redis_reply_item(fields, 4));
    shorten(beat.note, sizeof beat.note, redis_reply_item(fields, 9));
    (void)integer_at(fields, 1, &age_ms);
    (void)integer_at(fields, 5, &beat.pid);
    (void)integer_at(fields, 6, &beat.done);
    (void)integer_at(fields, 7, &beat.memory_bytes);
    (void)text_double(redis_reply_text(busy), strlen(redis_reply_text(busy)), &beat.busy_share);
    beat.age_seconds = (double)age_ms / 1000.0;
    return beat;
}

enum error_code queue_reply_beats(const struct redisReply *reply, struct worker_beat *out,
                                  int capacity, int *count, struct error *err)
{
    *count = 0;
    if (!redis_reply_is_array(reply))
        return bad_shape("the heartbeats", err);
    for (int64_t i = 0; i < redis_reply_count(reply) && *count < capacity; i++)
        if (redis_reply_count(redis_reply_item(reply, i)) > 0)
            out[(*count)++] = read_beat(redis_reply_item(reply, i));
    return ERROR_NONE;
}

enum error_code queue_reply_scan(const struct redisReply *reply, char *cursor, size_t cursor_size,
                                 struct error *err)
{
    const struct redisReply *keys = redis_reply_item(reply, 1);
    if (!text_at(reply, 0, cursor, cursor_size) || !redis_reply_is_array(keys))
        return bad_shape("SCAN", err);
    for (int64_t i = 0; i < redis_reply_count(keys); i++)
        if (!redis_reply_is_text(redis_reply_item(keys, i)))
            return bad_shape("SCAN", err);
    return ERROR_NONE;
}
