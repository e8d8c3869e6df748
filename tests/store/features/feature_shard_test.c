#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/features/feature_shard.h"
#include "store/objects/keys.h"
#include "store/records/round/shard_seal.h"

#include "tests/support/child_end.h"
#include "tests/support/failing_calls.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char shard_key[] = "partition/p/part/0000000000/shard";
static const char seal_key[] = "partition/p/part/0000000000/shard_seal";

/* Tensors of no row, one row, one row less than a block, a full block, one row more, and several
 * blocks. */
static const uint64_t odd_sizes[] = {0, 1, 255, 256, 257, 512, 1000};

enum { ODD_COUNT = sizeof odd_sizes / sizeof *odd_sizes };

struct fixture {
    struct temp_dir dir;
    struct store *store;
    struct error err;
};

static struct fixture open_fixture(void)
{
    struct fixture f = {.store = NULL};
    char path[FILE_PATH_SIZE];
    temp_dir_make(&f.dir);
    assert_ok(file_path(path, &f.err, "%s/store", f.dir.path), &f.err);
    assert_ok(store_open(path, 0, &f.store, &f.err), &f.err);
    return f;
}

static void close_fixture(struct fixture *f)
{
    store_close(f->store);
    temp_dir_remove(&f->dir);
}

static float value_of(uint64_t tensor, uint64_t row, uint32_t column)
{
    return (float)(tensor * 100000 + row * 10 + column);
}

/* Writes tensor i with odd_sizes[i] rows of i + 1 elements, `step` rows at a time. */
static enum error_code write_tensors(struct feature_shard_writer *writer, uint64_t step,
                                     struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint64_t i = 0; rc == ERROR_NONE && i < ODD_COUNT; i++) {
        struct tensor_spec tensor = {
            .type = TENSOR_F32, .dim = (uint32_t)i + 1, .row_count = odd_sizes[i]};
        (void)snprintf(tensor.name, sizeof tensor.name, "tensor_%d", (int)i);
        rc = feature_shard_writer_begin(writer, &tensor, err);
        for (uint64_t row = 0; rc == ERROR_NONE && row < tensor.row_count;) {
            float rows[64 * ODD_COUNT];
            uint64_t count = 0;
            for (; count < step && row < tensor.row_count; count++, row++)
                for (uint32_t c = 0; c < tensor.dim; c++)
                    rows[count * tensor.dim + c] = value_of(i, row, c);
            rc = feature_shard_writer_add(writer, rows, count, err);
        }
    }
    return rc;
}

