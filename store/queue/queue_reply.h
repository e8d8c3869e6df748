/*
 * queue_reply - what the answers of Redis to the calls of the work queue say.
 *
 * A server can be anything that listens on a port, and its contents anything that somebody put there: each
 * function checks the whole shape of a reply before it uses it. tests/fuzz/fuzz_queue_reply.c feeds them bytes.
 * All of them fail with ERROR_UNAVAILABLE, the code of a server that does not do what it should: the
 * caller tries again, and says so.
 *
 * Only work_queue*.c and tests include it.
 */
#ifndef STORE_QUEUE_QUEUE_REPLY_H
#define STORE_QUEUE_QUEUE_REPLY_H

#include "common/base/error.h"
#include "store/queue/work_queue.h"
#include "store/redis/redis_connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

MUST_CHECK enum error_code queue_reply_number(const struct redisReply *reply, int64_t *out,
                                              struct error *err);
/* Of the claim script. A name that is too long or not plain text is CLAIM_REFUSED with *out holding id and
 * delivery count: the entry has to be taken off. */
MUST_CHECK enum error_code queue_reply_claim(const struct redisReply *reply,
                                             enum claim_result *result, struct work_claim *out,
                                             struct error *err);
/* Of XREADGROUP of one entry; NULL (nothing came) is CLAIM_NOTHING. */
MUST_CHECK enum error_code queue_reply_entry(const struct redisReply *reply,
                                             enum claim_result *result, struct work_claim *out,
                                             struct error *err);
/* Of the first dead unit; *found false for none. */
MUST_CHECK enum error_code queue_reply_dead(const struct redisReply *reply, bool *found,
                                            char unit[QUEUE_UNIT_SIZE], char *reason,
                                            size_t reason_size, struct error *err);
MUST_CHECK enum error_code queue_reply_rebuild(const struct redisReply *reply, bool *won,
                                               bool *alive, char *token, size_t token_size,
                                               struct error *err);
MUST_CHECK enum error_code queue_reply_look(const struct redisReply *reply, struct queue_look *out,
                                            struct error *err);
MUST_CHECK enum error_code queue_reply_held(const struct redisReply *reply, struct held_unit *out,
                                            int capacity, int *count, struct error *err);
MUST_CHECK enum error_code queue_reply_counts(const struct redisReply *reply,
                                              struct stage_counts *out, struct error *err);
MUST_CHECK enum error_code queue_reply_beats(const struct redisReply *reply,
                                             struct worker_beat *out, int capacity, int *count,
                                             struct error *err);
/* A text that names a unit. */
bool queue_reply_unit(const struct redisReply *reply, char unit[QUEUE_UNIT_SIZE]);
/* One page of SCAN: the cursor; the keys are item 1, texts all. */
MUST_CHECK enum error_code queue_reply_scan(const struct redisReply *reply, char *cursor,
                                            size_t cursor_size, struct error *err);

#endif
