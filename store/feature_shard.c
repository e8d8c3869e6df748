#include "store/feature_shard.h"

#include "common/base/checksum.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/artifact_publish.h"
#include "store/feature_block.h"
#include "store/folder_sums.h"
#include "store/keys.h"
#include "store/records/shard_seal.h"

#include <inttypes.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { READAHEAD_BYTES = 4 << 20, SUM_SIZE = FEATURE_BLOCK_SUM_SIZE, BUILD_ATTEMPTS = 3 };

/* What RocksDB was doing when it failed. */
enum shard_use { SHARD_READ, SHARD_BUILD };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* RocksDB's C interface tells the kind of a failure by the text in front. In a sealed shard what is missing, does
 * not parse or is not what was asked for is damage; while one is built the same is a trouble of the host, since
 * nothing but what we have just written is there. */
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
        if (begins(text, passing[i]))
            return ERROR_UNAVAILABLE;
    for (size_t i = 0; use == SHARD_READ && i < sizeof damage / sizeof *damage; i++)
        if (begins(text, damage[i]))
            return ERROR_CORRUPT;
    const bool missing = begins(text, "IO error") && strstr(text, "No such file");
    return use == SHARD_READ && missing ? ERROR_CORRUPT : ERROR_IO;
}

/* What RocksDB said, which becomes ours to free, as an error. */
static enum error_code rocksdb_failed(char *text, enum shard_use use, const char *shard,
                                      const char *what, struct error *err)
{
    const enum error_code rc =
        error_set(err, code_of_rocksdb(text, use), "artifact %s: %s: %s", shard, what, text);
    rocksdb_free(text);
    return rc;
}

/* Blocks are large and read once, so neither compression nor keeping them helps. But RocksDB hands out a block
 * without a copy only when it is in its cache: this one has no room, so a block is in it while it is used, and
 * gone afterwards. */
static rocksdb_options_t *shard_options(void)
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(0);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_cache_destroy(cache); /* the table factory has it */
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_options_set_info_log_level(options, 4);        /* fatal only */
    rocksdb_options_set_stats_dump_period_sec(options, 0); /* no threads that count for a log */
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_disable_auto_compactions(options, 1);
    return options;
}

/* --- reading --- */

struct feature_shard {
    char key[KEY_SIZE], path[FILE_PATH_SIZE];
    struct shard_seal seal;
    uint64_t seed[SHARD_TENSOR_COUNT_MAX]; /* of the blocks of each tensor */
    rocksdb_options_t *options;
    rocksdb_readoptions_t *read_options; /* reads ahead when it goes through all */
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family[SHARD_TENSOR_COUNT_MAX + 1]; /* 0: "default", empty */
};

/* A read that failed once may have met a device or network that stumbled, and RocksDB takes some of these for
 * damage: it is told only when it is met again. */
static bool may_have_passed(enum error_code rc)
{
    return rc == ERROR_IO || rc == ERROR_CORRUPT;
}

static void close_database(struct feature_shard *shard)
{
    for (int i = 0; i <= SHARD_TENSOR_COUNT_MAX; i++)
        if (shard->family[i])
            rocksdb_column_family_handle_destroy(shard->family[i]);
    if (shard->db)
        rocksdb_close(shard->db);
    if (shard->read_options)
        rocksdb_readoptions_destroy(shard->read_options);
    if (shard->options)
        rocksdb_options_destroy(shard->options);
    memset(shard->family, 0, sizeof shard->family);
    shard->db = NULL;
    shard->read_options = NULL;
    shard->options = NULL;
}

void feature_shard_close(struct feature_shard *shard)
{
    if (!shard)
        return;
    close_database(shard);
    memory_free(shard);
}

/* Read-only leaves the folder as it is: no lock, no log. Reads are buffered: what is read again and again,
 * out of a budget, comes from the page cache, which gives way when memory is short. Direct reads of the
 * same blocks took 7 times as long there. RocksDB would advise the kernel not to read ahead, but blocks are
 * asked for in order. */
