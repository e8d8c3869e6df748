/* Tests that flipped bytes of a table are refused by name or have no effect, and that RocksDB never
 * reads bytes that would fail its assertions. */
#include "common/files/file.h"
#include "store/features/feature_shard.h"
#include "store/objects/keys.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

static const char shard_key[] = "partition/p/part/0000000000/shard";
static const char seal_key[] = "partition/p/part/0000000000/shard_seal";

enum { DIM_MAX = 16, TOP_BIT = 7 };

struct fixture {
    struct temp_dir dir;
    struct store *store;
    struct error err;
    uint32_t dim;
    uint64_t row_count;
    char table[FILE_PATH_SIZE]; /* of the only tensor in the shard */
    uint64_t table_size;
};

static float value_of(uint64_t row, uint32_t column)
{
    return (float)(row * DIM_MAX + column + 1);
}

static void write_shard(struct fixture *f)
{
    struct feature_shard_writer *writer = NULL;
    const struct tensor_spec tensor = {
        .name = "rows", .type = TENSOR_F32, .dim = f->dim, .row_count = f->row_count};
    float row[DIM_MAX];
    assert_ok(feature_shard_writer_new(f->store, shard_key, seal_key, "p", &writer, &f->err),
              &f->err);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &f->err), &f->err);
    for (uint64_t r = 0; r < f->row_count; r++) {
        for (uint32_t c = 0; c < f->dim; c++)
            row[c] = value_of(r, c);
        assert_ok(feature_shard_writer_add(writer, row, 1, &f->err), &f->err);
    }
    assert_ok(feature_shard_writer_finish(writer, &f->err), &f->err);
}

static enum error_code note_table(void *context, const char *name, struct error *err)
{
    struct fixture *f = context;
    const char *end = strrchr(name, '.');
    if (!end || strcmp(end, ".sst") != 0)
        return ERROR_NONE;
    assert_string_equal(f->table, "");
    return file_path(f->table, err, "%s", name);
}

static struct fixture make_shard(uint32_t dim, uint64_t row_count)
{
    struct fixture f = {.dim = dim, .row_count = row_count};
    char path[FILE_PATH_SIZE], name[FILE_PATH_SIZE];
    temp_dir_make(&f.dir);
    assert_ok(file_path(path, &f.err, "%s/store", f.dir.path), &f.err);
    assert_ok(store_open(path, 0, &f.store, &f.err), &f.err);
    write_shard(&f);
    assert_ok(store_artifact(f.store, shard_key, path, &f.err), &f.err);
    assert_ok(file_list(path, note_table, &f, &f.err), &f.err);
    memcpy(name, f.table, sizeof name);
    assert_ok(file_path(f.table, &f.err, "%s/%s", path, name), &f.err);
    assert_ok(file_size(f.table, &f.table_size, &f.err), &f.err);
    return f;
}

static void close_fixture(struct fixture *f)
{
    store_close(f->store);
    temp_dir_remove(&f->dir);
}

static void assert_rows(const struct fixture *f, const float *rows)
{
    for (uint64_t r = 0; r < f->row_count; r++)
        for (uint32_t c = 0; c < f->dim; c++)
            assert_true(rows[r * f->dim + c] == value_of(r, c));
}

/* Checks that reading the damaged shard gives the right rows or ERROR_CORRUPT, and that verifying
 * it gives ERROR_CORRUPT. */
static void assert_refused_or_right(struct fixture *f, uint64_t byte)
{
    struct feature_shard *shard = NULL;
    float *rows = calloc(f->row_count * f->dim, sizeof *rows);
    assert_non_null(rows);
    enum error_code rc = feature_shard_open(f->store, shard_key, seal_key, "p", &shard, &f->err);
    if (rc == ERROR_NONE) {
        assert_fails(feature_shard_verify(shard, &f->err), ERROR_CORRUPT, shard_key, &f->err);
        rc = feature_shard_read_all(shard, "rows", rows, f->dim, &f->err);
    }
    if (rc != ERROR_NONE && (rc != ERROR_CORRUPT || !strstr(f->err.message, shard_key)))
        fail_msg("byte %d of the table: %s", (int)byte, f->err.message);
    if (rc == ERROR_NONE)
        assert_rows(f, rows);
    feature_shard_close(shard);
    free(rows);
}

static void flip_each(struct fixture *f, uint64_t begin, uint64_t end)
{
    for (uint64_t byte = begin; byte < end; byte++) {
        temp_dir_flip_bit(f->table, 8 * byte + TOP_BIT);
        assert_refused_or_right(f, byte);
        temp_dir_flip_bit(f->table, 8 * byte + TOP_BIT);
    }
}

static void any_byte_of_a_small_table(void **state)
{
    (void)state;
    struct fixture f = make_shard(1, 3);
    assert_true(f.table_size > 500 && f.table_size < 4000);
    flip_each(&f, 0, f.table_size);
    close_fixture(&f);
}

/* A block has its key, its value with a hash, and the index of both, which only RocksDB's checksum
 * covers. The first three blocks are not among the bytes that opening a shard checks. */
static void what_lies_between_the_values_of_a_large_table(void **state)
{
    (void)state;
    enum { BLOCK_ROWS = 256, BLOCKS = 5 };
    const uint64_t block_bytes = (uint64_t)BLOCK_ROWS * DIM_MAX * sizeof(float);
    struct fixture f = make_shard(DIM_MAX, (uint64_t)BLOCK_ROWS * BLOCKS);
    assert_true(f.table_size > BLOCKS * block_bytes);
    flip_each(&f, 0, 40);
    for (uint64_t block = 1; block < 3; block++)
        flip_each(&f, block * block_bytes, block * (block_bytes + 64));
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_byte_of_a_small_table),
        cmocka_unit_test(what_lies_between_the_values_of_a_large_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
