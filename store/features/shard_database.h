/*
 * shard_database - RocksDB as a feature shard uses it: tables written, taken into a database once, and then read.
 *
 * The one place that knows RocksDB. A database has column families beside the empty "default"; they are numbered from 0
 * as they were named when it was opened. `shard` is the key of the artifact, for messages, borrowed.
 *
 * In a sealed shard what is missing, does not parse or is not what was asked for is ERROR_CORRUPT; while one is built
 * the same is a trouble of the host (ERROR_IO), since nothing but what we have just written is there.
 */
#ifndef STORE_FEATURES_SHARD_DATABASE_H
#define STORE_FEATURES_SHARD_DATABASE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A read that failed once may have met a device or network that stumbled, and RocksDB takes some of these for
 * damage: it is told only when it is met again. */
static inline bool shard_failure_may_pass(enum error_code rc)
{
    return rc == ERROR_IO || rc == ERROR_CORRUPT;
}

/* --- reading --- */

enum { SHARD_FAMILY_COUNT_MAX = 8 };

struct shard_database;

/* Opens read-only what lies at `path`, with these families [count]. Threads: reads may run side by side. */
MUST_CHECK enum error_code shard_database_open(const char *path, const char *shard,
                                               const char *const *family, int count,
                                               struct shard_database **out, struct error *err);
void shard_database_close(struct shard_database *database); /* NULL is fine */

/* A value where RocksDB put it: at any address. The database stays open until it is released. */
struct shard_value {
    void *slice;
    const char *data; /* [size]; NULL: there is no such key */
    size_t size;
};

MUST_CHECK enum error_code shard_database_get(const struct shard_database *database, int family,
                                              const char *key, size_t key_size,
                                              struct shard_value *out, struct error *err);
void shard_value_release(void *slice); /* NULL is fine */

/* All of a family in the order of its keys. */
struct shard_scan {
    const struct shard_database *database;
    int family;
    void *iterator;
    const char *key,
        *value; /* until the next step; key is NULL behind the last, or after a failure */
    size_t key_size, value_size;
};

void shard_scan_begin(const struct shard_database *database, int family, struct shard_scan *scan);
void shard_scan_step(struct shard_scan *scan);
/* Where the scan stands on nothing: did it end because of a failure? */
MUST_CHECK enum error_code shard_scan_check(const struct shard_scan *scan, struct error *err);
void shard_scan_end(struct shard_scan *scan);

/* --- building --- */

struct shard_builder; /* writes one table after the other, then a database of them */

MUST_CHECK enum error_code shard_builder_new(const char *shard, struct shard_builder **out,
                                             struct error *err);
void shard_builder_free(struct shard_builder *builder); /* NULL is fine */
/* A table at `path`; keys come in their order. */
MUST_CHECK enum error_code shard_builder_begin_table(struct shard_builder *builder,
                                                     const char *path, struct error *err);
bool shard_builder_has_table(
    const struct shard_builder *builder); /* one was begun, and not ended */
MUST_CHECK enum error_code shard_builder_put(struct shard_builder *builder, const char *key,
                                             size_t key_size, const char *value, size_t size,
                                             struct error *err);
MUST_CHECK enum error_code shard_builder_end_table(struct shard_builder *builder,
                                                   struct error *err);

/* What `next` says of family `index`: its name, and the table of its rows: none (""), one that may be moved away, or
 * one that has to be copied. */
struct shard_family {
    const char *name; /* borrowed */
    char *table;      /* [FILE_PATH_SIZE], given; set to "" before */
    bool by_copy;
};
typedef enum error_code (*shard_family_next)(void *context, int index, struct shard_family *out,
                                             struct error *err);

/* A database of `count` families at `path`, where nothing is yet. */
MUST_CHECK enum error_code shard_builder_build(struct shard_builder *builder, const char *path,
                                               int count, shard_family_next next, void *context,
                                               struct error *err);

#endif
