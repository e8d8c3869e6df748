#include "store/features/feature_shard.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "store/features/feature_block.h"
#include "store/features/feature_shard_folder.h"
#include "store/features/folder_sums.h"
#include "store/features/shard_database.h"
#include "store/features/shard_delta.h"
#include "store/objects/artifact_cache.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SUM_SIZE = FEATURE_BLOCK_SUM_SIZE };

struct feature_shard {
    char key[KEY_SIZE], path[FILE_PATH_SIZE];
    struct artifact_handle files; /* {0} if the folder belongs to the caller */
    struct shard_seal seal;
    uint64_t seed[SHARD_TENSOR_COUNT_MAX]; /* seed of the blocks of each tensor */
    struct shard_database *database;
    struct shard_delta *delta; /* if set, there is no database */
};

void feature_shard_close(struct feature_shard *shard)
{
    if (!shard)
        return;
    shard_delta_close(shard->delta);
    shard_database_close(shard->database);
    artifact_release(&shard->files);
    memory_free(shard);
}

static enum error_code open_database(struct feature_shard *shard, struct error *err)
{
    const char *family[SHARD_TENSOR_COUNT_MAX];
    for (int i = 0; i < shard->seal.tensor_count; i++)
        family[i] = shard->seal.tensor[i].name;
    return shard_database_open(shard->path, shard->key, family, shard->seal.tensor_count,
                               &shard->database, err);
}

enum error_code feature_shard_open_folder(const char *path, const char *key,
                                          const struct shard_seal *seal, struct feature_shard **out,
                                          struct error *err)
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
    if (shard_failure_may_pass(rc))
        rc = open_database(shard, err);
    if (rc != ERROR_NONE) {
        feature_shard_close(shard);
        return rc;
    }
    *out = shard;
    return ERROR_NONE;
}

static enum error_code open_delta(struct store *store, const char *key,
                                  const struct shard_seal *seal, struct feature_shard **out,
                                  struct error *err)
{
    struct feature_shard *shard = NULL;
    enum error_code rc = memory_new(&shard, 1, "a feature shard", err);
    if (rc != ERROR_NONE)
        return rc;
    must(text_copy(shard->key, KEY_SIZE, key));
    shard->seal = *seal;
    rc = shard_delta_open(store, key, &shard->seal, &shard->delta, err);
    if (rc == ERROR_NONE)
        *out = shard;
    else
        feature_shard_close(shard);
    return rc;
}

static enum error_code open_files(struct store *store, const char *key,
                                  const struct shard_seal *seal, struct feature_shard **out,
                                  bool *was_copied, struct error *err)
{
    const struct checksum content =
        checksum_of(seal->content, (size_t)seal->tensor_count * sizeof *seal->content);
    const struct artifact_request request = {.store = store, .key = key, .seal = &content};
    struct artifact_handle files;
    enum error_code rc = artifact_acquire(&request, &files, err);
    *was_copied = rc == ERROR_NONE && files.is_copy;
    if (rc == ERROR_NONE)
        rc = feature_shard_open_folder(files.path, key, seal, out, err);
    if (rc == ERROR_NONE && files.is_fresh) {
        /* Verified now, because a damaged copy can no longer be replaced when blocks are read. */
        rc = feature_shard_verify(*out, err);
        if (rc != ERROR_NONE) {
            feature_shard_close(*out);
            *out = NULL;
        }
    }
    if (rc == ERROR_NONE)
        (*out)->files = files;
    else if (rc == ERROR_CORRUPT)
        artifact_discard(&files);
    else
        artifact_release(&files);
    return rc;
}

enum error_code feature_shard_open_sealed(struct store *store, const char *key,
                                          const struct shard_seal *seal, struct feature_shard **out,
                                          struct error *err)
{
    bool was_copied = false;
    if (seal->is_delta)
        return open_delta(store, key, seal, out, err);
    const enum error_code rc = open_files(store, key, seal, out, &was_copied, err);
    /* The copy may have been damaged on the way: it is discarded, and downloaded once more. */
    return rc == ERROR_CORRUPT && was_copied ? open_files(store, key, seal, out, &was_copied, err)
                                             : rc;
}

