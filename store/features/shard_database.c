#include "store/features/shard_database.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "store/objects/keys.h"

#include <rocksdb/c.h>
#include <string.h>

enum { READAHEAD_BYTES = 4 << 20 };

/* Tells what RocksDB was doing when it failed. */
enum shard_use { SHARD_READ, SHARD_BUILD };

/* Returns the error code of a message. RocksDB's C interface shows the kind of a failure only by
 * the beginning of the text. */
static enum error_code code_of_rocksdb(const char *text, enum shard_use use)
{
    static const char *const damage[] = {"Corruption", "NotFound", "Invalid argument",
                                         "Not implemented"};
    static const char *const passing[] = {"Resource busy", "Operation timed out",
                                          "Operation failed. Try again."};
    if (strstr(text, "Memory limit reached"))
        return ERROR_NO_MEMORY;
    if (strstr(text, "No space left on device") || strstr(text, "Disk quota exceeded"))
        return ERROR_NO_SPACE;
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (text_begins(text, passing[i]))
            return ERROR_UNAVAILABLE;
    for (size_t i = 0; use == SHARD_READ && i < sizeof damage / sizeof *damage; i++)
        if (text_begins(text, damage[i]))
            return ERROR_CORRUPT;
    const bool missing = text_begins(text, "IO error") && strstr(text, "No such file");
    return use == SHARD_READ && missing ? ERROR_CORRUPT : ERROR_IO;
}

/* Makes an error from RocksDB's message, and frees the message. */
static enum error_code rocksdb_failed(char *text, enum shard_use use, const char *shard,
                                      const char *what, struct error *err)
{
    const enum error_code rc =
        error_set(err, code_of_rocksdb(text, use), "artifact %s: %s: %s", shard, what, text);
    rocksdb_free(text);
    return rc;
}

/* RocksDB's number for XXH64. The default, XXH3, took a third of the time of reading rows: a
 * library built for any processor computes it with 128-bit vectors and keeps its sums in memory. */
enum { CHECKSUM_XXH64 = 3 };

/* Returns the options of shards. Blocks are large and read once, so neither compression nor caching
 * helps. But RocksDB returns a block without a copy only from its cache. This cache has no
 * capacity, so that a block is in it only while it is used. */
static rocksdb_options_t *shard_options(void)
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(0);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_checksum(table, CHECKSUM_XXH64);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_cache_destroy(cache); /* the table factory keeps a reference */
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_options_set_info_log_level(options, 4);        /* fatal only */
    rocksdb_options_set_stats_dump_period_sec(options, 0); /* no thread for statistics */
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_disable_auto_compactions(options, 1);
    rocksdb_options_set_max_file_opening_threads(options, 1); /* a shard has few tables */
    return options;
}

/* --- reading --- */

struct shard_database {
    char shard[KEY_SIZE];
    char name[SHARD_FAMILY_COUNT_MAX][64];
    rocksdb_options_t *options;
    rocksdb_readoptions_t *read_options; /* reads ahead in scans */
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family[SHARD_FAMILY_COUNT_MAX + 1]; /* 0: "default", empty */
};

void shard_database_close(struct shard_database *database)
{
    if (!database)
        return;
    for (int i = 0; i <= SHARD_FAMILY_COUNT_MAX; i++)
        if (database->family[i])
            rocksdb_column_family_handle_destroy(database->family[i]);
    if (database->db)
        rocksdb_close(database->db);
    if (database->read_options)
        rocksdb_readoptions_destroy(database->read_options);
    if (database->options)
        rocksdb_options_destroy(database->options);
    memory_free(database);
}

/* Opens a database. Read-only mode leaves the folder as it is: no lock, no log. Reads are buffered:
 * blocks that are read again and again come from the page cache, which the system shrinks when
 * memory is short; direct reads of the same blocks took 7 times as long. RocksDB's advice to the
 * kernel not to read ahead is turned off, because blocks are read in order. */
