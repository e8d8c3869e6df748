#include "store/topology/topology.h"

#include "common/base/checksum.h"
#include "common/base/memory.h"
#include "store/objects/artifact_cache.h"
#include "store/objects/keys.h"
#include "store/records/topology_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK_KEY_SIZE = 24,
    VALUE_BYTES_MIN = 4096,
    ARRAY_COUNT = 3 + EDGE_COLUMN_COUNT,
    BUILD_ATTEMPTS = 3
};

/* One array as the file sees it. */
struct array {
    const char *name;
    size_t element_size; /* of an edge column: of one edge */
    unsigned shift;      /* elements in a chunk, as a power of two */
    uint64_t count;      /* 0: it is not there */
    const char *data;    /* NULL while reading */
};

static uint64_t chunk_elements(const struct array *array)
{
    return UINT64_C(1) << array->shift;
}

static uint64_t chunk_count(const struct array *array)
{
    return (array->count + chunk_elements(array) - 1) >> array->shift;
}

static uint64_t elements_of_chunk(const struct array *array, uint64_t chunk)
{
    const uint64_t left = array->count - (chunk << array->shift);
    return left < chunk_elements(array) ? left : chunk_elements(array);
}

/* Bytes of a chunk's value, filled up to the least size. */
static size_t value_bytes(const struct array *array, uint64_t chunk)
{
    const size_t bytes = elements_of_chunk(array, chunk) * array->element_size;
    return bytes < VALUE_BYTES_MIN ? VALUE_BYTES_MIN : bytes;
}

static MDB_val chunk_key(const struct array *array, uint64_t chunk, char text[CHUNK_KEY_SIZE])
{
    const int size = snprintf(text, CHUNK_KEY_SIZE, "%s/%05" PRIu64, array->name, chunk);
    must(size > 0 && size < CHUNK_KEY_SIZE);
    return (MDB_val){.mv_size = (size_t)size, .mv_data = text};
}

/* LMDB's own codes are negative, all others are errno. Files are hashed before LMDB sees them and after it has
 * written them, so its own complaints are troubles of the host, too. */
static enum error_code lmdb_error(int code, const char *what, const char *path, struct error *err)
{
    const bool is_full = code == ENOSPC || code == EDQUOT;
    const enum error_code kind = code == ENOMEM ? ERROR_NO_MEMORY
                                 : is_full      ? ERROR_NO_SPACE
                                                : ERROR_IO;
    return error_set(err, kind, "%s: LMDB cannot %s: %s", path, what, mdb_strerror(code));
}

/* --- writing --- */

/* Room for every value on pages of its own, and for the pages that name them. A pure function of the
 * sizes, because it is written into the file. */
static size_t map_size(const struct array *array, size_t page_size)
{
    size_t pages = 64;
    for (int a = 0; a < ARRAY_COUNT; a++)
        for (uint64_t chunk = 0; chunk < chunk_count(&array[a]); chunk++)
            pages += value_bytes(&array[a], chunk) / page_size + 4;
    return pages * page_size;
}

static int put_array(MDB_txn *txn, MDB_dbi dbi, const struct array *array)
{
    char text[CHUNK_KEY_SIZE];
    for (uint64_t chunk = 0; chunk < chunk_count(array); chunk++) {
        const size_t used = elements_of_chunk(array, chunk) * array->element_size;
        MDB_val key = chunk_key(array, chunk, text);
        MDB_val value = {.mv_size = value_bytes(array, chunk)};
        const int code = mdb_put(txn, dbi, &key, &value, MDB_RESERVE | MDB_NOOVERWRITE);
        if (code)
            return code;
        memcpy(value.mv_data, array->data + (chunk << array->shift) * array->element_size, used);
        memset((char *)value.mv_data + used, 0, value.mv_size - used);
    }
    return 0;
}

