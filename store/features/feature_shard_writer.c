/* Builds a feature shard: writes tables in scratch, makes a database of them, reads it back, seals
 * and publishes it. */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "store/features/feature_block.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_shard_folder.h"
#include "store/features/folder_sums.h"
#include "store/features/shard_database.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SUM_SIZE = FEATURE_BLOCK_SUM_SIZE, BUILD_ATTEMPTS = 3 };

struct feature_shard_writer {
    struct store *store;
    char key[KEY_SIZE], seal_key[KEY_SIZE], owner_id[ID_SIZE];
    char scratch[FILE_PATH_SIZE];
    struct shard_seal seal;
    struct shard_builder *database;
    /* Only for a delta: its base, and the rows of each tensor. */
    bool is_over;
    char base_key[KEY_SIZE];
    struct shard_seal base;
    uint64_t row_count;
    /* The tensor that is being written; its table begins with its first block. */
    struct checksum_stream *sums;
    struct feature_block_builder builder;
};

void feature_shard_writer_abandon(struct feature_shard_writer *writer)
{
    if (!writer)
        return;
    if (*writer->scratch)
        /* store_sweep() removes what remains */
        error_ignore(file_remove_all(writer->scratch, NULL));
    shard_builder_free(writer->database);
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
    rc = shard_builder_new(key, &writer->database, err);
    if (rc == ERROR_NONE)
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

void feature_shard_writer_over(struct feature_shard_writer *writer, const char *base_key,
                               const struct shard_seal *base, uint64_t row_count)
{
    must(text_copy(writer->base_key, KEY_SIZE, base_key));
    writer->is_over = true;
    writer->base = *base;
    writer->row_count = row_count;
}

static enum error_code sst_path(const struct feature_shard_writer *writer, int tensor,
                                char path[FILE_PATH_SIZE], struct error *err)
{
    return file_path(path, err, "%s/tensor-%d.sst", writer->scratch, tensor);
}

static enum error_code begin_table(struct feature_shard_writer *writer, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = sst_path(writer, writer->seal.tensor_count - 1, path, err);
    return rc == ERROR_NONE ? shard_builder_begin_table(writer->database, path, err) : rc;
}

static enum error_code flush_block(struct feature_shard_writer *writer, struct error *err)
{
    char key[FEATURE_BLOCK_KEY_SIZE];
    uint64_t block = 0;
    size_t size = 0;
    const enum error_code rc =
        shard_builder_has_table(writer->database) ? ERROR_NONE : begin_table(writer, err);
    if (rc != ERROR_NONE)
        return rc;
    feature_block_builder_seal(&writer->builder, &block, &size);
    feature_block_key(block, key);
    checksum_stream_add(writer->sums, writer->builder.value, SUM_SIZE);
    return shard_builder_put(writer->database, key, sizeof key, writer->builder.value, size, err);
}

/* Ends the tensor that is being written, if there is one. */
static enum error_code end_tensor(struct feature_shard_writer *writer, struct error *err)
{
    const int index = writer->seal.tensor_count - 1;
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
    writer->seal.content[index] = checksum_stream_sum(writer->sums);
    return shard_builder_end_table(writer->database, err);
}

enum error_code feature_shard_writer_begin(struct feature_shard_writer *writer,
                                           const struct tensor_spec *tensor, struct error *err)
{
    enum error_code rc = end_tensor(writer, err);
    if (rc != ERROR_NONE)
        return rc;
    must(writer->seal.tensor_count < SHARD_TENSOR_COUNT_MAX);
    must(tensor_type_bytes(tensor->type));
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
        from += taken * tensor_row_bytes(tensor);
        const bool full = builder->buffered_rows == FEATURE_BLOCK_ROWS;
        const enum error_code rc = full ? flush_block(writer, err) : ERROR_NONE;
        if (rc != ERROR_NONE)
            return rc;
    }
    return ERROR_NONE;
}

/* Makes a second name for a table, because RocksDB moves the file that it is given; the first name
 * stays for another attempt. On file systems without hard links (SMB), RocksDB copies the table
 * (*by_copy). */
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

static enum error_code name_family(void *context, int index, struct shard_family *out,
                                   struct error *err)
{
    const struct feature_shard_writer *writer = context;
    const struct tensor_spec *tensor = &writer->seal.tensor[index];
    out->name = tensor->name;
    return tensor->row_count ? name_table(writer, index, out->table, &out->by_copy, err)
                             : ERROR_NONE;
}