static enum error_code write_shard(struct store *store, uint64_t step, struct error *err)
{
    struct feature_shard_writer *writer = NULL;
    enum error_code rc = feature_shard_writer_new(store, shard_key, seal_key, "p", &writer, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = write_tensors(writer, step, err);
    if (rc == ERROR_NONE)
        return feature_shard_writer_finish(writer, err);
    feature_shard_writer_abandon(writer);
    return rc;
}

static struct feature_shard *open_shard(struct fixture *f)
{
    struct feature_shard *shard = NULL;
    assert_ok(feature_shard_open(f->store, shard_key, seal_key, "p", &shard, &f->err), &f->err);
    return shard;
}

static void assert_shard(struct feature_shard *shard)
{
    struct error err = {0};
    for (uint64_t i = 0; i < ODD_COUNT; i++) {
        char name[TENSOR_NAME_SIZE];
        float rows[256 * ODD_COUNT];
        (void)snprintf(name, sizeof name, "tensor_%d", (int)i);
        const struct tensor_spec *tensor = feature_shard_tensor(shard, name);
        assert_non_null(tensor);
        assert_int_equal(tensor->row_count, odd_sizes[i]);
        assert_int_equal(tensor->dim, i + 1);
        for (uint64_t row = 0, block = 0; row < odd_sizes[i]; block++) {
            uint32_t count = 0;
            assert_ok(feature_shard_read_block(shard, name, block, rows, &count, &err), &err);
            assert_true(count >= 1 && count <= 256);
            for (uint32_t r = 0; r < count; r++, row++)
                for (uint32_t c = 0; c <= i; c++)
                    assert_true(rows[r * (i + 1) + c] == value_of(i, row, c));
        }
    }
}

static void every_row_reads_back_by_block_and_by_scan(void **state)
{
    (void)state;
    static const uint64_t steps[] = {1, 7, 64};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        struct fixture f = open_fixture();
        const long blocks = memory_live_blocks();
        assert_ok(write_shard(f.store, steps[s], &f.err), &f.err);
        assert_int_equal(memory_live_blocks(), blocks);
        struct feature_shard *shard = open_shard(&f);
        assert_shard(shard);
        for (uint64_t i = 0; i < ODD_COUNT; i++)
            for (size_t stride = i + 1; stride < i + 4; stride += 2) {
                char name[TENSOR_NAME_SIZE];
                (void)snprintf(name, sizeof name, "tensor_%d", (int)i);
                float *rows = calloc(1000 * stride + 1, sizeof *rows);
                assert_non_null(rows);
                assert_ok(feature_shard_read_all(shard, name, rows, stride, &f.err), &f.err);
                for (uint64_t row = 0; row < odd_sizes[i]; row++)
                    for (uint32_t c = 0; c <= i; c++)
                        assert_true(rows[row * stride + c] == value_of(i, row, c));
                free(rows);
            }
        assert_ok(feature_shard_verify(shard, &f.err), &f.err);
        assert_null(feature_shard_tensor(shard, "tensor_9"));
        assert_fails(feature_shard_read_all(shard, "tensor_9", NULL, 1, &f.err), ERROR_NOT_FOUND,
                     "has no tensor tensor_9", &f.err);
        feature_shard_close(shard);
        assert_int_equal(memory_live_blocks(), blocks);
        close_fixture(&f);
    }
}

/* Tests that a second, equal build keeps the folder of the first, because its seal is the same
 * record. */
static void a_shard_built_twice_is_success_and_a_different_one_is_not(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct feature_shard_writer *writer = NULL;
    const struct tensor_spec tensor = {
        .name = "tensor_1", .type = TENSOR_F32, .dim = 2, .row_count = 1};
    const float row[2] = {1.0F, 2.0F};
    assert_ok(write_shard(f.store, 1, &f.err), &f.err);
    assert_ok(write_shard(f.store, 64, &f.err), &f.err);
    assert_ok(feature_shard_writer_new(f.store, shard_key, seal_key, "p", &writer, &f.err), &f.err);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &f.err), &f.err);
    assert_ok(feature_shard_writer_add(writer, row, 1, &f.err), &f.err);
    assert_fails(feature_shard_writer_finish(writer, &f.err), ERROR_CORRUPT,
                 "alarm: record partition/p/part/0000000000/shard_seal was made again", &f.err);
    struct feature_shard *shard = open_shard(&f);
    assert_shard(shard);
    feature_shard_close(shard);
    close_fixture(&f);
}

static void a_replay_compares_the_content(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct store *replay = NULL;
    assert_ok(write_shard(f.store, 1, &f.err), &f.err);
    assert_ok(store_open(store_root(f.store), STORE_REPLAY, &replay, &f.err), &f.err);
    assert_ok(write_shard(replay, 64, &f.err), &f.err);
    assert_int_equal(store_replay_report(replay).matched, 1);
    store_close(replay);
    close_fixture(&f);
}

static void rows_that_are_too_many_or_too_few_are_refused(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    struct feature_shard_writer *writer = NULL;
    const struct tensor_spec tensor = {.name = "x", .type = TENSOR_F32, .dim = 1, .row_count = 2};
    const struct tensor_spec wide = {
        .name = "y", .type = TENSOR_F32, .dim = TENSOR_DIM_MAX + 1, .row_count = 2};
    const float rows[3] = {1.0F, 2.0F, 3.0F};
    assert_ok(feature_shard_writer_new(f.store, shard_key, seal_key, "p", &writer, &f.err), &f.err);
    assert_fails(feature_shard_writer_begin(writer, &wide, &f.err), ERROR_INVALID,
                 "tensor y: expected a dim of 1 to 1048576, found 1048577", &f.err);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &f.err), &f.err);
    assert_fails(feature_shard_writer_add(writer, rows, 3, &f.err), ERROR_INVALID,
                 "tensor x: more than its 2 rows", &f.err);
    assert_ok(feature_shard_writer_add(writer, rows, 1, &f.err), &f.err);
    assert_fails(feature_shard_writer_finish(writer, &f.err), ERROR_INVALID,
                 "tensor x: expected 2 rows, found 1", &f.err);
    bool found = true;
    assert_ok(store_has(f.store, shard_key, &found, &f.err), &f.err);
    assert_false(found);
    feature_shard_writer_abandon(NULL);
    close_fixture(&f);
}

