/*
 * cluster_batch - commands to a store's cluster that are sent together.
 *
 *   cluster_batch_init(&batch, place, 3, err);
 *   cluster_batch_add(&batch, tag, "GET", key, "record");      each with one key of Redis, then further words:
 *   cluster_words_add(cluster_batch_last(&batch), ...);
 *   cluster_batch_perform(&batch, err);
 *   redis_reply_bytes(cluster_batch_reply(&batch, 0), &size);
 *   cluster_batch_release(&batch);
 */
#ifndef STORE_BACKENDS_CLUSTER_BATCH_H
#define STORE_BACKENDS_CLUSTER_BATCH_H

#include "store/backends/cluster_place.h"

struct cluster_batch { /* {0} may be released */
    const struct cluster_place *place;
    struct cluster_batch_entry *entry; /* [most] */
    struct cluster_command *command;   /* [most] */
    size_t count, most;
};

MUST_CHECK enum error_code cluster_batch_init(struct cluster_batch *batch,
                                              const struct cluster_place *place, size_t most,
                                              struct error *err);
/* A command whose key is PREFIX{TAG}KEY!WHAT. */
void cluster_batch_add(struct cluster_batch *batch, int tag, const char *command, const char *key,
                       const char *what);
/* A command without a key, and what it says, for the node that has the slot. */
void cluster_batch_add_plain(struct cluster_batch *batch, int slot, const char *command,
                             const char *word);
/* A script: its keys follow, then its arguments. */
void cluster_batch_add_script(struct cluster_batch *batch, int tag, enum cluster_script script,
                              size_t keys);
/* Of the command that was added last, for what else it says. */
struct cluster_words *cluster_batch_last(struct cluster_batch *batch);
/* The last command waits for a replica, where there is one. */
void cluster_batch_wait_for_replica(struct cluster_batch *batch);
/* Sends them and waits. Fails: as the first that failed; codes of each: batch->command[i]. */
MUST_CHECK enum error_code cluster_batch_perform(struct cluster_batch *batch, struct error *err);
const struct redisReply *cluster_batch_reply(const struct cluster_batch *batch, size_t index);
/* It may be filled again. */
void cluster_batch_clear(struct cluster_batch *batch);
void cluster_batch_release(struct cluster_batch *batch);

#endif