/* Removes RocksDB's log and lock files, which a folder that is only read does not need. */
static enum error_code remove_log(void *context, const char *name, struct error *err)
{
    char path[FILE_PATH_SIZE];
    if (strncmp(name, "LOG", 3) != 0 && strcmp(name, "LOCK") != 0)
        return ERROR_NONE;
    const enum error_code rc = file_path(path, err, "%s/%s", (const char *)context, name);
    return rc == ERROR_NONE ? file_remove_all(path, err) : rc;
}

static enum error_code build_database(struct feature_shard_writer *writer, char *path,
                                      struct error *err)
{
    const enum error_code rc = shard_builder_build(
        writer->database, path, writer->seal.tensor_count, name_family, writer, err);
    return rc == ERROR_NONE ? file_list(path, remove_log, path, err) : rc;
}

/* Reads every block in the folder and compares it with what was written. */
static enum error_code read_back(const struct feature_shard_writer *writer, const char *path,
                                 struct error *err)
{
    struct feature_shard *shard = NULL;
    enum error_code rc = feature_shard_open_folder(path, writer->key, &writer->seal, &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_find_all(shard, err);
    feature_shard_close(shard);
    return rc;
}

static enum error_code build_and_read_back(struct feature_shard_writer *writer, char *path,
                                           struct error *err)
{
    enum error_code rc = file_remove_all(path, err);
    if (rc == ERROR_NONE)
        rc = build_database(writer, path, err);
    if (rc == ERROR_NONE)
        rc = folder_sums_write(path, err);
    return rc == ERROR_NONE ? read_back(writer, path, err) : rc;
}

/* Builds the folder and reads it back before it is published: RocksDB may swallow a disk error
 * while it ingests a table, and leave a database that cannot be read. A build that fails is removed
 * and repeated from the same tables. */
static enum error_code build(struct feature_shard_writer *writer, char *path, struct error *err)
{
    enum error_code rc = ERROR_IO;
    for (int i = 0; shard_failure_may_pass(rc) && i < BUILD_ATTEMPTS; i++)
        rc = build_and_read_back(writer, path, err);
    /* No other process has touched the files, so a mismatch is a fault of this host. */
    if (rc == ERROR_CORRUPT || rc == ERROR_NOT_FOUND)
        rc = error_context(err, ERROR_IO, "does not read back as it was written");
    return rc;
}

/* Compares the stored artifact with what was written. */
static enum error_code check_stored(const struct feature_shard_writer *writer, struct error *err)
{
    struct feature_shard *shard = NULL;
    enum error_code rc =
        feature_shard_open_sealed(writer->store, writer->key, &writer->seal, &shard, err);
    if (rc == ERROR_NONE)
        rc = feature_shard_verify(shard, err);
    feature_shard_close(shard);
    return rc;
}

/* Returns in *otherwise whether a stored seal describes other rows than ours. */
static enum error_code is_sealed_otherwise(const struct feature_shard_writer *writer,
                                           const struct shard_seal *seal, bool *otherwise,
                                           struct error *err)
{
    struct shard_seal stored;
    const enum error_code rc =
        shard_seal_get(writer->store, writer->seal_key, writer->owner_id, &stored, err);
    *otherwise = rc == ERROR_NONE && !shard_seal_equal(&stored, seal);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* Moves the folder to its key. A folder that is there and holds the same rows stays. One that does
 * not is replaced (a power cut or a disk damaged it), unless its seal describes other rows than
 * ours: then putting our seal fails, which is the alarm. */
static enum error_code publish(const struct feature_shard_writer *writer, const char *path,
                               const struct shard_seal *seal, struct error *err)
{
    bool existed = false, otherwise = false;
    enum error_code rc = check_stored(writer, err);
    if (rc == ERROR_NONE)
        return rc;
    if (rc == ERROR_CORRUPT) {
        rc = is_sealed_otherwise(writer, seal, &otherwise, err);
        if (rc != ERROR_NONE || otherwise)
            return rc;
        rc = store_remove(writer->store, writer->key, err);
    }
    if (rc == ERROR_NONE || rc == ERROR_NOT_FOUND)
        rc = store_publish(writer->store, path, writer->key, &existed, err);
    return rc == ERROR_NONE && existed ? check_stored(writer, err) : rc;
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
    struct shard_seal seal = writer->seal;
    if (rc == ERROR_NONE && writer->is_over)
        rc = shard_seal_over(&writer->seal, writer->base_key, &writer->base, writer->row_count,
                             &seal, err);
    if (rc == ERROR_NONE)
        rc = publish(writer, path, &seal, err);
    if (rc == ERROR_NONE)
        rc = shard_seal_put(writer->store, writer->seal_key, writer->owner_id, &seal, err);
    feature_shard_writer_abandon(writer);
    return rc;
}