/* --- the sealed folder --- */

struct file_names {
    char name[32][64];
    int count;
};

static enum error_code add_name(void *context, const char *name, struct error *err)
{
    struct file_names *names = context;
    (void)err;
    assert_true(names->count < 32);
    (void)snprintf(names->name[names->count++], 64, "%s", name);
    return ERROR_NONE;
}

static struct file_names names_in(const char *folder)
{
    struct error err = {0};
    struct file_names names = {.count = 0};
    assert_ok(file_list(folder, add_name, &names, &err), &err);
    return names;
}

static void readers_leave_the_folder_as_it_is(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    char folder[FILE_PATH_SIZE];
    assert_ok(write_shard(f.store, 64, &f.err), &f.err);
    assert_ok(store_artifact(f.store, shard_key, folder, &f.err), &f.err);
    const struct file_names before = names_in(folder);
    /* Makes the folder read-only, which has no effect if the test runs as root. */
    assert_int_equal(chmod(folder, 0555), 0);
    pid_t child[3];
    for (int i = 0; i < 3; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0) {
            struct feature_shard *shard = NULL;
            struct error err = {0};
            enum error_code rc =
                feature_shard_open(f.store, shard_key, seal_key, "p", &shard, &err);
            if (rc == ERROR_NONE)
                rc = feature_shard_verify(shard, &err);
            feature_shard_close(shard);
            child_end((int)rc);
        }
    }
    for (int i = 0; i < 3; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct feature_shard *one = open_shard(&f), *two = open_shard(&f);
    assert_shard(one);
    assert_shard(two);
    feature_shard_close(one);
    feature_shard_close(two);
    assert_int_equal(chmod(folder, 0755), 0);
    const struct file_names after = names_in(folder);
    assert_int_equal(before.count, after.count);
    for (int i = 0; i < before.count; i++) {
        assert_string_equal(before.name[i], after.name[i]);
        assert_null(strstr(after.name[i], "LO"));
    }
    close_fixture(&f);
}

/* Opens a shard and reads everything, which must find the damage. */
static enum error_code open_and_verify(struct fixture *f)
{
    struct feature_shard *shard = NULL;
    enum error_code rc = feature_shard_open(f->store, shard_key, seal_key, "p", &shard, &f->err);
    if (rc == ERROR_NONE)
        rc = feature_shard_verify(shard, &f->err);
    feature_shard_close(shard);
    return rc;
}

static void every_flipped_bit_of_every_file_is_reported(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    const struct random_stream stream = {0};
    assert_ok(write_shard(f.store, 64, &f.err), &f.err);
    assert_ok(store_artifact(f.store, shard_key, folder, &f.err), &f.err);
    const struct file_names names = names_in(folder);
    int tables = 0;
    for (int n = 0; n < names.count; n++) {
        uint64_t size = 0;
        assert_ok(file_path(path, &f.err, "%s/%s", folder, names.name[n]), &f.err);
        assert_ok(file_size(path, &size, &f.err), &f.err);
        const bool table = strstr(names.name[n], ".sst") != NULL;
        tables += table;
        for (uint64_t i = 0; i < (table ? 20 : 8) && i < 8 * size; i++) {
            const uint64_t bit = random_permute(&stream, i, 8 * size);
            temp_dir_flip_bit(path, bit);
            const enum error_code rc = open_and_verify(&f);
            if (rc != ERROR_CORRUPT)
                fail_msg("bit %d of %s: code %d: %s", (int)bit, names.name[n], (int)rc,
                         f.err.message);
            assert_non_null(strstr(f.err.message, shard_key));
            temp_dir_flip_bit(path, bit);
        }
    }
    assert_int_equal(tables, ODD_COUNT - 1);
    assert_ok(open_and_verify(&f), &f.err);
    close_fixture(&f);
}

