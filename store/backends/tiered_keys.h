/*
 * tiered_keys - which of two stores a key of a tiered store is for.
 *
 *   TIER_FAST      mini-batches, gradients, sums and choices of a round; optimizer states; evaluations. What rounds make and
 *                  nothing else needs: such a record is in the fast store alone
 *   TIER_BOTH      weights, snapshots, rows of embeddings, residuals. Put in the fast store; one that is flushed, or put as
 *                  durable, is in the durable one, too
 *   TIER_DURABLE   all else: datasets, partitions, plans, what infer makes, the identity, and what is not known here
 *
 * What is in the fast store alone can be made again, each unit by the ordinary chain, from the last snapshot on.
 */
#ifndef STORE_BACKENDS_TIERED_KEYS_H
#define STORE_BACKENDS_TIERED_KEYS_H

#include <stdbool.h>

enum tier { TIER_UNKNOWN = 0, TIER_FAST, TIER_BOTH, TIER_DURABLE };

enum tier tier_of_key(const char *key);
/* Whether keys below this prefix may be in the fast store. */
bool tier_of_prefix_is_fast(const char *prefix);

#endif
