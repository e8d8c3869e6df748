/* feature_shard_folder - opens the folder of a shard before it has its key, for the code that
 * builds it. */
#ifndef STORE_FEATURES_FEATURE_SHARD_FOLDER_H
#define STORE_FEATURES_FEATURE_SHARD_FOLDER_H

#include "store/features/feature_shard.h"
#include "store/records/round/shard_seal.h"

/* Opens a shard whose seal the caller has. Otherwise same as feature_shard_open(). */
MUST_CHECK enum error_code feature_shard_open_sealed(struct store *store, const char *key,
                                                     const struct shard_seal *seal,
                                                     struct feature_shard **out, struct error *err);
/* Opens the folder at `path`; `key` is its present or future key. Otherwise same as
 * feature_shard_open(). */
MUST_CHECK enum error_code feature_shard_open_folder(const char *path, const char *key,
                                                     const struct shard_seal *seal,
                                                     struct feature_shard **out, struct error *err);
/* Reads each block of each tensor by its key, and compares it with the seal. */
MUST_CHECK enum error_code feature_shard_find_all(struct feature_shard *shard, struct error *err);

#endif