static void a_missing_or_cut_file_is_reported(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    assert_fails(open_and_verify(&f), ERROR_NOT_FOUND, seal_key, &f.err);
    assert_ok(write_shard(f.store, 64, &f.err), &f.err);
    assert_ok(store_artifact(f.store, shard_key, folder, &f.err), &f.err);
    const struct file_names names = names_in(folder);
    for (int n = 0; n < names.count; n++) {
        char *data = NULL;
        size_t size = 0;
        assert_ok(file_path(path, &f.err, "%s/%s", folder, names.name[n]), &f.err);
        if (strcmp(names.name[n], ".artifact") == 0)
            continue;
        assert_ok(file_read(path, 0, &data, &size, &f.err), &f.err);
        if (size) {
            assert_int_equal(truncate(path, (off_t)size / 2), 0);
            assert_fails(open_and_verify(&f), ERROR_CORRUPT, shard_key, &f.err);
        }
        assert_int_equal(unlink(path), 0);
        assert_fails(open_and_verify(&f), ERROR_CORRUPT, shard_key, &f.err);
        assert_ok(file_replace(path, data, size, false, &f.err), &f.err);
        memory_free(data);
    }
    assert_ok(open_and_verify(&f), &f.err);
    assert_ok(store_remove(f.store, shard_key, &f.err), &f.err);
    assert_fails(open_and_verify(&f), ERROR_NOT_FOUND, shard_key, &f.err);
    close_fixture(&f);
}

/* Checks that a refused allocation is what is reported: any other failure is the host's, or a fault
 * of ours. */
static void expect_no_memory(enum error_code rc, long passed, const struct error *err)
{
    if (rc != ERROR_NONE && rc != ERROR_NO_MEMORY)
        fail_msg("after %ld allocations: error %d: %s", passed, (int)rc, err->message);
}

static void every_refused_allocation_leaves_nothing(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    const long blocks = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        memory_fail_after(n);
        rc = write_shard(f.store, 64, &f.err);
        memory_fail_after(-1);
        expect_no_memory(rc, n, &f.err);
        assert_int_equal(memory_live_blocks(), blocks);
        assert_ok(store_sweep(f.store, &f.err), &f.err);
        assert_true(n < 500);
    }
    rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        memory_fail_after(n);
        rc = open_and_verify(&f);
        memory_fail_after(-1);
        expect_no_memory(rc, n, &f.err);
        assert_int_equal(memory_live_blocks(), blocks);
        assert_true(n < 500);
    }
    close_fixture(&f);
}

enum { BUILD_FAILED = 1, BUILD_MET_NO_FAILURE = 2, BUILD_OTHERWISE = 3 };

/* Builds a shard in a child while reads fail. Returns BUILD_..., 0 if it succeeded nevertheless, or
 * less than 0 if the child was killed: Debian leaves RocksDB's assertions in, and they do not
 * expect that an ingestion cannot read the last block of a table. */
static int build_with_failing_read(struct fixture *f, long passed, long count)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const long blocks = memory_live_blocks();
        failing_calls_plan(CALL_PREAD, passed, count, EIO);
        const enum error_code rc = write_shard(f->store, 64, &f->err);
        const long failed = failing_calls_end();
        if ((rc != ERROR_NONE && rc != ERROR_IO) || memory_live_blocks() != blocks)
            child_end(BUILD_OTHERWISE);
        child_end(rc == ERROR_IO ? BUILD_FAILED : failed ? 0 : BUILD_MET_NO_FAILURE);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* RocksDB swallows some read errors during ingestion, and would leave a database that cannot be
 * read. Whichever read fails, the shard is right, or there is none and the next attempt is
 * right. */
