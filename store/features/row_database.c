#include "store/features/row_database.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <rocksdb/c.h>
#include <string.h>

enum { KEY_BYTES = 4, BLOOM_BITS = 10, WRITE_BUFFERS = 2, WRITE_BUFFER_LEAST = 1 << 16 };

struct row_database {
    size_t row_bytes;
    rocksdb_options_t *options;
    rocksdb_readoptions_t *read_options;
    rocksdb_writeoptions_t *write_options;
    rocksdb_t *db;
};

/* What RocksDB said, which becomes ours to free, as an error. All of it is trouble of this host. */
static enum error_code failed(char *text, const char *what, struct error *err)
{
    const bool is_full =
        strstr(text, "No space left on device") || strstr(text, "Disk quota exceeded");
    const enum error_code rc = error_set(err, is_full ? ERROR_NO_SPACE : ERROR_IO,
                                         "working copy of embeddings: %s: %s", what, text);
    rocksdb_free(text);
    return rc;
}

/* Big-endian, so that the order of keys is the order of ids. */
static void key_of(uint32_t id, char key[KEY_BYTES])
{
    for (int i = 0; i < KEY_BYTES; i++)
        key[i] = (char)(id >> (24 - 8 * i));
}

static uint32_t id_of(const char *key)
{
    uint32_t id = 0;
    for (int i = 0; i < KEY_BYTES; i++)
        id = id << 8 | (uint8_t)key[i];
    return id;
}

static rocksdb_options_t *options_of(uint64_t budget_bytes)
{
    const uint64_t write_buffer = budget_bytes / 4 / WRITE_BUFFERS;
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_cache_t *cache = rocksdb_cache_create_lru((size_t)(budget_bytes / 2));
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_filter_policy(table,
                                                  rocksdb_filterpolicy_create_bloom(BLOOM_BITS));
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_cache_destroy(cache); /* the table factory has it */
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_error_if_exists(options, 1);
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_options_set_write_buffer_size(
        options, (size_t)(write_buffer > WRITE_BUFFER_LEAST ? write_buffer : WRITE_BUFFER_LEAST));
    rocksdb_options_set_max_write_buffer_number(options, WRITE_BUFFERS);
    rocksdb_options_set_info_log_level(options, 4);        /* fatal only */
    rocksdb_options_set_stats_dump_period_sec(options, 0); /* no threads that count for a log */
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    return options;
}

void row_database_close(struct row_database *database)
{
    if (!database)
        return;
    if (database->db)
        rocksdb_close(database->db);
    if (database->read_options)
        rocksdb_readoptions_destroy(database->read_options);
    if (database->write_options)
        rocksdb_writeoptions_destroy(database->write_options);
    if (database->options)
        rocksdb_options_destroy(database->options);
    memory_free(database);
}

enum error_code row_database_new(const char *path, size_t row_bytes, uint64_t budget_bytes,
                                 struct row_database **out, struct error *err)
{
    struct row_database *d = NULL;
    char *failure = NULL;
    *out = NULL;
    const enum error_code rc = memory_new(&d, 1, "the working copy of embeddings", err);
    if (rc != ERROR_NONE)
        return rc;
    d->row_bytes = row_bytes;
    d->options = options_of(budget_bytes);
    d->read_options = rocksdb_readoptions_create();
    d->write_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(d->write_options, 1);
    d->db = rocksdb_open(d->options, path, &failure);
    if (failure) {
        row_database_close(d);
        return failed(failure, "cannot be made", err);
    }
    *out = d;
    return ERROR_NONE;
}

/* Takes what RocksDB gave for one row. */
static enum error_code take_row(const struct row_database *database, uint32_t id, char *value,
                                size_t size, char *failure, char *out, bool *found,
                                struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *found = value != NULL;
    if (failure)
        rc = failed(failure, "cannot be read", err);
    else if (value && size != database->row_bytes)
        rc = error_set(err, ERROR_IO,
                       "working copy of embeddings: row %" PRIu32 " has %zu bytes, expected %zu",
                       id, size, database->row_bytes);
    else if (value)
        memcpy(out, value, size);
    rocksdb_free(value);
    return rc;
}

enum error_code row_database_get(const struct row_database *database, const uint32_t *id,
                                 size_t count, char *out, size_t stride, bool *found,
                                 struct error *err)
{
    char key[ROW_DATABASE_BATCH][KEY_BYTES];
    const char *keys[ROW_DATABASE_BATCH] = {NULL};
    size_t key_size[ROW_DATABASE_BATCH] = {0}, size[ROW_DATABASE_BATCH] = {0};
    char *value[ROW_DATABASE_BATCH] = {NULL}, *failure[ROW_DATABASE_BATCH] = {NULL};
    enum error_code rc = ERROR_NONE;
    must(count <= ROW_DATABASE_BATCH);
    for (size_t i = 0; i < count; i++) {
        key_of(id[i], key[i]);
        keys[i] = key[i];
        key_size[i] = KEY_BYTES;
    }
    rocksdb_multi_get(database->db, database->read_options, count, keys, key_size, value, size,
                      failure);
    for (size_t i = 0; i < count; i++) {
        const enum error_code of_row =
            take_row(database, id[i], value[i], size[i], failure[i], out + i * stride, &found[i],
                     rc == ERROR_NONE ? err : NULL);
        rc = rc == ERROR_NONE ? of_row : rc;
    }
    return rc;
}

enum error_code row_database_put(struct row_database *database, const uint32_t *id, size_t count,
                                 const char *row, struct error *err)
{
    char *failure = NULL;
    for (size_t at = 0; at < count && !failure; at += ROW_DATABASE_BATCH) {
        const size_t end = count - at < ROW_DATABASE_BATCH ? count : at + ROW_DATABASE_BATCH;
        rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
        for (size_t i = at; i < end; i++) {
            char key[KEY_BYTES];
            key_of(id[i], key);
            rocksdb_writebatch_put(batch, key, KEY_BYTES, row + i * database->row_bytes,
                                   database->row_bytes);
        }
        rocksdb_write(database->db, database->write_options, batch, &failure);
        rocksdb_writebatch_destroy(batch);
    }
    return failure ? failed(failure, "cannot be written", err) : ERROR_NONE;
}

enum error_code row_database_scan(const struct row_database *database, uint32_t first, uint32_t end,
                                  row_visitor visit, void *context, struct error *err)
{
    rocksdb_iterator_t *scan = rocksdb_create_iterator(database->db, database->read_options);
    char from[KEY_BYTES], *failure = NULL;
    enum error_code rc = ERROR_NONE;
    key_of(first, from);
    for (rocksdb_iter_seek(scan, from, KEY_BYTES); rc == ERROR_NONE && rocksdb_iter_valid(scan);
         rocksdb_iter_next(scan)) {
        size_t key_size = 0, size = 0;
        const char *key = rocksdb_iter_key(scan, &key_size);
        const char *row = rocksdb_iter_value(scan, &size);
        const uint32_t id = id_of(key);
        if (id >= end)
            break;
        rc = size == database->row_bytes ? visit(context, id, row, err)
                                         : error_set(err, ERROR_IO,
                                                     "working copy of embeddings: row %" PRIu32
                                                     " has %zu bytes, expected %zu",
                                                     id, size, database->row_bytes);
    }
    rocksdb_iter_get_error(scan, &failure);
    rocksdb_iter_destroy(scan);
    if (failure && rc == ERROR_NONE)
        return failed(failure, "cannot be read", err);
    rocksdb_free(failure);
    return rc;
}