enum error_code feature_shard_open(struct store *store, const char *key, const char *seal_key,
                                   const char *owner_id, struct feature_shard **out,
                                   struct error *err)
{
    struct shard_seal seal;
    const enum error_code rc = shard_seal_get(store, seal_key, owner_id, &seal, err);
    return rc == ERROR_NONE ? feature_shard_open_sealed(store, key, &seal, out, err) : rc;
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

/* Adds the block to an error. */
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
    shard_value_release(pin->slice);
    memory_free(pin->copy);
    *pin = (struct feature_pin){0};
}

static enum error_code check_block(const struct feature_shard *shard, int index, uint64_t block,
                                   const char *value, size_t size, struct error *err)
{
    const enum error_code rc = feature_block_check(&shard->seal.tensor[index], shard->seed[index],
                                                   block, value, size, err);
    return rc == ERROR_NONE ? rc : of_block(shard, index, block, rc, err);
}

static enum error_code pin_block(const struct feature_shard *shard, int index, uint64_t block,
                                 struct feature_pin *pin, struct error *err)
{
    char key[FEATURE_BLOCK_KEY_SIZE];
    struct shard_value value;
    feature_block_key(block, key);
    const enum error_code rc =
        shard_database_get(shard->database, index, key, sizeof key, &value, err);
    pin->slice = value.slice;
    if (rc != ERROR_NONE)
        return rc;
    if (!value.data)
        return block_missing(shard, index, block, "none", err);
    pin->rows = value.data + SUM_SIZE;
    pin->row_count = feature_block_rows(&shard->seal.tensor[index], block);
    return check_block(shard, index, block, value.data, value.size, err);
}