static void whichever_read_fails_while_building_no_bad_shard_is_sealed(void **state)
{
    (void)state;
    int became = 0;
    for (long passed = 0; became != BUILD_MET_NO_FAILURE; passed++) {
        struct fixture f = open_fixture();
        became = build_with_failing_read(&f, passed, 1);
        assert_true(became == 0 || became == BUILD_MET_NO_FAILURE || became == -SIGABRT);
        if (became == -SIGABRT)
            assert_ok(write_shard(f.store, 64, &f.err), &f.err);
        assert_ok(open_and_verify(&f), &f.err);
        struct feature_shard *shard = open_shard(&f);
        assert_shard(shard); /* by key, because a scan would not notice */
        feature_shard_close(shard);
        close_fixture(&f);
        assert_true(passed < 1000);
    }
}

static void a_disk_that_never_reads_back_is_an_io_error(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    bool found = true;
    assert_int_equal(build_with_failing_read(&f, 0, -1), BUILD_FAILED);
    assert_ok(store_has(f.store, shard_key, &found, &f.err), &f.err);
    assert_false(found);
    assert_ok(write_shard(f.store, 64, &f.err), &f.err);
    assert_ok(open_and_verify(&f), &f.err);
    close_fixture(&f);
}

/* Tests a file system without hard links (SMB), where RocksDB copies the table. */
static void a_shard_is_built_without_hard_links(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    failing_calls_plan(CALL_LINK, 0, -1, EPERM);
    assert_ok(write_shard(f.store, 64, &f.err), &f.err);
    assert_true(failing_calls_end() > 0);
    assert_ok(open_and_verify(&f), &f.err);
    close_fixture(&f);
}

static void a_full_disk_is_told_from_other_trouble(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    failing_calls_plan(CALL_WRITE, 0, -1, ENOSPC);
    const enum error_code rc = write_shard(f.store, 64, &f.err);
    assert_true(failing_calls_end() > 0);
    assert_int_equal(rc, ERROR_NO_SPACE);
    assert_ok(write_shard(f.store, 64, &f.err), &f.err);
    assert_ok(open_and_verify(&f), &f.err);
    close_fixture(&f);
}

static void whichever_read_fails_once_while_reading_is_tried_again(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    assert_ok(write_shard(f.store, 64, &f.err), &f.err);
    for (long passed = 0, failed = 1; failed; passed++) {
        failing_calls_plan(CALL_PREAD, passed, 1, EIO);
        const enum error_code rc = open_and_verify(&f);
        failed = failing_calls_end();
        if (rc != ERROR_NONE)
            fail_msg("read %ld: %s", passed, f.err.message);
    }
    failing_calls_plan(CALL_PREAD, 0, -1, EIO);
    assert_fails(open_and_verify(&f), ERROR_IO, shard_key, &f.err);
    (void)failing_calls_end();
    close_fixture(&f);
}

/* Tests that a build replaces what a power cut or a bad disk left under the key, sealed or not. */
static void a_damaged_shard_makes_way_when_it_is_built_again(void **state)
{
    (void)state;
    for (int sealed = 0; sealed < 2; sealed++) {
        struct fixture f = open_fixture();
        char path[FILE_PATH_SIZE], sums[FILE_PATH_SIZE];
        assert_ok(write_shard(f.store, 64, &f.err), &f.err);
        assert_ok(store_artifact(f.store, shard_key, path, &f.err), &f.err);
        assert_ok(file_path(sums, &f.err, "%s/SUMS", path), &f.err);
        temp_dir_flip_bit(sums, 77);
        if (!sealed)
            assert_ok(store_remove(f.store, seal_key, &f.err), &f.err);
        assert_ok(write_shard(f.store, 64, &f.err), &f.err);
        assert_ok(open_and_verify(&f), &f.err);
        close_fixture(&f);
    }
}

