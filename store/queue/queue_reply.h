/*
 * queue_reply - parses the answers of Redis to the calls of the work queue.
 *
 * Any program may listen on the port, and any client may change the keys. Each function therefore
 * checks the whole shape of a reply before it uses it. tests/fuzz/fuzz_queue_reply.c feeds them
 * arbitrary bytes. All of them fail with ERROR_UNAVAILABLE, the code of a server that does not work
 * as it should, and the caller tries again and reports it.
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
/* Parses the answer of the claim script. A unit name that is too long or not plain text gives
 * CLAIM_REFUSED, and *out has the id and delivery count, because the entry must be removed. */
MUST_CHECK enum error_code queue_reply_claim(const struct redisReply *reply,
                                             enum claim_result *result, struct work_claim *out,
                                             struct error *err);
/* Parses an answer of XREADGROUP with one entry; NULL (no entry came) gives CLAIM_NOTHING. */
MUST_CHECK enum error_code queue_reply_entry(const struct redisReply *reply,
                                             enum claim_result *result, struct work_claim *out,
                                             struct error *err);
/* Parses the first dead unit; *found is false if there is none. */
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
/* Copies a text if it is the name of a unit. Returns false otherwise. */
bool queue_reply_unit(const struct redisReply *reply, char unit[QUEUE_UNIT_SIZE]);
/* Parses one page of SCAN and copies the cursor. The keys are item 1, all of them texts. */
MUST_CHECK enum error_code queue_reply_scan(const struct redisReply *reply, char *cursor,
                                            size_t cursor_size, struct error *err);

#endif