static enum error_code open_database(struct feature_shard *shard, struct error *err)
{
    const char *name[SHARD_TENSOR_COUNT_MAX + 1] = {"default"};
    const rocksdb_options_t *options[SHARD_TENSOR_COUNT_MAX + 1];
    const int count = shard->seal.tensor_count + 1;
    char *failure = NULL;
    shard->options = shard_options();
    rocksdb_options_set_advise_random_on_open(shard->options, 0);
    shard->read_options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_readahead_size(shard->read_options, READAHEAD_BYTES);
    /* Every value is behind a hash of its own. */
    rocksdb_readoptions_set_verify_checksums(shard->read_options, 0);
    for (int i = 0; i < count; i++) {
        name[i] = i ? shard->seal.tensor[i - 1].name : name[0];
        options[i] = shard->options;
    }
    shard->db = rocksdb_open_for_read_only_column_families(shard->options, shard->path, count, name,
                                                           options, shard->family, 0, &failure);
    return failure ? rocksdb_failed(failure, SHARD_READ, shard->key, "cannot be opened", err)
                   : ERROR_NONE;
}

static enum error_code open_folder(const char *path, const char *key, const struct shard_seal *seal,
                                   struct feature_shard **out, struct error *err)
{
    struct feature_shard *shard = NULL;
    enum error_code rc = folder_sums_check(path, key, false, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&shard, 1, "a feature shard", err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy(shard->key, KEY_SIZE, key) && text_copy(shard->path, FILE_PATH_SIZE, path));
    shard->seal = *seal;
    for (int i = 0; i < seal->tensor_count; i++)
        shard->seed[i] = feature_block_seed(key, seal->tensor[i].name);
    rc = open_database(shard, err);
    if (may_have_passed(rc)) {
        close_database(shard);
        rc = open_database(shard, err);
    }
    if (rc != ERROR_NONE) {
        feature_shard_close(shard);
        return rc;
    }
    *out = shard;
    return ERROR_NONE;
}

enum error_code feature_shard_open(struct store *store, const char *key, const char *seal_key,
                                   const char *owner_id, struct feature_shard **out,
                                   struct error *err)
{
    struct shard_seal seal;
    char path[FILE_PATH_SIZE];
    enum error_code rc = shard_seal_get(store, seal_key, owner_id, &seal, err);
    if (rc == ERROR_NONE)
        rc = store_artifact(store, key, path, err);
    return rc == ERROR_NONE ? open_folder(path, key, &seal, out, err) : rc;
}

enum error_code feature_shard_check_weights(const struct feature_shard *shard,
                                            const struct weights_identity *expected,
                                            struct error *err)
{
    char what[KEY_SIZE + 16];
    if (!shard->seal.has_weights)
        return error_set(err, ERROR_CORRUPT,
                         "artifact %s: expected a seal that names the weights used, found none",
                         shard->key);
    (void)snprintf(what, sizeof what, "artifact %s", shard->key);
    return weights_identity_check(expected, &shard->seal.weights, what, err);
}

const struct tensor_spec *feature_shard_tensor(const struct feature_shard *shard, const char *name)
{
    const int index = shard_seal_find(&shard->seal, name);
    return index < 0 ? NULL : &shard->seal.tensor[index];
}

static enum error_code find_tensor(const struct feature_shard *shard, const char *name, int *index,
                                   struct error *err)
{
    *index = shard_seal_find(&shard->seal, name);
    if (*index >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_NOT_FOUND, "artifact %s has no tensor %s", shard->key, name);
}

/* Says which block an error is about. */
static enum error_code of_block(const struct feature_shard *shard, int index, uint64_t block,
                                enum error_code rc, struct error *err)
{
    return error_context(err, rc, "artifact %s: tensor %s: block %" PRIu64, shard->key,
                         shard->seal.tensor[index].name, block);
}

