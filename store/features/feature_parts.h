/*
 * feature_parts - the shards of all parts that hold one tensor.
 *
 * All seals are read when the tensor is opened, to check that rows, width and weights are those
 * that were asked for. A shard is opened when a row of it is first needed, by the thread that needs
 * it.
 *
 * Threads: several may ask for shards at once; different shards are opened in parallel.
 */
#ifndef STORE_FEATURES_FEATURE_PARTS_H
#define STORE_FEATURES_FEATURE_PARTS_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"
#include "store/objects/keys.h"

#include <pthread.h>
#include <stdint.h>

struct feature_part {
    pthread_mutex_t lock;
    struct feature_shard *shard; /* NULL if not open yet */
};

struct feature_parts { /* {0} is closed */
    struct store *store;
    enum feature_origin origin;
    char id[KEY_SIZE];
    int layer;
    uint32_t node_type;
    int64_t version; /* of the weights, for a layer */
    int part_count;
    char tensor[TENSOR_NAME_SIZE];
    uint32_t dim;
    enum tensor_type type;
    struct checksum content;   /* hash of the rows of all parts */
    struct feature_part *part; /* [part_count] */
};

/* Reads the seals of all parts. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT naming the artifact that
 * differs from what `config` asks for. */
MUST_CHECK enum error_code feature_parts_open(const struct feature_source_config *config,
                                              struct feature_parts *out, struct error *err);
void feature_parts_close(struct feature_parts *parts);
/* Returns the shard of a part, which stays open. Fails: as feature_shard_open(). */
MUST_CHECK enum error_code feature_parts_shard(struct feature_parts *parts, int part,
                                               struct feature_shard **out, struct error *err);
/* Returns whether the shard of a part is open. */
bool feature_parts_is_open(struct feature_parts *parts, int part);
/* Opens a shard for the caller alone, who closes it. */
MUST_CHECK enum error_code feature_parts_open_shard(const struct feature_parts *parts, int part,
                                                    struct feature_shard **out, struct error *err);

#endif
