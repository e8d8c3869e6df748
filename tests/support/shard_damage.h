/* shard_damage - damages the shards of a dataset as a disk may do. */
#ifndef TESTS_SUPPORT_SHARD_DAMAGE_H
#define TESTS_SUPPORT_SHARD_DAMAGE_H

#include "store/objects/keys.h"
#include "store/objects/store.h"

/* Truncates all tables of the shard `key` to nothing; aborts the test when that fails. */
void shard_damage_empty_tables(struct store *store, struct key key);
/* Overwrites some bytes in the middle of the largest table of the shard `key`. */
void shard_damage_largest_table(struct store *store, struct key key);

#endif