static enum error_code block_missing(const struct feature_shard *shard, int index, uint64_t block,
                                     const char *found, struct error *err)
{
    return of_block(shard, index, block,
                    error_set(err, ERROR_CORRUPT, "expected a value, found %s", found), err);
}

void feature_pin_release(struct feature_pin *pin)
{
    if (pin->slice)
        rocksdb_pinnableslice_destroy(pin->slice);
    *pin = (struct feature_pin){0};
}

static enum error_code check_block(const struct feature_shard *shard, int index, uint64_t block,
                                   const char *value, size_t size, struct error *err)
{
    const enum error_code rc = feature_block_check(&shard->seal.tensor[index], shard->seed[index],
                                                   block, value, size, err);
    return rc == ERROR_NONE ? rc : of_block(shard, index, block, rc, err);
}

/* A block is asked for by its key: RocksDB reads it into memory of its own, and no block is read that nobody
 * asked for. */
static enum error_code pin_block(const struct feature_shard *shard, int index, uint64_t block,
                                 struct feature_pin *pin, struct error *err)
{
    const struct tensor_spec *tensor = &shard->seal.tensor[index];
    char key[FEATURE_BLOCK_KEY_SIZE], *failure = NULL;
    size_t size = 0;
    feature_block_key(block, key);
    rocksdb_pinnableslice_t *slice = rocksdb_get_pinned_cf(
        shard->db, shard->read_options, shard->family[index + 1], key, sizeof key, &failure);
    pin->slice = slice;
    if (failure)
        return rocksdb_failed(failure, SHARD_READ, shard->key, tensor->name, err);
    if (!slice)
        return block_missing(shard, index, block, "none", err);
    const char *value = rocksdb_pinnableslice_value(slice, &size);
    pin->rows = value + SUM_SIZE;
    pin->row_count = feature_block_rows(tensor, block);
    return check_block(shard, index, block, value, size, err);
}

enum error_code feature_shard_pin(struct feature_shard *shard, const char *tensor, uint64_t block,
                                  struct feature_pin *pin, struct error *err)
{
    int index = 0;
    enum error_code rc = find_tensor(shard, tensor, &index, err);
    if (rc != ERROR_NONE)
        return rc;
    must(block < feature_block_count(&shard->seal.tensor[index]));
    rc = pin_block(shard, index, block, pin, err);
    if (may_have_passed(rc)) {
        feature_pin_release(pin);
        rc = pin_block(shard, index, block, pin, err);
    }
    if (rc != ERROR_NONE)
        feature_pin_release(pin);
    return rc;
}

enum error_code feature_shard_read_block(struct feature_shard *shard, const char *tensor,
                                         uint64_t block, void *rows, uint32_t *row_count,
                                         struct error *err)
{
    struct feature_pin pin = {0};
    const enum error_code rc = feature_shard_pin(shard, tensor, block, &pin, err);
    if (rc != ERROR_NONE)
        return rc;
    must(pin.rows);
    memcpy(rows, pin.rows, feature_block_bytes(feature_shard_tensor(shard, tensor), block));
    *row_count = pin.row_count;
    feature_pin_release(&pin);
    return ERROR_NONE;
}

/* What is wrong when the iterator stands on nothing, or on another key than it should; `block` may be the one
 * behind the last. */
static enum error_code wrong_key(const struct feature_shard *shard, int index, uint64_t block,
                                 const rocksdb_iterator_t *iterator, struct error *err)
{
    char *failure = NULL;
    if (rocksdb_iter_valid(iterator))
        return block_missing(shard, index, block, "another key", err);
    rocksdb_iter_get_error(iterator, &failure);
    return failure ? rocksdb_failed(failure, SHARD_READ, shard->key, shard->seal.tensor[index].name,
                                    err)
                   : block_missing(shard, index, block, "the end", err);
}