static int put_arrays(MDB_env *env, const struct array *array)
{
    MDB_txn *txn = NULL;
    MDB_dbi dbi = 0;
    int code = mdb_txn_begin(env, NULL, 0, &txn);
    if (code)
        return code;
    code = mdb_dbi_open(txn, NULL, 0, &dbi);
    for (int a = 0; code == 0 && a < ARRAY_COUNT; a++)
        code = put_array(txn, dbi, &array[a]);
    if (code) {
        mdb_txn_abort(txn);
        return code;
    }
    return mdb_txn_commit(txn);
}

/* Space is reserved before the map is written: on a full disk a write through a map is SIGBUS. The file is
 * not flushed here but when it is published. */
static int fill_environment(MDB_env *env, const char *path, const struct array *array,
                            uint64_t *file_size)
{
    MDB_envinfo info;
    mdb_filehandle_t fd = -1;
    const size_t page_size = (size_t)sysconf(_SC_PAGESIZE), bytes = map_size(array, page_size);
    int code = mdb_env_set_mapsize(env, bytes);
    if (code == 0)
        code = mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOLOCK | MDB_WRITEMAP | MDB_NOSYNC, 0666);
    if (code == 0)
        code = mdb_env_get_fd(env, &fd);
    if (code == 0)
        code = posix_fallocate(fd, 0, (off_t)bytes);
    if (code == 0)
        code = put_arrays(env, array);
    if (code == 0)
        code = mdb_env_info(env, &info);
    if (code == 0)
        *file_size = (info.me_last_pgno + 1) * page_size;
    return code;
}

static enum error_code write_file(const char *path, const struct array *array, struct error *err)
{
    MDB_env *env = NULL;
    uint64_t file_size = 0;
    int code = mdb_env_create(&env);
    if (code == 0)
        code = fill_environment(env, path, array, &file_size);
    if (env)
        mdb_env_close(env);
    if (code)
        return lmdb_error(code, "write the arrays", path, err);
    if (truncate(path, (off_t)file_size) != 0)
        return error_set_errno(err, ERROR_IO, "%s cannot be cut to its size", path);
    return ERROR_NONE;
}

/* Fails with ERROR_CORRUPT unless the file is what the seal says. */
static enum error_code check_file(const char *path, const char *artifact,
                                  const struct topology_seal *seal, struct error *err)
{
    struct checksum found = {0};
    uint64_t size = 0;
    const enum error_code rc = checksum_of_file(path, &found, &size, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "artifact %s", artifact);
    if (size == seal->file_size && checksum_equal(&found, &seal->file))
        return ERROR_NONE;
    char expected_text[CHECKSUM_TEXT_SIZE], found_text[CHECKSUM_TEXT_SIZE];
    checksum_text(&seal->file, expected_text);
    checksum_text(&found, found_text);
    return error_set(err, ERROR_CORRUPT,
                     "artifact %s: expected hash %s of %" PRIu64 " bytes, found %s of %" PRIu64
                     " bytes",
                     artifact, expected_text, seal->file_size, found_text, size);
}

/* --- reading --- */

/* The transaction stays open as long as pointers into the map are used. */
struct environment {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    struct artifact_handle file; /* {0}: of a file that is the caller's */
};

static int open_environment(struct environment *e, const char *path)
{
    int code = mdb_env_create(&e->env);
    if (code == 0)
        code = mdb_env_open(e->env, path, MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR, 0);
    if (code == 0)
        code = mdb_txn_begin(e->env, NULL, MDB_RDONLY, &e->txn);
    if (code == 0)
        code = mdb_dbi_open(e->txn, NULL, 0, &e->dbi);
    return code;
}

static void close_environment(struct environment *e)
{
    if (e->txn)
        mdb_txn_abort(e->txn);
    if (e->env)
        mdb_env_close(e->env);
    artifact_release(&e->file);
    *e = (struct environment){.env = NULL};
}