/* Writes one of two parts of equal shape, as a hash partition of even size makes them. */
static void write_part(struct fixture *f, int part)
{
    struct feature_shard_writer *writer = NULL;
    struct tensor_spec tensor = {.name = "rows", .type = TENSOR_F32, .dim = 4, .row_count = 600};
    float row[4];
    assert_ok(feature_shard_writer_new(f->store, key_part("p", part, "shard").text,
                                       key_part("p", part, "shard_seal").text, "p", &writer,
                                       &f->err),
              &f->err);
    assert_ok(feature_shard_writer_begin(writer, &tensor, &f->err), &f->err);
    for (uint64_t i = 0; i < tensor.row_count; i++) {
        for (uint32_t c = 0; c < 4; c++)
            row[c] = value_of((uint64_t)part, i, c);
        assert_ok(feature_shard_writer_add(writer, row, 1, &f->err), &f->err);
    }
    assert_ok(feature_shard_writer_finish(writer, &f->err), &f->err);
}

/* Exchanges two folders: every file in them is whole and matches its list, so only a block's hash
 * can show that it is in the wrong place. */
static void a_shard_in_the_place_of_another_is_refused_block_by_block(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    char path[2][FILE_PATH_SIZE], aside[FILE_PATH_SIZE];
    float rows[256 * 4];
    uint32_t count = 0;
    for (int part = 0; part < 2; part++) {
        write_part(&f, part);
        assert_ok(store_artifact(f.store, key_part("p", part, "shard").text, path[part], &f.err),
                  &f.err);
    }
    assert_ok(file_path(aside, &f.err, "%s/aside", f.dir.path), &f.err);
    assert_int_equal(rename(path[0], aside), 0);
    assert_int_equal(rename(path[1], path[0]), 0);
    assert_int_equal(rename(aside, path[1]), 0);
    for (int part = 0; part < 2; part++) {
        struct feature_shard *shard = NULL;
        assert_ok(feature_shard_open(f.store, key_part("p", part, "shard").text,
                                     key_part("p", part, "shard_seal").text, "p", &shard, &f.err),
                  &f.err);
        for (uint64_t block = 0; block < 3; block++)
            assert_fails(feature_shard_read_block(shard, "rows", block, rows, &count, &f.err),
                         ERROR_CORRUPT, "expected hash", &f.err);
        assert_fails(feature_shard_verify(shard, &f.err), ERROR_CORRUPT, "rows", &f.err);
        feature_shard_close(shard);
    }
    close_fixture(&f);
}

/* Tests that a full disk is reported at once, since another attempt would need as much space. */
static void a_full_disk_is_no_trouble_of_the_device(void **state)
{
    (void)state;
    struct fixture f = open_fixture();
    for (long passed = 0, failed = 1; failed; passed += 3) {
        failing_calls_plan(CALL_WRITE, passed, -1, ENOSPC);
        const enum error_code rc = write_shard(f.store, 64, &f.err);
        failed = failing_calls_end();
        if (failed && rc != ERROR_NO_SPACE)
            fail_msg("write %ld: code %d: %s", passed, (int)rc, f.err.message);
    }
    assert_ok(open_and_verify(&f), &f.err);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shard_in_the_place_of_another_is_refused_block_by_block),
        cmocka_unit_test(every_row_reads_back_by_block_and_by_scan),
        cmocka_unit_test(a_shard_built_twice_is_success_and_a_different_one_is_not),
        cmocka_unit_test(a_replay_compares_the_content),
        cmocka_unit_test(rows_that_are_too_many_or_too_few_are_refused),
        cmocka_unit_test(readers_leave_the_folder_as_it_is),
        cmocka_unit_test(every_flipped_bit_of_every_file_is_reported),
        cmocka_unit_test(a_missing_or_cut_file_is_reported),
        cmocka_unit_test(every_refused_allocation_leaves_nothing),
        cmocka_unit_test(whichever_read_fails_while_building_no_bad_shard_is_sealed),
        cmocka_unit_test(a_disk_that_never_reads_back_is_an_io_error),
        cmocka_unit_test(a_shard_is_built_without_hard_links),
        cmocka_unit_test(a_full_disk_is_told_from_other_trouble),
        cmocka_unit_test(whichever_read_fails_once_while_reading_is_tried_again),
        cmocka_unit_test(a_damaged_shard_makes_way_when_it_is_built_again),
        cmocka_unit_test(a_full_disk_is_no_trouble_of_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