static bool stands_on(const rocksdb_iterator_t *iterator, uint64_t block)
{
    char expected[FEATURE_BLOCK_KEY_SIZE];
    size_t size = 0;
    if (!rocksdb_iter_valid(iterator))
        return false;
    const char *key = rocksdb_iter_key(iterator, &size);
    feature_block_key(block, expected);
    return size == sizeof expected && memcmp(key, expected, sizeof expected) == 0;
}

/* Each block must come in its turn, whole, and nothing behind the last. */
static enum error_code scan_blocks(const struct feature_shard *shard, int index,
                                   rocksdb_iterator_t *iterator, struct checksum_stream *sums,
                                   char *rows, size_t stride, struct error *err)
{
    const struct tensor_spec *tensor = &shard->seal.tensor[index];
    const uint64_t count = feature_block_count(tensor);
    char *failure = NULL;
    rocksdb_iter_seek_to_first(iterator);
    for (uint64_t block = 0; block < count; block++, rocksdb_iter_next(iterator)) {
        size_t size = 0;
        if (!stands_on(iterator, block))
            return wrong_key(shard, index, block, iterator, err);
        const char *value = rocksdb_iter_value(iterator, &size);
        const enum error_code rc = check_block(shard, index, block, value, size, err);
        if (rc != ERROR_NONE)
            return rc;
        checksum_stream_add(sums, value, SUM_SIZE);
        if (rows)
            feature_block_copy(tensor, block, value, rows, stride);
    }
    if (rocksdb_iter_valid(iterator))
        return wrong_key(shard, index, count, iterator, err);
    rocksdb_iter_get_error(iterator, &failure);
    return failure ? rocksdb_failed(failure, SHARD_READ, shard->key, tensor->name, err)
                   : ERROR_NONE;
}

static enum error_code check_content(const struct feature_shard *shard, int index,
                                     const struct checksum *found, struct error *err)
{
    const struct checksum *expected = &shard->seal.content[index];
    if (checksum_equal(found, expected))
        return ERROR_NONE;
    const enum error_code rc = checksum_mismatch(expected, found, err);
    return error_context(err, rc, "artifact %s: tensor %s: content", shard->key,
                         shard->seal.tensor[index].name);
}

static enum error_code read_all_once(struct feature_shard *shard, int index, char *rows,
                                     size_t stride, struct error *err)
{
    struct checksum_stream *sums = NULL;
    enum error_code rc = checksum_stream_new(&sums, err);
    if (rc != ERROR_NONE)
        return rc;
    rocksdb_iterator_t *iterator =
        rocksdb_create_iterator_cf(shard->db, shard->read_options, shard->family[index + 1]);
    rc = scan_blocks(shard, index, iterator, sums, rows, stride, err);
    rocksdb_iter_destroy(iterator);
    const struct checksum found = checksum_stream_sum(sums);
    checksum_stream_free(sums);
    return rc == ERROR_NONE ? check_content(shard, index, &found, err) : rc;
}

static enum error_code read_all(struct feature_shard *shard, int index, char *rows, size_t stride,
                                struct error *err)
{
    const enum error_code rc = read_all_once(shard, index, rows, stride, err);
    return may_have_passed(rc) ? read_all_once(shard, index, rows, stride, err) : rc;
}

enum error_code feature_shard_read_all(struct feature_shard *shard, const char *tensor, void *rows,
                                       size_t stride, struct error *err)
{
    int index = 0;
    const enum error_code rc = find_tensor(shard, tensor, &index, err);
    if (rc != ERROR_NONE)
        return rc;
    must(stride >= shard->seal.tensor[index].dim);
    return read_all(shard, index, rows, stride, err);
}

static enum error_code sum_blocks(struct feature_shard *shard, int index,
                                  struct checksum_stream *sums, struct error *err)
{
    const struct tensor_spec *tensor = &shard->seal.tensor[index];
    enum error_code rc = ERROR_NONE;
    for (uint64_t block = 0; rc == ERROR_NONE && block < feature_block_count(tensor); block++) {
        struct feature_pin pin = {0};
        rc = feature_shard_pin(shard, tensor->name, block, &pin, err);
        if (rc == ERROR_NONE)
            checksum_stream_add(sums, (const char *)pin.rows - SUM_SIZE, SUM_SIZE);
        feature_pin_release(&pin);
    }
    return rc;
}

