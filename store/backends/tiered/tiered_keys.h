/*
 * tiered_keys - decides which of the two stores of a tiered store holds a key.
 *
 *   TIER_FAST      mini-batches, gradients, sums and choices of a round; optimizer states;
 *                  evaluations. Only rounds need these records: they are in the fast store alone.
 *   TIER_BOTH      weights, snapshots, rows of embeddings, residuals. They are put in the fast
 *                  store; those that are flushed, or put as durable, are in the durable one too.
 *   TIER_DURABLE   all else: datasets, partitions, plans, what infer makes, the identity, and keys
 *                  that are not known here
 *
 * Records that are in the fast store alone can be made again from the last snapshot on, unit by
 * unit along the ordinary chain.
 */
#ifndef STORE_BACKENDS_TIERED_TIERED_KEYS_H
#define STORE_BACKENDS_TIERED_TIERED_KEYS_H

#include <stdbool.h>

enum tier { TIER_UNKNOWN = 0, TIER_FAST, TIER_BOTH, TIER_DURABLE };

enum tier tier_of_key(const char *key);
/* Returns whether keys below this prefix may be in the fast store. */
bool tier_of_prefix_is_fast(const char *prefix);

#endif
