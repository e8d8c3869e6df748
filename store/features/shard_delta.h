/*
 * shard_delta - reads a shard that is a delta (store/records/partition/partition_delta.h): its rows are put
 * together from its own folder and its base.
 *
 *   base      rows 0 1 2 3 4 5      gone: 1
 *   folder    numbers 2 5           its rows: x y
 *   shard     rows 0 2 x 4 5 y      (row 2 of the base is row 1 here, and row 3 has become x)
 *
 * Rows of the base keep their order, and removed rows leave no gap. The folder has the rows that
 * are new, which come last, and those that differ from the base. Blocks are made on demand: a block
 * without changes is the base's block in RocksDB's memory; any other is put together on the heap.
 * The delta holds four bytes for each row of its folder and for each removed row.
 *
 * The folder is a shard of its own (records/round/shard_seal.h). The base is opened when a row of it is
 * first needed.
 */
#ifndef STORE_FEATURES_SHARD_DELTA_H
#define STORE_FEATURES_SHARD_DELTA_H

#include "common/base/error.h"
#include "store/features/feature_shard.h"
#include "store/records/round/shard_seal.h"

#include <stdint.h>

struct shard_delta;

/* Opens the folder at `key` and reads its numbers. Borrows `seal` until it is closed. Fails: as
 * feature_shard_open(); ERROR_CORRUPT for numbers that are no rows of the shard. */
MUST_CHECK enum error_code shard_delta_open(struct store *store, const char *key,
                                            const struct shard_seal *seal, struct shard_delta **out,
                                            struct error *err);
void shard_delta_close(struct shard_delta *delta); /* NULL is allowed */
/* Returns the folder's own shard. */
struct feature_shard *shard_delta_own(const struct shard_delta *delta);
/* Pins a block of tensor number `index`, as feature_shard_pin(). The 16 bytes before the rows may
 * be read but have no meaning. Threads: any number. */
MUST_CHECK enum error_code shard_delta_pin(struct shard_delta *delta, int index, uint64_t block,
                                           struct feature_pin *pin, struct error *err);

#endif
