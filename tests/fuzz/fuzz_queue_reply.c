/*
 * fuzz_queue_reply - whatever a server answers, every parser of the work queue refuses it or fills its result
 * with texts that end and counts that fit.
 *
 * The first byte picks the parser, the others are what the server sends.
 */
#include "store/queue/queue_reply.h"
#include "store/redis/redis_policy.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CAPACITY = 4, TEXT_SIZE = 48 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t size)
{
    must(memchr(text, '\0', size) != NULL);
}

static void parse_claim(const struct redisReply *reply, bool of_script)
{
    struct work_claim claim = {0};
    enum claim_result result = CLAIM_NOTHING;
    const enum error_code rc = of_script ? queue_reply_claim(reply, &result, &claim, NULL)
                                         : queue_reply_entry(reply, &result, &claim, NULL);
    must(rc == ERROR_NONE || rc == ERROR_UNAVAILABLE);
    if (rc != ERROR_NONE || (result != CLAIM_UNIT && result != CLAIM_REFUSED))
        return;
    check_text(claim.id, sizeof claim.id);
    check_text(claim.unit, sizeof claim.unit);
    must((result == CLAIM_UNIT) == (claim.unit[0] != '\0'));
    for (const char *c = claim.unit; *c; c++)
        must(*c > ' ' && *c <= '~');
}

static void parse_dead(const struct redisReply *reply)
{
    bool found = false;
    char unit[QUEUE_UNIT_SIZE], reason[TEXT_SIZE];
    if (queue_reply_dead(reply, &found, unit, reason, sizeof reason, NULL) != ERROR_NONE)
        must(!found);
    check_text(unit, sizeof unit);
    check_text(reason, sizeof reason);
}

static void parse_lists(const struct redisReply *reply)
{
    struct held_unit held[CAPACITY];
    struct worker_beat beat[CAPACITY];
    int count = 0;
    if (queue_reply_held(reply, held, CAPACITY, &count, NULL) == ERROR_NONE)
        for (int i = 0; i < count; i++)
            check_text(held[i].owner, sizeof held[i].owner);
    must(count >= 0 && count <= CAPACITY);
    if (queue_reply_beats(reply, beat, CAPACITY, &count, NULL) == ERROR_NONE)
        for (int i = 0; i < count; i++)
            check_text(beat[i].note, sizeof beat[i].note);
    must(count >= 0 && count <= CAPACITY);
}

static void parse_numbers(const struct redisReply *reply)
{
    int64_t number = 0;
    struct queue_look look;
    struct stage_counts counts;
    if (queue_reply_number(reply, &number, NULL) != ERROR_NONE)
        must(number == 0);
    if (queue_reply_look(reply, &look, NULL) == ERROR_NONE)
        must(look.waiting >= 0);
    if (queue_reply_counts(reply, &counts, NULL) == ERROR_NONE)
        must(counts.waiting >= 0);
}

static void parse_texts(const struct redisReply *reply)
{
    bool won = false, alive = false;
    char token[TEXT_SIZE] = "", cursor[TEXT_SIZE] = "", policy[TEXT_SIZE], unit[QUEUE_UNIT_SIZE];
    if (queue_reply_rebuild(reply, &won, &alive, token, sizeof token, NULL) != ERROR_NONE)
        must(!won && !alive);
    if (queue_reply_scan(reply, cursor, sizeof cursor, NULL) == ERROR_NONE)
        must(redis_reply_count(reply) >= 2);
    if (redis_policy_evicts(reply, policy, sizeof policy))
        must(policy[0] != '\0' || strcmp(policy, "noeviction") != 0);
    (void)queue_reply_unit(reply, unit);
    check_text(token, sizeof token);
    check_text(cursor, sizeof cursor);
    check_text(unit, sizeof unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct redisReply *reply = NULL;
    if (size == 0)
        return 0;
    if (redis_reply_decode((const char *)data + 1, size - 1, &reply, NULL) != ERROR_NONE)
        must(!reply);
    switch (data[0] % 6) {
    case 0:
    case 1:
        parse_claim(reply, data[0] % 6 == 0);
        break;
    case 2:
        parse_dead(reply);
        break;
    case 3:
        parse_lists(reply);
        break;
    case 4:
        parse_numbers(reply);
        break;
    default:
        parse_texts(reply);
    }
    redis_reply_free(reply);
    return 0;
}
