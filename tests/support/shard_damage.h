/* shard_damage - what a disk may do to the shards of a dataset. */
#ifndef TESTS_SUPPORT_SHARD_DAMAGE_H
#define TESTS_SUPPORT_SHARD_DAMAGE_H

#include "store/objects/keys.h"
#include "store/objects/store.h"

/* Cuts all tables of the shard `key` to nothing; aborts the test when that fails. */
void shard_damage_empty_tables(struct store *store, struct key key);
/* Overwrites some bytes in the middle of the largest table of the shard `key`. */
void shard_damage_largest_table(struct store *store, struct key key);

#endif