/* Asks for each block by its key. A scan finds rows whose table RocksDB believes to hold other keys, or none. */
static enum error_code find_all(struct feature_shard *shard, int index, struct error *err)
{
    struct checksum_stream *sums = NULL;
    enum error_code rc = checksum_stream_new(&sums, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = sum_blocks(shard, index, sums, err);
    const struct checksum found = checksum_stream_sum(sums);
    checksum_stream_free(sums);
    return rc == ERROR_NONE ? check_content(shard, index, &found, err) : rc;
}

enum error_code feature_shard_verify(struct feature_shard *shard, struct error *err)
{
    enum error_code rc = folder_sums_check(shard->path, shard->key, true, err);
    for (int i = 0; rc == ERROR_NONE && i < shard->seal.tensor_count; i++) {
        rc = read_all(shard, i, NULL, shard->seal.tensor[i].dim, err);
        if (rc == ERROR_NONE)
            rc = find_all(shard, i, err);
    }
    return rc;
}

/* --- writing --- */

struct feature_shard_writer {
    struct store *store;
    char key[KEY_SIZE], seal_key[KEY_SIZE], owner_id[ID_SIZE];
    char scratch[FILE_PATH_SIZE];
    struct shard_seal seal;
    rocksdb_options_t *options;
    rocksdb_envoptions_t *file_options;
    /* The tensor being written: */
    rocksdb_sstfilewriter_t *file; /* NULL until its first block */
    struct checksum_stream *sums;
    struct feature_block_builder builder;
};

void feature_shard_writer_abandon(struct feature_shard_writer *writer)
{
    if (!writer)
        return;
    if (*writer->scratch && file_remove_all(writer->scratch, NULL) != ERROR_NONE)
        writer->scratch[0] = '\0'; /* store_sweep() takes it */
    if (writer->file)
        rocksdb_sstfilewriter_destroy(writer->file);
    if (writer->file_options)
        rocksdb_envoptions_destroy(writer->file_options);
    if (writer->options)
        rocksdb_options_destroy(writer->options);
    checksum_stream_free(writer->sums);
    feature_block_builder_release(&writer->builder);
    memory_free(writer);
}

enum error_code feature_shard_writer_new(struct store *store, const char *key, const char *seal_key,
                                         const char *owner_id, struct feature_shard_writer **out,
                                         struct error *err)
{
    struct feature_shard_writer *writer = NULL;
    enum error_code rc = memory_new(&writer, 1, "a shard writer", err);
    if (rc != ERROR_NONE)
        return rc;
    writer->store = store;
    must(text_copy(writer->key, KEY_SIZE, key) && text_copy(writer->seal_key, KEY_SIZE, seal_key) &&
         text_copy(writer->owner_id, ID_SIZE, owner_id));
    writer->options = shard_options();
    writer->file_options = rocksdb_envoptions_create();
    rc = store_scratch(store, writer->scratch, err);
    if (rc == ERROR_NONE)
        rc = checksum_stream_new(&writer->sums, err);
    if (rc != ERROR_NONE) {
        feature_shard_writer_abandon(writer);
        return rc;
    }
    *out = writer;
    return ERROR_NONE;
}

void feature_shard_writer_computed_with(struct feature_shard_writer *writer,
                                        const struct weights_identity *weights)
{
    writer->seal.has_weights = true;
    writer->seal.weights = *weights;
}

static enum error_code sst_path(const struct feature_shard_writer *writer, int tensor,
                                char path[FILE_PATH_SIZE], struct error *err)
{
    return file_path(path, err, "%s/tensor-%d.sst", writer->scratch, tensor);
}

static enum error_code open_file(struct feature_shard_writer *writer, struct error *err)
{
    char path[FILE_PATH_SIZE];
    char *failure = NULL;
    const enum error_code rc = sst_path(writer, writer->seal.tensor_count - 1, path, err);
    if (rc != ERROR_NONE)
        return rc;
    writer->file = rocksdb_sstfilewriter_create(writer->file_options, writer->options);
    rocksdb_sstfilewriter_open(writer->file, path, &failure);
    return failure ? rocksdb_failed(failure, SHARD_BUILD, writer->key, "cannot be written", err)
                   : ERROR_NONE;
}

static enum error_code flush_block(struct feature_shard_writer *writer, struct error *err)
{
    char key[FEATURE_BLOCK_KEY_SIZE];
    char *failure = NULL;
    uint64_t block = 0;
    size_t size = 0;
    const enum error_code rc = writer->file ? ERROR_NONE : open_file(writer, err);
    if (rc != ERROR_NONE)
        return rc;
    feature_block_builder_seal(&writer->builder, &block, &size);
    feature_block_key(block, key);
    rocksdb_sstfilewriter_put(writer->file, key, sizeof key, writer->builder.value, size, &failure);
    checksum_stream_add(writer->sums, writer->builder.value, SUM_SIZE);
    return failure ? rocksdb_failed(failure, SHARD_BUILD, writer->key, "cannot be written", err)
                   : ERROR_NONE;
}

/* Completes the tensor that is being written, if any. */
static enum error_code end_tensor(struct feature_shard_writer *writer, struct error *err)
{
    const int index = writer->seal.tensor_count - 1;
    char *failure = NULL;
    if (index < 0)
        return ERROR_NONE;
    const struct tensor_spec *tensor = &writer->seal.tensor[index];
    if (writer->builder.row_count != tensor->row_count)
        return error_set(err, ERROR_INVALID, "tensor %s: expected %" PRIu64 " rows, found %" PRIu64,
                         tensor->name, tensor->row_count, writer->builder.row_count);
    const enum error_code rc =
        writer->builder.buffered_rows ? flush_block(writer, err) : ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    if (writer->file) {
        rocksdb_sstfilewriter_finish(writer->file, &failure);
        rocksdb_sstfilewriter_destroy(writer->file);
        writer->file = NULL;
    }
    writer->seal.content[index] = checksum_stream_sum(writer->sums);
    return failure ? rocksdb_failed(failure, SHARD_BUILD, writer->key, "cannot be written", err)
                   : ERROR_NONE;
}

enum error_code feature_shard_writer_begin(struct feature_shard_writer *writer,
                                           const struct tensor_spec *tensor, struct error *err)
{
    enum error_code rc = end_tensor(writer, err);
    if (rc != ERROR_NONE)
        return rc;
    must(writer->seal.tensor_count < SHARD_TENSOR_COUNT_MAX);
    must(*tensor->name && strcmp(tensor->name, "default") != 0 &&
         shard_seal_find(&writer->seal, tensor->name) < 0);
    if (tensor->dim == 0 || tensor->dim > TENSOR_DIM_MAX)
        return error_set(err, ERROR_INVALID, "tensor %s: expected a dim of 1 to %d, found %" PRIu32,
                         tensor->name, TENSOR_DIM_MAX, tensor->dim);
    rc = feature_block_builder_begin(&writer->builder, tensor,
                                     feature_block_seed(writer->key, tensor->name), err);
    if (rc != ERROR_NONE)
        return rc;
    writer->seal.tensor[writer->seal.tensor_count++] = *tensor;
    checksum_stream_reset(writer->sums);
    return ERROR_NONE;
}

enum error_code feature_shard_writer_add(struct feature_shard_writer *writer, const void *rows,
                                         uint64_t row_count, struct error *err)
{
    const char *from = rows;
    struct feature_block_builder *builder = &writer->builder;
    const struct tensor_spec *tensor = &builder->tensor;
    must(writer->seal.tensor_count > 0);
    if (row_count > tensor->row_count - builder->row_count)
        return error_set(err, ERROR_INVALID, "tensor %s: more than its %" PRIu64 " rows",
                         tensor->name, tensor->row_count);
    while (row_count) {
        const uint32_t taken = feature_block_builder_take(builder, from, row_count);
        row_count -= taken;
        from += (size_t)taken * tensor->dim * FEATURE_ELEMENT_SIZE;
        const bool full = builder->buffered_rows == FEATURE_BLOCK_ROWS;
        const enum error_code rc = full ? flush_block(writer, err) : ERROR_NONE;
        if (rc != ERROR_NONE)
            return rc;
    }
    return ERROR_NONE;
}

/* RocksDB takes the file it is given away, so it gets a second name of the table: the first stays for another
 * build. Where there are no such names (SMB) it copies the table (*by_copy). */
static enum error_code name_table(const struct feature_shard_writer *writer, int index,
                                  char path[FILE_PATH_SIZE], bool *by_copy, struct error *err)
{
    char kept[FILE_PATH_SIZE];
    enum error_code rc = sst_path(writer, index, kept, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/ingest-%d.sst", writer->scratch, index);
    if (rc != ERROR_NONE)
        return rc;
    (void)unlink(path);
    *by_copy = link(kept, path) != 0;
    return *by_copy ? sst_path(writer, index, path, err) : ERROR_NONE;
}

/* One column family with the rows of one tensor. */
static enum error_code ingest_tensor(const struct feature_shard_writer *writer, rocksdb_t *db,
                                     int index, struct error *err)
{
    char *failure = NULL;
    char path[FILE_PATH_SIZE];
    const char *const files[] = {path};
    bool by_copy = false;
    const struct tensor_spec *tensor = &writer->seal.tensor[index];
    const enum error_code rc =
        tensor->row_count ? name_table(writer, index, path, &by_copy, err) : ERROR_NONE;
    if (rc != ERROR_NONE)
        return rc;
    rocksdb_column_family_handle_t *family =
        rocksdb_create_column_family(db, writer->options, tensor->name, &failure);
    if (!failure && tensor->row_count) {
        rocksdb_ingestexternalfileoptions_t *how = rocksdb_ingestexternalfileoptions_create();
        rocksdb_ingestexternalfileoptions_set_move_files(how, !by_copy);
        rocksdb_ingest_external_file_cf(db, family, files, 1, how, &failure);
        rocksdb_ingestexternalfileoptions_destroy(how);
    }
    if (family)
        rocksdb_column_family_handle_destroy(family);
    return failure ? rocksdb_failed(failure, SHARD_BUILD, writer->key, tensor->name, err)
                   : ERROR_NONE;
}

/* The log and the lock are of no use in a folder that is only read. */
static enum error_code remove_log(void *context, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    if (strncmp(name, "LOG", 3) != 0 && strcmp(name, "LOCK") != 0)
        return ERROR_NONE;
    const enum error_code rc = file_path(path, err, "%s/%s", (const char *)context, name);
    return rc == ERROR_NONE ? file_remove_all(path, err) : rc;
}

static enum error_code build_database(const struct feature_shard_writer *writer, char *path,
                                      struct error *err)
{
    char *failure = NULL;
    enum error_code rc = ERROR_NONE;
    rocksdb_options_set_create_if_missing(writer->options, 1);
    rocksdb_options_set_error_if_exists(writer->options, 1);
    rocksdb_t *db = rocksdb_open(writer->options, path, &failure);
    if (failure)
        rc = rocksdb_failed(failure, SHARD_BUILD, writer->key, "cannot be built", err);
    for (int i = 0; rc == ERROR_NONE && i < writer->seal.tensor_count; i++)
        rc = ingest_tensor(writer, db, i, err);
    if (db)
        rocksdb_close(db);
    return rc == ERROR_NONE ? file_list(path, remove_log, path, err) : rc;
}

/* Finds every block in the folder and compares with what was written. */
static enum error_code read_back(const struct feature_shard_writer *writer, const char *path,
                                 struct error *err)
{
    struct feature_shard *shard = NULL;
    enum error_code rc = open_folder(path, writer->key, &writer->seal, &shard, err);
    for (int i = 0; rc == ERROR_NONE && i < writer->seal.tensor_count; i++)
        rc = find_all(shard, i, err);
    feature_shard_close(shard);
    return rc;
}

static enum error_code build_and_read_back(const struct feature_shard_writer *writer, char *path,
                                           struct error *err)
{
    enum error_code rc = file_remove_all(path, err);
    if (rc == ERROR_NONE)
        rc = build_database(writer, path, err);
    if (rc == ERROR_NONE)
        rc = folder_sums_write(path, err);
    return rc == ERROR_NONE ? read_back(writer, path, err) : rc;
}

/* RocksDB may swallow an error of the disk while it takes a table in, and then knows a database that nobody can
 * read: so nothing is published that was not read. What fails is thrown away and built again from the same
 * tables. */
static enum error_code build(const struct feature_shard_writer *writer, char *path,
                             struct error *err)
{
    enum error_code rc = ERROR_IO;
    for (int i = 0; may_have_passed(rc) && i < BUILD_ATTEMPTS; i++)
        rc = build_and_read_back(writer, path, err);
    /* Nobody else has touched it, so what does not match is a trouble of this host. */
    if (rc == ERROR_CORRUPT || rc == ERROR_NOT_FOUND)
        rc = error_context(err, ERROR_IO, "does not read back as it was written");
    return rc;
}

static enum error_code check_folder(const struct feature_shard_writer *writer, const char *path,
                                    struct error *err)
{
    struct feature_shard *shard = NULL;
    enum error_code rc = open_folder(path, writer->key, &writer->seal, &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_verify(shard, err);
    feature_shard_close(shard);
    return rc;
}

/* Whether a seal vouches for other rows than ours. */
static enum error_code is_sealed_otherwise(const struct feature_shard_writer *writer,
                                           bool *otherwise, struct error *err)
{
    struct shard_seal stored;
    const enum error_code rc =
        shard_seal_get(writer->store, writer->seal_key, writer->owner_id, &stored, err);
    *otherwise = rc == ERROR_NONE && !shard_seal_equal(&stored, &writer->seal);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* Moves the folder to its name. One that is there already and holds the same rows stays. One that does not, be it
 * what a power cut has left or what a disk has damaged, makes way, unless its seal says that other rows belong
 * there: that is an alarm, which putting our seal raises. */
static enum error_code publish(const struct feature_shard_writer *writer, const char *path,
                               struct error *err)
{
    char found[FILE_PATH_SIZE];
    bool existed = false, otherwise = false;
    enum error_code rc = store_artifact(writer->store, writer->key, found, err);
    if (rc == ERROR_NONE)
        rc = check_folder(writer, found, err);
    if (rc == ERROR_NONE)
        return rc;
    if (rc == ERROR_CORRUPT) {
        rc = is_sealed_otherwise(writer, &otherwise, err);
        if (rc != ERROR_NONE || otherwise)
            return rc;
        rc = store_remove(writer->store, writer->key, err);
    }
    if (rc == ERROR_NONE || rc == ERROR_NOT_FOUND)
        rc = artifact_publish(writer->store, path, writer->key, &existed, found, err);
    return rc == ERROR_NONE && existed ? check_folder(writer, found, err) : rc;
}

enum error_code feature_shard_writer_finish(struct feature_shard_writer *writer, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = end_tensor(writer, err);
    must(rc != ERROR_NONE || writer->seal.tensor_count > 0);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/shard", writer->scratch);
    if (rc == ERROR_NONE)
        rc = build(writer, path, err);
    if (rc == ERROR_NONE)
        rc = publish(writer, path, err);
    if (rc == ERROR_NONE)
        rc = shard_seal_put(writer->store, writer->seal_key, writer->owner_id, &writer->seal, err);
    feature_shard_writer_abandon(writer);
    return rc;
}
