/* feature_shard_folder - a shard's folder before it has its name: for who builds it. */
#ifndef STORE_FEATURES_FEATURE_SHARD_FOLDER_H
#define STORE_FEATURES_FEATURE_SHARD_FOLDER_H

#include "store/features/feature_shard.h"
#include "store/records/shard_seal.h"

/* As feature_shard_open() with a seal that the caller has. */
MUST_CHECK enum error_code feature_shard_open_sealed(struct store *store, const char *key,
                                                     const struct shard_seal *seal,
                                                     struct feature_shard **out, struct error *err);
/* As feature_shard_open() what lies at `path`; `key` is what it is or will be called. */
MUST_CHECK enum error_code feature_shard_open_folder(const char *path, const char *key,
                                                     const struct shard_seal *seal,
                                                     struct feature_shard **out, struct error *err);
/* Asks for each block of each tensor by its key, and compares with the seal. */
MUST_CHECK enum error_code feature_shard_find_all(struct feature_shard *shard, struct error *err);

#endif
