/*
 * cluster_batch - sends several commands to a store's cluster together.
 *
 *   cluster_batch_init(&batch, place, 3, err);
 *   cluster_batch_add(&batch, tag, "GET", key, "record");      one key of Redis each, then words:
 *   cluster_words_add(cluster_batch_last(&batch), ...);
 *   cluster_batch_perform(&batch, err);
 *   redis_reply_bytes(cluster_batch_reply(&batch, 0), &size);
 *   cluster_batch_release(&batch);
 */
#ifndef STORE_BACKENDS_CLUSTER_CLUSTER_BATCH_H
#define STORE_BACKENDS_CLUSTER_CLUSTER_BATCH_H

#include "store/backends/cluster/cluster_place.h"

struct cluster_batch { /* {0} may be released */
    const struct cluster_place *place;
    struct cluster_batch_entry *entry; /* [most] */
    struct cluster_command *command;   /* [most] */
    size_t count, most;
};

MUST_CHECK enum error_code cluster_batch_init(struct cluster_batch *batch,
                                              const struct cluster_place *place, size_t most,
                                              struct error *err);
/* Adds a command on the key PREFIX{TAG}KEY!WHAT. */
void cluster_batch_add(struct cluster_batch *batch, int tag, const char *command, const char *key,
                       const char *what);
/* Adds a command that has one word and no key. The node that serves `slot` answers it. */
void cluster_batch_add_plain(struct cluster_batch *batch, int slot, const char *command,
                             const char *word);
/* Adds a call of a script. The caller adds its keys next, then its arguments. */
void cluster_batch_add_script(struct cluster_batch *batch, int tag, enum cluster_script script,
                              size_t keys);
/* Returns the words of the command that was added last, to add more words to it. */
struct cluster_words *cluster_batch_last(struct cluster_batch *batch);
/* Makes the last command wait for a replica, if there is one. */
void cluster_batch_wait_for_replica(struct cluster_batch *batch);
/* Sends all commands and waits for the answers. Fails: with the code of the first command that
 * failed; batch->command[i] has the code of each. */
MUST_CHECK enum error_code cluster_batch_perform(struct cluster_batch *batch, struct error *err);
const struct redisReply *cluster_batch_reply(const struct cluster_batch *batch, size_t index);
/* Empties the batch, so that it can be filled again. */
void cluster_batch_clear(struct cluster_batch *batch);
void cluster_batch_release(struct cluster_batch *batch);

#endif
