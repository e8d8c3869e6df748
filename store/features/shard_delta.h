/*
 * shard_delta - the rows of a shard that is a delta (store/records/partition_delta.h), put together of its folder and its base.
 *
 *   base      rows 0 1 2 3 4 5      gone: 1          numbers of the folder: 2 5      its rows: x y
 *   shard     rows 0 2 x 4 5 y                       (row 2 of the base is row 1 here, and row 3 has become x)
 *
 * Rows of the base keep their order, what is gone leaves no hole, and the folder has the rows that are new, which stand behind, or other
 * than in the base. Blocks are made when they are asked for: one in which nothing has changed is that of the base where RocksDB
 * put it, any other is put together in memory. In memory all the while are four bytes for each row of the folder and each that is gone.
 *
 * The folder is a shard of its own (records/shard_seal.h); the base is opened when a row of it is first wanted.
 */
#ifndef STORE_FEATURES_SHARD_DELTA_H
#define STORE_FEATURES_SHARD_DELTA_H

#include "common/base/error.h"
#include "store/features/feature_shard.h"
#include "store/records/shard_seal.h"

#include <stdint.h>

struct shard_delta;

/* Opens the folder at `key`, and reads its numbers. Borrows `seal` for as long as it is open.
 * Fails: as feature_shard_open(); ERROR_CORRUPT for numbers that are none of the rows. */
MUST_CHECK enum error_code shard_delta_open(struct store *store, const char *key,
                                            const struct shard_seal *seal, struct shard_delta **out,
                                            struct error *err);
void shard_delta_close(struct shard_delta *delta); /* NULL is fine */
/* The folder alone. */
struct feature_shard *shard_delta_own(const struct shard_delta *delta);
/* As feature_shard_pin() of tensor number `index`; 16 bytes before the rows may be read, and say nothing. Threads: any number. */
MUST_CHECK enum error_code shard_delta_pin(struct shard_delta *delta, int index, uint64_t block,
                                           struct feature_pin *pin, struct error *err);

#endif