enum error_code shard_database_open(const char *path, const char *shard, const char *const *family,
                                    int count, struct shard_database **out, struct error *err)
{
    const char *name[SHARD_FAMILY_COUNT_MAX + 1] = {"default"};
    const rocksdb_options_t *options[SHARD_FAMILY_COUNT_MAX + 1];
    struct shard_database *d = NULL;
    char *failure = NULL;
    *out = NULL;
    must(count <= SHARD_FAMILY_COUNT_MAX);
    enum error_code rc = memory_new(&d, 1, "a feature shard", err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy(d->shard, sizeof d->shard, shard));
    d->options = shard_options();
    rocksdb_options_set_advise_random_on_open(d->options, 0);
    d->read_options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_readahead_size(d->read_options, READAHEAD_BYTES);
    /* Values have hashes of their own, but RocksDB's index inside a block has not. */
    rocksdb_readoptions_set_verify_checksums(d->read_options, 1);
    for (int i = 0; i <= count; i++) {
        if (i > 0)
            must(text_copy(d->name[i - 1], sizeof d->name[i - 1], family[i - 1]));
        name[i] = i ? d->name[i - 1] : name[0];
        options[i] = d->options;
    }
    d->db = rocksdb_open_for_read_only_column_families(d->options, path, count + 1, name, options,
                                                       d->family, 0, &failure);
    if (failure) {
        rc = rocksdb_failed(failure, SHARD_READ, d->shard, "cannot be opened", err);
        shard_database_close(d);
        return rc;
    }
    *out = d;
    return ERROR_NONE;
}

/* Reads a value by its key. RocksDB reads it into its own memory, and reads nothing else. */
enum error_code shard_database_get(const struct shard_database *database, int family,
                                   const char *key, size_t key_size, struct shard_value *out,
                                   struct error *err)
{
    char *failure = NULL;
    *out = (struct shard_value){0};
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned_cf(database->db, database->read_options, database->family[family + 1],
                              key, key_size, &failure);
    out->slice = slice;
    if (failure)
        return rocksdb_failed(failure, SHARD_READ, database->shard, database->name[family], err);
    if (slice)
        out->data = rocksdb_pinnableslice_value(slice, &out->size);
    return ERROR_NONE;
}

void shard_value_release(void *slice)
{
    if (slice)
        rocksdb_pinnableslice_destroy(slice);
}

/* Sets key and value from the current entry of the iterator. */
static void take(struct shard_scan *scan)
{
    scan->key = scan->value = NULL;
    if (!rocksdb_iter_valid(scan->iterator))
        return;
    scan->key = rocksdb_iter_key(scan->iterator, &scan->key_size);
    scan->value = rocksdb_iter_value(scan->iterator, &scan->value_size);
}

void shard_scan_begin(const struct shard_database *database, int family, struct shard_scan *scan)
{
    *scan = (struct shard_scan){.database = database, .family = family};
    scan->iterator = rocksdb_create_iterator_cf(database->db, database->read_options,
                                                database->family[family + 1]);
    rocksdb_iter_seek_to_first(scan->iterator);
    take(scan);
}

void shard_scan_step(struct shard_scan *scan)
{
    rocksdb_iter_next(scan->iterator);
    take(scan);
}

enum error_code shard_scan_check(const struct shard_scan *scan, struct error *err)
{
    const struct shard_database *database = scan->database;
    char *failure = NULL;
    rocksdb_iter_get_error(scan->iterator, &failure);
    return failure ? rocksdb_failed(failure, SHARD_READ, database->shard,
                                    database->name[scan->family], err)
                   : ERROR_NONE;
}

void shard_scan_end(struct shard_scan *scan)
{
    if (scan->iterator)
        rocksdb_iter_destroy(scan->iterator);
    *scan = (struct shard_scan){0};
}

/* --- building --- */

struct shard_builder {
    char shard[KEY_SIZE];
    rocksdb_options_t *options;
    rocksdb_envoptions_t *file_options;
    rocksdb_sstfilewriter_t *table; /* NULL between two tables */
};