static void close_part(struct topology_part *part)
{
    if (part->environment)
        close_environment(part->environment);
    memory_free(part->environment);
    memory_free(part->row_start_chunk);
    memory_free(part->neighbor_chunk);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        memory_free(part->column_chunk[c]);
    memory_free(part->weight_sum_chunk);
    *part = (struct topology_part){0};
}

/* The addresses of an array's chunks; `out` is the address of the pointer to them. */
static enum error_code find_chunks(const struct environment *e, const struct array *array,
                                   void *out, struct error *err)
{
    const uint64_t count = chunk_count(array);
    const void **chunk = NULL;
    char text[CHUNK_KEY_SIZE];
    enum error_code rc = memory_new(&chunk, count ? count : 1, "the chunks of an array", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i < count; i++) {
        MDB_val key = chunk_key(array, i, text), value = {0};
        const int code = mdb_get(e->txn, e->dbi, &key, &value);
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

/* Row starts, neighbours, edge columns, sums of weights. */
static void describe_arrays(uint32_t node_count, uint64_t edge_count,
                            const struct edge_widths *width, struct array out[ARRAY_COUNT])
{
    out[0] = (struct array){.name = "row_start",
                            .element_size = sizeof(uint64_t),
                            .shift = TOPOLOGY_CHUNK_SHIFT,
                            .count = (uint64_t)node_count + 1};
    out[1] = (struct array){.name = "neighbor",
                            .element_size = sizeof(uint32_t),
                            .shift = TOPOLOGY_CHUNK_SHIFT,
                            .count = edge_count};
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const enum edge_column column = (enum edge_column)c;
        out[2 + c] = (struct array){.name = edge_column[c].name,
                                    .element_size = edge_column_bytes(column, width->of[c]),
                                    .shift = topology_column_shift(column, width->of[c]),
                                    .count = width->of[c] ? edge_count : 0};
    }
    out[ARRAY_COUNT - 1] = (struct array){.name = "weight_sum",
                                          .element_size = sizeof(float),
                                          .shift = TOPOLOGY_CHUNK_SHIFT,
                                          .count = width->of[EDGE_WEIGHT] ? node_count : 0};
}

static enum error_code find_arrays(struct topology_part *part, struct error *err)
{
    struct array array[ARRAY_COUNT];
    describe_arrays(part->node_count, part->edge_count, &part->width, array);
    enum error_code rc = find_chunks(part->environment, &array[0], &part->row_start_chunk, err);
    if (rc == ERROR_NONE)
        rc = find_chunks(part->environment, &array[1], &part->neighbor_chunk, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
        if (part->width.of[c])
            rc = find_chunks(part->environment, &array[2 + c], &part->column_chunk[c], err);
    if (rc == ERROR_NONE && part->width.of[EDGE_WEIGHT])
        rc = find_chunks(part->environment, &array[ARRAY_COUNT - 1], &part->weight_sum_chunk, err);
    return rc;
}

/* A file of this host that is what the seal says. One that was just fetched was hashed on its way. */
static enum error_code acquire_file(struct store *store, const char *artifact,
                                    const struct topology_seal *seal, struct artifact_handle *out,
                                    struct error *err)
{
    const struct artifact_request request = {
        .store = store, .key = artifact, .seal = &seal->file, .is_mapped = true};
    enum error_code rc = artifact_acquire(&request, out, err);
    if (rc == ERROR_NONE && !(out->is_fresh && checksum_equal(&out->sum, &seal->file)))
        rc = check_file(out->path, artifact, seal, err);
    if (rc == ERROR_CORRUPT)
        artifact_discard(out);
    else if (rc != ERROR_NONE)
        artifact_release(out);
    return rc;
}

static enum error_code open_file_once(struct topology_part *part, struct store *store,
                                      const char *artifact, const struct topology_seal *seal,
                                      struct error *err)
{
    struct environment *e = NULL;
    enum error_code rc = memory_new(&e, 1, "a topology", err);
    if (rc != ERROR_NONE)
        return rc;
    part->environment = e;
    part->first_node = seal->first_node;
    part->node_count = seal->node_count;
    part->edge_count = seal->edge_count;
    part->width = seal->width;
    rc = acquire_file(store, artifact, seal, &e->file, err);
    if (rc != ERROR_NONE)
        return rc;
    const int code = open_environment(e, e->file.path);
    rc = code ? lmdb_error(code, "open the file", e->file.path, err) : find_arrays(part, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "artifact %s", artifact);
}

static enum error_code open_part(struct store *store, const struct partition_book *book, int number,
                                 struct topology_part *out, struct topology_seal *seal,
                                 struct error *err)
{
    const struct key artifact = key_part(book->id, number, "topology");
    enum error_code rc = topology_seal_get(store, book->id, number, seal, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t first = book->book[number], count = book->book[number + 1] - first;
    if (seal->first_node != first || seal->node_count != count)
        return error_set(err, ERROR_CORRUPT,
                         "artifact %s: expected %u nodes from %u, found %u from %u", artifact.text,
                         count, first, seal->node_count, seal->first_node);
    rc = open_file_once(out, store, artifact.text, seal, err);
    if (rc != ERROR_IO)
        return rc;
    /* A device or network may stumble: what fails is told when it is met again. */
    close_part(out);
    return open_file_once(out, store, artifact.text, seal, err);
}

/* Adds a part to the whole: all parts have the same arrays. */
static enum error_code join_part(struct topology *t, int number, const struct topology_seal *seal,
                                 struct error *err)
{
    char expected[128], found[128];
    if (number == 0)
        t->width = seal->width;
    edge_widths_text(&t->width, expected, sizeof expected);
    edge_widths_text(&seal->width, found, sizeof found);
    if (!edge_widths_equal(&seal->width, &t->width))
        return error_set(
            err, ERROR_CORRUPT,
            "topology of part %d: expected the edge columns of part 0 (%s) in the same "
            "widths, found (%s)",
            number, expected, found);
    const struct checksum_part sums[] = {{&t->content, sizeof t->content},
                                         {&seal->file, sizeof seal->file}};
    t->content = checksum_of_parts(sums, 2);
    t->edge_count += seal->edge_count;
    return ERROR_NONE;
}

enum error_code topology_open(struct store *store, const struct partition_book *book,
                              struct topology *out, struct error *err)
{
    const size_t part_count = (size_t)book->part_count;
    struct topology t = {.part_count = book->part_count, .node_count = book->node_count};
    uint32_t *bounds = NULL;
    must(book->part_count > 0);
    enum error_code rc = memory_new(&bounds, part_count + 1, "a partition book", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(bounds, book->book, (part_count + 1) * sizeof *bounds);
    t.book = bounds;
    rc = memory_new(&t.part, part_count, "the parts of a topology", err);
    for (int p = 0; rc == ERROR_NONE && p < book->part_count; p++) {
        struct topology_seal seal = {0};
        rc = open_part(store, book, p, &t.part[p], &seal, err);
        if (rc == ERROR_NONE)
            rc = join_part(&t, p, &seal, err);
    }
    if (rc == ERROR_NONE) {
        *out = t;
        t = (struct topology){0}; /* moved to the caller */
    }
    topology_close(&t);
    return rc;
}

void topology_close(struct topology *topology)
{
    for (int p = 0; topology->part && p < topology->part_count; p++)
        close_part(&topology->part[p]);
    memory_free(topology->part);
    shared_area_close(&topology->copy);
    uint32_t *bounds = NULL;
    memcpy(&bounds, &topology->book, sizeof bounds); /* const only for readers */
    memory_free(bounds);
    *topology = (struct topology){0};
}

/* --- publishing --- */

/* Of each node, see topology_weight_sum(); in the order of the row. */
static enum error_code sum_weights(const struct topology_arrays *from, float **out,
                                   struct error *err)
{
    const float *weight = from->columns.data[EDGE_WEIGHT];
    *out = NULL;
    if (!weight)
        return ERROR_NONE;
    const enum error_code rc = memory_new(out, from->node_count, "sums of weights", err);
    for (uint32_t row = 0; rc == ERROR_NONE && row < from->node_count; row++) {
        double sum = 0.0;
        bool has_loop = false;
        for (uint64_t e = from->row_start[row]; e < from->row_start[row + 1]; e++) {
            sum += (double)weight[e];
            has_loop |= from->neighbor[e] == from->first_node + row;
        }
        (*out)[row] = (float)(has_loop ? sum : sum + 1);
    }
    return rc;
}

static void list_arrays(const struct topology_arrays *from, const float *weight_sum,
                        struct array out[ARRAY_COUNT])
{
    describe_arrays(from->node_count, from->edge_count, &from->columns.width, out);
    out[0].data = (const char *)from->row_start;
    out[1].data = (const char *)from->neighbor;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        out[2 + c].data = from->columns.data[c];
    out[ARRAY_COUNT - 1].data = (const char *)weight_sum;
}

static enum error_code seal_of(const struct topology_arrays *arrays, const char *path,
                               struct topology_seal *out, struct error *err)
{
    *out = (struct topology_seal){.first_node = arrays->first_node,
                                  .node_count = arrays->node_count,
                                  .edge_count = arrays->edge_count,
                                  .width = arrays->columns.width};
    return checksum_of_file(path, &out->file, &out->file_size, err);
}

/* What was written, read through LMDB anew, against the arrays: a hash of the file alone would seal whatever
 * LMDB made of them. */
static enum error_code compare_array(const struct environment *e, const struct array *array,
                                     struct error *err)
{
    const char **chunk = NULL;
    enum error_code rc = find_chunks(e, array, &chunk, err);
    must(rc != ERROR_NONE || chunk);
    for (uint64_t i = 0; rc == ERROR_NONE && i < chunk_count(array); i++)
        if (memcmp(chunk[i], array->data + (i << array->shift) * array->element_size,
                   elements_of_chunk(array, i) * array->element_size) != 0)
            rc = error_set(err, ERROR_CORRUPT,
                           "chunk %s/%05" PRIu64 ": expected the array, found other bytes",
                           array->name, i);
    memory_free(chunk);
    return rc;
}

static enum error_code read_back(const char *path, const struct array *array, struct error *err)
{
    struct environment e = {0};
    const int code = open_environment(&e, path);
    enum error_code rc = code ? lmdb_error(code, "open the file", path, err) : ERROR_NONE;
    for (int a = 0; rc == ERROR_NONE && a < ARRAY_COUNT; a++)
        rc = compare_array(&e, &array[a], err);
    close_environment(&e);
    return rc;
}

/* Writes the file, reads it and seals what was read; one that does not read back is thrown away and written
 * again. */
static enum error_code build(const struct topology_arrays *arrays, const char *path,
                             struct topology_seal *seal, struct error *err)
{
    struct array array[ARRAY_COUNT];
    float *weight_sum = NULL;
    enum error_code rc = sum_weights(arrays, &weight_sum, err);
    if (rc != ERROR_NONE)
        return rc;
    list_arrays(arrays, weight_sum, array);
    rc = ERROR_IO;
    for (int i = 0; (rc == ERROR_IO || rc == ERROR_CORRUPT) && i < BUILD_ATTEMPTS; i++) {
        (void)unlink(path);
        rc = write_file(path, array, err);
        if (rc == ERROR_NONE)
            rc = seal_of(arrays, path, seal, err);
        if (rc == ERROR_NONE)
            rc = read_back(path, array, err);
    }
    memory_free(weight_sum);
    /* Nobody else has touched it, so what does not match is a trouble of this host. */
    if (rc == ERROR_CORRUPT || rc == ERROR_NOT_FOUND)
        rc = error_context(err, ERROR_IO, "does not read back as it was written");
    return rc;
}

/* Whether a seal vouches for another file than ours. */
static enum error_code is_sealed_otherwise(struct store *store, const char *partition_id, int part,
                                           const struct topology_seal *seal, bool *otherwise,
                                           struct error *err)
{
    struct topology_seal stored;
    const enum error_code rc = topology_seal_get(store, partition_id, part, &stored, err);
    *otherwise = rc == ERROR_NONE && !checksum_equal(&stored.file, &seal->file);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc;
}

/* Compares what is stored under the key with what was written. */
static enum error_code check_stored(struct store *store, const char *artifact,
                                    const struct topology_seal *seal, struct error *err)
{
    struct artifact_handle file;
    const enum error_code rc = acquire_file(store, artifact, seal, &file, err);
    if (rc == ERROR_NONE)
        artifact_release(&file);
    return rc;
}

/* Moves the file to its name. One that is there already and is the same stays. One that is not, be it what a
 * power cut has left or what a disk has damaged, makes way, unless its seal says that another belongs there:
 * that is an alarm, which putting our seal raises. */
static enum error_code publish(struct store *store, const char *partition_id, int part,
                               const char *path, const struct topology_seal *seal,
                               struct error *err)
{
    const struct key artifact = key_part(partition_id, part, "topology");
    bool existed = false, otherwise = false;
    enum error_code rc = check_stored(store, artifact.text, seal, err);
    if (rc == ERROR_NONE)
        return rc;
    if (rc == ERROR_CORRUPT) {
        rc = is_sealed_otherwise(store, partition_id, part, seal, &otherwise, err);
        if (rc != ERROR_NONE || otherwise)
            return rc;
        rc = store_remove(store, artifact.text, err);
    }
    if (rc == ERROR_NONE || rc == ERROR_NOT_FOUND)
        rc = store_publish(store, path, artifact.text, &existed, err);
    return rc == ERROR_NONE && existed ? check_stored(store, artifact.text, seal, err) : rc;
}

enum error_code topology_write(struct store *store, const char *partition_id, int part,
                               const struct topology_arrays *arrays, struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    struct topology_seal seal = {0};
    must(arrays->row_start[0] == 0 && arrays->row_start[arrays->node_count] == arrays->edge_count);
    must(arrays->edge_count >> TOPOLOGY_CHUNK_SHIFT < TOPOLOGY_CHUNK_COUNT_MAX);
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = file_path(path, err, "%s/topology", scratch);
    if (rc == ERROR_NONE)
        rc = build(arrays, path, &seal, err);
    if (rc == ERROR_NONE)
        rc = publish(store, partition_id, part, path, &seal, err);
    if (rc == ERROR_NONE)
        rc = topology_seal_put(store, partition_id, part, &seal, err);
    const enum error_code removed = file_remove_all(scratch, rc == ERROR_NONE ? err : NULL);
    rc = rc == ERROR_NONE ? removed : rc;
    return rc == ERROR_NONE ? rc : error_context(err, rc, "topology of part %d", part);
}

/* Rows are ascending, so they stand side by side. */
uint32_t topology_self_loops(const struct topology_part *part, uint64_t start, uint32_t length,
                             uint32_t node)
{
    uint32_t low = 0, high = length;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (*topology_neighbor(part, start + middle) < node)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t end = low;
    while (end < length && *topology_neighbor(part, start + end) == node)
        end++;
    return end - low;
}

uint32_t topology_degree(const struct topology_part *part, uint32_t row, bool has_self_loops)
{
    const uint64_t start = topology_row_start(part, row);
    const uint32_t length = (uint32_t)(topology_row_start(part, row + 1) - start);
    return has_self_loops
               ? length - topology_self_loops(part, start, length, part->first_node + row)
               : length;
}
