/*
 * shard_database - RocksDB in the way that a feature shard uses it: tables are written, ingested
 * into a database once, and then read.
 *
 * Only this module uses RocksDB. A database has column families beside the empty "default"; they
 * are numbered from 0 in the order in which they were named at open. `shard` is the key of the
 * artifact, for messages, borrowed.
 *
 * In a sealed shard, data that is missing, does not parse or is not what was asked for is
 * ERROR_CORRUPT. While a shard is built, the same is a fault of the host (ERROR_IO), since only
 * files that this process has just written are there.
 */
#ifndef STORE_FEATURES_SHARD_DATABASE_H
#define STORE_FEATURES_SHARD_DATABASE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns whether a failed read is worth repeating. A disk or network may fail once, and RocksDB
 * reports some of these failures as damage, so damage is reported only if it is found again. */
static inline bool shard_failure_may_pass(enum error_code rc)
{
    return rc == ERROR_IO || rc == ERROR_CORRUPT;
}

/* --- reading --- */

enum { SHARD_FAMILY_COUNT_MAX = 8 };

struct shard_database;

/* Opens the database at `path` read-only, with these families [count]. Threads: several may read at
 * once. */
MUST_CHECK enum error_code shard_database_open(const char *path, const char *shard,
                                               const char *const *family, int count,
                                               struct shard_database **out, struct error *err);
void shard_database_close(struct shard_database *database); /* NULL is allowed */

/* A value in RocksDB's memory, which may be unaligned. The database must stay open until it is
 * released. */
struct shard_value {
    void *slice;
    const char *data; /* [size]; NULL if there is no such key */
    size_t size;
};

MUST_CHECK enum error_code shard_database_get(const struct shard_database *database, int family,
                                              const char *key, size_t key_size,
                                              struct shard_value *out, struct error *err);
void shard_value_release(void *slice); /* NULL is allowed */

/* A scan over all of a family in the order of its keys. */
struct shard_scan {
    const struct shard_database *database;
    int family;
    void *iterator;
    /* valid until the next step; key is NULL after the last entry, or after a failure */
    const char *key, *value;
    size_t key_size, value_size;
};

void shard_scan_begin(const struct shard_database *database, int family, struct shard_scan *scan);
void shard_scan_step(struct shard_scan *scan);
/* Reports whether a scan that has no current entry ended because of a failure. */
MUST_CHECK enum error_code shard_scan_check(const struct shard_scan *scan, struct error *err);
void shard_scan_end(struct shard_scan *scan);

/* --- building --- */

struct shard_builder; /* writes one table after the other, then a database of them */

MUST_CHECK enum error_code shard_builder_new(const char *shard, struct shard_builder **out,
                                             struct error *err);
void shard_builder_free(struct shard_builder *builder); /* NULL is allowed */
/* Begins a table at `path`; its keys must be put in order. */
MUST_CHECK enum error_code shard_builder_begin_table(struct shard_builder *builder,
                                                     const char *path, struct error *err);
bool shard_builder_has_table(
    const struct shard_builder *builder); /* a table was begun and not ended */
MUST_CHECK enum error_code shard_builder_put(struct shard_builder *builder, const char *key,
                                             size_t key_size, const char *value, size_t size,
                                             struct error *err);
MUST_CHECK enum error_code shard_builder_end_table(struct shard_builder *builder,
                                                   struct error *err);

/* A column family and the table with its rows. */
struct shard_family {
    const char *name; /* borrowed */
    /* result [FILE_PATH_SIZE]; "" (the initial value) if the family has no rows */
    char *table;
    /* the table must be copied, not moved away */
    bool by_copy;
};
/* Describes family `index` of the database that is built. */
typedef enum error_code (*shard_family_next)(void *context, int index, struct shard_family *out,
                                             struct error *err);

/* Builds a database of `count` families at `path`, which must not exist. */
MUST_CHECK enum error_code shard_builder_build(struct shard_builder *builder, const char *path,
                                               int count, shard_family_next next, void *context,
                                               struct error *err);

#endif
