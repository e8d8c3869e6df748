#include "store/topology/topology_file.h"

#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_KEY_SIZE = 40, VALUE_BYTES_MIN = 4096 };

/* Returns the bytes of a chunk's value, with padding to the least size. */
static size_t value_bytes(const struct topology_array *array, uint64_t chunk)
{
    const size_t bytes = topology_array_chunk_bytes(array, chunk);
    return bytes < VALUE_BYTES_MIN ? VALUE_BYTES_MIN : bytes;
}

static MDB_val chunk_key(const struct topology_array *array, uint64_t chunk,
                         char text[CHUNK_KEY_SIZE])
{
    const int size = array->relation
                         ? snprintf(text, CHUNK_KEY_SIZE, "%03" PRIu32 "/%s/%05" PRIu64,
                                    array->relation, array->name, chunk)
                         : snprintf(text, CHUNK_KEY_SIZE, "%s/%05" PRIu64, array->name, chunk);
    must(size > 0 && size < CHUNK_KEY_SIZE);
    return (MDB_val){.mv_size = (size_t)size, .mv_data = text};
}

/* Reports an error of LMDB. Its own codes are negative; all others are errno. */
static enum error_code lmdb_error(int code, const char *what, const char *path, struct error *err)
{
    const bool is_full = code == ENOSPC || code == EDQUOT;
    const enum error_code kind = code == ENOMEM ? ERROR_NO_MEMORY
                                 : is_full      ? ERROR_NO_SPACE
                                                : ERROR_IO;
    return error_set(err, kind, "%s: LMDB cannot %s: %s", path, what, mdb_strerror(code));
}

/* --- writing --- */

/* Returns the size of the map: each value has pages of its own, and there are pages for the index.
 * LMDB writes the size into the file, so it may depend only on the sizes of the arrays. */
static size_t map_size(const struct topology_array *array, int array_count, size_t page_size)
{
    size_t pages = 64;
    for (int a = 0; a < array_count; a++)
        for (uint64_t chunk = 0; chunk < topology_array_chunks(&array[a]); chunk++)
            pages += value_bytes(&array[a], chunk) / page_size + 4;
    return pages * page_size;
}

static int put_array(MDB_txn *txn, MDB_dbi dbi, const struct topology_array *array)
{
    char text[CHUNK_KEY_SIZE];
    for (uint64_t chunk = 0; chunk < topology_array_chunks(array); chunk++) {
        const size_t used = topology_array_chunk_bytes(array, chunk);
        MDB_val key = chunk_key(array, chunk, text);
        MDB_val value = {.mv_size = value_bytes(array, chunk)};
        const int code = mdb_put(txn, dbi, &key, &value, MDB_RESERVE | MDB_NOOVERWRITE);
        if (code)
            return code;
        memcpy(value.mv_data, topology_array_at(array, chunk), used);
        memset((char *)value.mv_data + used, 0, value.mv_size - used);
    }
    return 0;
}

static int put_arrays(MDB_env *env, const struct topology_array *array, int array_count)
{
    MDB_txn *txn = NULL;
    MDB_dbi dbi = 0;
    int code = mdb_txn_begin(env, NULL, 0, &txn);
    if (code)
        return code;
    code = mdb_dbi_open(txn, NULL, 0, &dbi);
    for (int a = 0; code == 0 && a < array_count; a++)
        code = put_array(txn, dbi, &array[a]);
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    return mdb_txn_commit(txn);
}

/* Fills the file. Space is reserved before the map is written: on a full disk a write through a map
 * would end with SIGBUS. The file is flushed only when it is published. */
static int fill_environment(MDB_env *env, const char *path, const struct topology_array *array,
                            int array_count, uint64_t *file_size)
{
    MDB_envinfo info;
    mdb_filehandle_t fd = -1;
    const size_t page_size = (size_t)sysconf(_SC_PAGESIZE),
                 bytes = map_size(array, array_count, page_size);
    int code = mdb_env_set_mapsize(env, bytes);
    if (code == 0)
        code = mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_WRITEMAP | MDB_NOSYNC, 0666);
    if (code == 0)
        code = mdb_env_get_fd(env, &fd);
    if (code == 0)
        code = posix_fallocate(fd, 0, (off_t)bytes);
    if (code == 0)
        code = put_arrays(env, array, array_count);
    if (code == 0)
        code = mdb_env_info(env, &info);
    if (code == 0)
        *file_size = (info.me_last_pgno + 1) * page_size;
    return code;
}

enum error_code topology_file_write(const char *path, const struct topology_array *array,
                                    int array_count, struct error *err)
{
    MDB_env *env = NULL;
    uint64_t file_size = 0;
    int code = mdb_env_create(&env);
    if (code == 0)
        code = fill_environment(env, path, array, array_count, &file_size);
    if (env)
        mdb_env_close(env);
    if (code)
        return lmdb_error(code, "write the arrays", path, err);
    if (truncate(path, (off_t)file_size) != 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be cut to its size", path);
    return ERROR_NONE;
}

/* --- reading --- */

enum error_code topology_file_open(const char *path, struct topology_file *out, struct error *err)
{
    *out = (struct topology_file){.environment = NULL};
    int code = mdb_env_create(&out->environment);
    if (code == 0)
        code = mdb_env_open(out->environment, path, MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR, 0);
    if (code == 0)
        code = mdb_txn_begin(out->environment, NULL, MDB_RDONLY, &out->transaction);
    if (code == 0)
        code = mdb_dbi_open(out->transaction, NULL, 0, &out->database);
    if (code == 0)
        return ERROR_NONE;
    topology_file_close(out);
    return lmdb_error(code, "open the file", path, err);
}

void topology_file_close(struct topology_file *file)
{
    if (file->transaction)
        mdb_txn_abort(file->transaction);
    if (file->environment)
        mdb_env_close(file->environment);
    *file = (struct topology_file){.environment = NULL};
}

enum error_code topology_file_chunks(const struct topology_file *file,
                                     const struct topology_array *array, void *out,
                                     struct error *err)
{
    const uint64_t count = topology_array_chunks(array);
    const void **chunk = NULL;
    char text[CHUNK_KEY_SIZE];
    enum error_code rc = memory_new(&chunk, count ? count : 1, "the chunks of an array", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i < count; i++) {
        MDB_val key = chunk_key(array, i, text), value = {0};
        const int code = mdb_get(file->transaction, file->database, &key, &value);
        if (code || value.mv_size != value_bytes(array, i)) {
            rc = error_set(err, ERROR_CORRUPT, "chunk %s: expected %zu bytes, found %zu (%s)", text,
                           value_bytes(array, i), value.mv_size,
                           code ? mdb_strerror(code) : "another size");
            memory_free(chunk);
            return rc;
        }
        chunk[i] = value.mv_data;
    }
    memcpy(out, &chunk, sizeof chunk);
    return ERROR_NONE;
}