enum error_code shard_builder_new(const char *shard, struct shard_builder **out, struct error *err)
{
    const enum error_code rc = memory_new(out, 1, "a builder of a shard", err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy((*out)->shard, sizeof(*out)->shard, shard));
    (*out)->options = shard_options();
    (*out)->file_options = rocksdb_envoptions_create();
    return ERROR_NONE;
}

void shard_builder_free(struct shard_builder *builder)
{
    if (!builder)
        return;
    if (builder->table)
        rocksdb_sstfilewriter_destroy(builder->table);
    rocksdb_envoptions_destroy(builder->file_options);
    rocksdb_options_destroy(builder->options);
    memory_free(builder);
}

static enum error_code build_failed(const struct shard_builder *builder, char *failure,
                                    const char *what, struct error *err)
{
    return failure ? rocksdb_failed(failure, SHARD_BUILD, builder->shard, what, err) : ERROR_NONE;
}

enum error_code shard_builder_begin_table(struct shard_builder *builder, const char *path,
                                          struct error *err)
{
    char *failure = NULL;
    must(!builder->table);
    builder->table = rocksdb_sstfilewriter_create(builder->file_options, builder->options);
    rocksdb_sstfilewriter_open(builder->table, path, &failure);
    return build_failed(builder, failure, "cannot be written", err);
}

bool shard_builder_has_table(const struct shard_builder *builder)
{
    return builder->table != NULL;
}

enum error_code shard_builder_put(struct shard_builder *builder, const char *key, size_t key_size,
                                  const char *value, size_t size, struct error *err)
{
    char *failure = NULL;
    rocksdb_sstfilewriter_put(builder->table, key, key_size, value, size, &failure);
    return build_failed(builder, failure, "cannot be written", err);
}

enum error_code shard_builder_end_table(struct shard_builder *builder, struct error *err)
{
    char *failure = NULL;
    if (!builder->table)
        return ERROR_NONE;
    rocksdb_sstfilewriter_finish(builder->table, &failure);
    rocksdb_sstfilewriter_destroy(builder->table);
    builder->table = NULL;
    return build_failed(builder, failure, "cannot be written", err);
}

/* Adds one column family with the rows of one table. */
static enum error_code add_family(const struct shard_builder *builder, rocksdb_t *db,
                                  const struct shard_family *family, struct error *err)
{
    char *failure = NULL;
    const char *const files[] = {family->table};
    rocksdb_column_family_handle_t *handle =
        rocksdb_create_column_family(db, builder->options, family->name, &failure);
    if (!failure && *family->table) {
        rocksdb_ingestexternalfileoptions_t *how = rocksdb_ingestexternalfileoptions_create();
        rocksdb_ingestexternalfileoptions_set_move_files(how, !family->by_copy);
        rocksdb_ingest_external_file_cf(db, handle, files, 1, how, &failure);
        rocksdb_ingestexternalfileoptions_destroy(how);
    }
    if (handle)
        rocksdb_column_family_handle_destroy(handle);
    return build_failed(builder, failure, family->name, err);
}

enum error_code shard_builder_build(struct shard_builder *builder, const char *path, int count,
                                    shard_family_next next, void *context, struct error *err)
{
    char *failure = NULL, table[FILE_PATH_SIZE];
    rocksdb_options_set_create_if_missing(builder->options, 1);
    rocksdb_options_set_error_if_exists(builder->options, 1);
    rocksdb_t *db = rocksdb_open(builder->options, path, &failure);
    enum error_code rc = build_failed(builder, failure, "cannot be built", err);
    for (int i = 0; rc == ERROR_NONE && i < count; i++) {
        struct shard_family family = {.table = table};
        table[0] = '\0';
        rc = next(context, i, &family, err);
        if (rc == ERROR_NONE)
            rc = add_family(builder, db, &family, err);
    }
    if (db)
        rocksdb_close(db);
    return rc;
}