enum error_code feature_shard_pin(struct feature_shard *shard, const char *tensor, uint64_t block,
                                  struct feature_pin *pin, struct error *err)
{
    int index = 0;
    enum error_code rc = find_tensor(shard, tensor, &index, err);
    if (rc != ERROR_NONE)
        return rc;
    must(block < feature_block_count(&shard->seal.tensor[index]));
    if (shard->delta) {
        rc = shard_delta_pin(shard->delta, index, block, pin, err);
        return rc == ERROR_CORRUPT ? of_block(shard, index, block, rc, err) : rc;
    }
    rc = pin_block(shard, index, block, pin, err);
    if (shard_failure_may_pass(rc)) {
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

/* Reports what is wrong when the scan has ended, or has another key than expected. `block` may be
 * the one after the last. */
static enum error_code wrong_key(const struct feature_shard *shard, int index, uint64_t block,
                                 const struct shard_scan *scan, struct error *err)
{
    if (scan->key)
        return block_missing(shard, index, block, "another key", err);
    const enum error_code rc = shard_scan_check(scan, err);
    return rc == ERROR_NONE ? block_missing(shard, index, block, "the end", err) : rc;
}

static bool stands_on(const struct shard_scan *scan, uint64_t block)
{
    char expected[FEATURE_BLOCK_KEY_SIZE];
    feature_block_key(block, expected);
    return scan->key && scan->key_size == sizeof expected &&
           memcmp(scan->key, expected, sizeof expected) == 0;
}

/* Checks that each block comes in its turn, whole, and that nothing follows the last. */
static enum error_code scan_blocks(const struct feature_shard *shard, int index,
                                   struct shard_scan *scan, struct checksum_stream *sums,
                                   char *rows, size_t stride, struct error *err)
{
    const struct tensor_spec *tensor = &shard->seal.tensor[index];
    const uint64_t count = feature_block_count(tensor);
    for (uint64_t block = 0; block < count; block++, shard_scan_step(scan)) {
        if (!stands_on(scan, block))
            return wrong_key(shard, index, block, scan, err);
        const enum error_code rc =
            check_block(shard, index, block, scan->value, scan->value_size, err);
        if (rc != ERROR_NONE)
            return rc;
        checksum_stream_add(sums, scan->value, SUM_SIZE);
        if (rows)
            feature_block_copy(tensor, block, scan->value, rows, stride);
    }
    return scan->key ? wrong_key(shard, index, count, scan, err) : shard_scan_check(scan, err);
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
    struct shard_scan scan;
    shard_scan_begin(shard->database, index, &scan);
    rc = scan_blocks(shard, index, &scan, sums, rows, stride, err);
    shard_scan_end(&scan);
    const struct checksum found = checksum_stream_sum(sums);
    checksum_stream_free(sums);
    return rc == ERROR_NONE ? check_content(shard, index, &found, err) : rc;
}

/* Visits one block of a tensor in its stored form: its hash, then its rows. */
typedef void (*block_visitor)(void *context, const struct tensor_spec *tensor, uint64_t block,
                              const char *stored);

/* Reads each block by its key. */
static enum error_code visit_blocks(struct feature_shard *shard, int index, block_visitor visit,
                                    void *context, struct error *err)
{
    const struct tensor_spec *tensor = &shard->seal.tensor[index];
    enum error_code rc = ERROR_NONE;
    for (uint64_t block = 0; rc == ERROR_NONE && block < feature_block_count(tensor); block++) {
        struct feature_pin pin = {0};
        rc = feature_shard_pin(shard, tensor->name, block, &pin, err);
        if (rc == ERROR_NONE)
            visit(context, tensor, block, (const char *)pin.rows - SUM_SIZE);
        feature_pin_release(&pin);
    }
    return rc;
}

struct copied_rows {
    char *rows;
    size_t stride;
};

static void copy_block(void *context, const struct tensor_spec *tensor, uint64_t block,
                       const char *stored)
{
    const struct copied_rows *to = context;
    feature_block_copy(tensor, block, stored, to->rows, to->stride);
}

static enum error_code read_all(struct feature_shard *shard, int index, char *rows, size_t stride,
                                struct error *err)
{
    struct copied_rows to = {rows, stride};
    if (shard->delta) /* the blocks of base and folder were checked by their hashes */
        return visit_blocks(shard, index, copy_block, &to, err);
    const enum error_code rc = read_all_once(shard, index, rows, stride, err);
    return shard_failure_may_pass(rc) ? read_all_once(shard, index, rows, stride, err) : rc;
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

static void sum_block(void *context, const struct tensor_spec *tensor, uint64_t block,
                      const char *stored)
{
    (void)tensor, (void)block;
    checksum_stream_add(context, stored, SUM_SIZE);
}

/* Reads each block of a tensor by its key. A scan proves less: it also finds rows of a table for
 * which RocksDB has recorded a wrong range of keys. */
static enum error_code find_tensor_blocks(struct feature_shard *shard, int index, struct error *err)
{
    struct checksum_stream *sums = NULL;
    enum error_code rc = checksum_stream_new(&sums, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = visit_blocks(shard, index, sum_block, sums, err);
    const struct checksum found = checksum_stream_sum(sums);
    checksum_stream_free(sums);
    return rc == ERROR_NONE ? check_content(shard, index, &found, err) : rc;
}

enum error_code feature_shard_verify(struct feature_shard *shard, struct error *err)
{
    if (shard->delta)
        return feature_shard_verify(shard_delta_own(shard->delta), err);
    enum error_code rc = folder_sums_check(shard->path, shard->key, true, err);
    for (int i = 0; rc == ERROR_NONE && i < shard->seal.tensor_count; i++) {
        rc = read_all(shard, i, NULL, shard->seal.tensor[i].dim, err);
        if (rc == ERROR_NONE)
            rc = find_tensor_blocks(shard, i, err);
    }
    return rc;
}

enum error_code feature_shard_find_all(struct feature_shard *shard, struct error *err)
{
    if (shard->delta)
        return feature_shard_find_all(shard_delta_own(shard->delta), err);
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < shard->seal.tensor_count; i++)
        rc = find_tensor_blocks(shard, i, err);
    return rc;
}
