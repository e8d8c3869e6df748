#include "common/files/file.h"
#include "store/records/round/outputs_seal.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

static const char run[] = "run-1", key[] = "run/run-1/outputs/0000000015_seal";
static const struct weights_identity weights = {
    .version = 15, .snapshot_version = 17, .sum = {{1, 2, 3}}};

static void make_seal(struct temp_store *p, struct outputs_seal *seal)
{
    *seal = (struct outputs_seal){.weights = weights};
    (void)temp_dir_write(&p->dir, "a.npy", "first", 5);
    (void)temp_dir_write(&p->dir, "b.csv", "", 0);
    (void)strcpy(seal->metrics, "{\"test\":{}}\n"); // NOLINT: fits
    assert_ok(outputs_seal_add_file(seal, p->dir.path, "a.npy", &p->err), &p->err);
    assert_ok(outputs_seal_add_file(seal, p->dir.path, "b.csv", &p->err), &p->err);
}

static void a_seal_comes_back_as_it_was(void **state)
{
    struct temp_store *p = *state;
    static struct outputs_seal put, got;
    make_seal(p, &put);
    assert_ok(outputs_seal_put(p->store, key, run, &put, &p->err), &p->err);
    assert_ok(outputs_seal_get(p->store, key, run, &got, &p->err), &p->err);
    assert_string_equal(got.files, put.files);
    assert_string_equal(got.metrics, put.metrics);
    assert_ok(weights_identity_check(&weights, &got.weights, "the seal", &p->err), &p->err);
    assert_memory_equal(got.files, "a.npy 5 ", 8);
    assert_ok(outputs_seal_check(&got, p->dir.path, &p->err), &p->err);
    assert_fails(
        outputs_seal_get(p->store, "run/run-1/outputs/0000000017_seal", run, &got, &p->err),
        ERROR_NOT_FOUND, "outputs/0000000017_seal", &p->err);
}

static void weights_differ_in_version_snapshot_and_hash(void **state)
{
    (void)state;
    struct error err = {0};
    struct weights_identity other = weights;
    assert_ok(weights_identity_check(&weights, &other, "x", &err), &err);
    other.version = 14;
    assert_fails(weights_identity_check(&weights, &other, "x", &err), ERROR_CORRUPT,
                 "x: expected weights 15 of snapshot 17", &err);
    assert_non_null(strstr(err.message, "found weights 14 of snapshot 17"));
    other = weights, other.snapshot_version = 16;
    assert_fails(weights_identity_check(&weights, &other, "x", &err), ERROR_CORRUPT,
                 "found weights 15 of snapshot 16", &err);
    other = weights, other.sum.bytes[15] = 1;
    assert_fails(weights_identity_check(&weights, &other, "x", &err), ERROR_CORRUPT,
                 "(hash 01020300000000000000000000000001)", &err);
}

static void weights_of_a_version_past_their_snapshot_are_refused(void **state)
{
    struct temp_store *p = *state;
    static struct outputs_seal seal;
    make_seal(p, &seal);
    seal.weights.version = 18;
    assert_ok(outputs_seal_put(p->store, key, run, &seal, &p->err), &p->err);
    assert_fails(outputs_seal_get(p->store, key, run, &seal, &p->err), ERROR_CORRUPT,
                 "section weights: version 18 of snapshot 17", &p->err);
}

static void a_changed_byte_is_named_with_both_hashes(void **state)
{
    struct temp_store *p = *state;
    static struct outputs_seal seal;
    make_seal(p, &seal);
    (void)temp_dir_write(&p->dir, "a.npy", "firsu", 5);
    assert_fails(outputs_seal_check(&seal, p->dir.path, &p->err), ERROR_CORRUPT,
                 "a.npy: expected 'a.npy 5 ", &p->err);
    assert_non_null(strstr(p->err.message, "', found 'a.npy 5 "));
    (void)temp_dir_write(&p->dir, "a.npy", "first", 5);
    (void)temp_dir_write(&p->dir, "b.csv", "x", 1);
    assert_fails(outputs_seal_check(&seal, p->dir.path, &p->err), ERROR_CORRUPT,
                 "b.csv: expected 'b.csv 0 ", &p->err);
    assert_ok(file_remove_all(temp_dir_write(&p->dir, "b.csv", "", 0), &p->err), &p->err);
    assert_fails(outputs_seal_check(&seal, p->dir.path, &p->err), ERROR_NOT_FOUND, "b.csv",
                 &p->err);
}

static void sizes_and_names_are_compared_without_reading(void **state)
{
    struct temp_store *p = *state;
    static struct outputs_seal seal;
    uint64_t bytes = 0;
    make_seal(p, &seal);
    assert_ok(outputs_seal_check_sizes(&seal, p->dir.path, &bytes, &p->err), &p->err);
    assert_int_equal(bytes, 5);
    (void)temp_dir_write(&p->dir, "a.npy", "firsu", 5);
    assert_ok(outputs_seal_check_sizes(&seal, p->dir.path, &bytes, &p->err), &p->err);
    (void)temp_dir_write(&p->dir, "a.npy", "fir", 3);
    assert_fails(outputs_seal_check_sizes(&seal, p->dir.path, &bytes, &p->err), ERROR_CORRUPT,
                 "a.npy: expected 5 bytes, found 3", &p->err);
    assert_ok(file_remove_all(temp_dir_write(&p->dir, "a.npy", "", 0), &p->err), &p->err);
    assert_fails(outputs_seal_check_sizes(&seal, p->dir.path, &bytes, &p->err), ERROR_NOT_FOUND,
                 "a.npy", &p->err);
}

static void lines_that_are_none_and_files_too_many_are_refused(void **state)
{
    struct temp_store *p = *state;
    static struct outputs_seal seal;
    enum error_code rc = ERROR_NONE;
    make_seal(p, &seal);
    (void)strcpy(seal.files, " 5 abc\n"); // NOLINT: fits
    assert_fails(outputs_seal_check(&seal, p->dir.path, &p->err), ERROR_CORRUPT, "not a file line",
                 &p->err);
    for (int i = 0; rc == ERROR_NONE && i < OUTPUTS_FILES_SIZE; i++)
        rc = outputs_seal_add_file(&seal, p->dir.path, "a.npy", &p->err);
    assert_failed(rc, ERROR_INVALID, "more output files than a seal holds: a.npy", &p->err);
}

static void every_line_that_is_none_is_named(void **state)
{
    struct temp_store *p = *state;
    static struct outputs_seal seal;
    static char long_name[300];
    uint64_t bytes = 0;
    memset(long_name, 'n', sizeof long_name - 1);
    memcpy(long_name + 290, " 1 2\n", 6);
    const char *const lines[] = {" 5 abc\n", "a.npy\n", "a.npy five abc\n", "a.npy -5 abc\n",
                                 "\n",       long_name, "a.npy 5"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        make_seal(p, &seal);
        (void)snprintf(seal.files, sizeof seal.files, "%s", lines[i]);
        const bool is_cut = i == 6; /* name and size are there, the hash is not */
        assert_fails(outputs_seal_check(&seal, p->dir.path, &p->err), ERROR_CORRUPT,
                     is_cut ? "expected 'a.npy 5'" : "not a file line", &p->err);
        if (!is_cut)
            assert_fails(outputs_seal_check_sizes(&seal, p->dir.path, &bytes, &p->err),
                         ERROR_CORRUPT, "not a file line", &p->err);
    }
}

static void a_folder_whose_path_is_too_long_is_refused(void **state)
{
    struct temp_store *p = *state;
    static struct outputs_seal seal;
    static char deep[FILE_PATH_SIZE];
    uint64_t bytes = 0;
    make_seal(p, &seal);
    memset(deep, 'd', sizeof deep - 2);
    assert_fails(outputs_seal_add_file(&seal, deep, "a.npy", &p->err), ERROR_INVALID,
                 "path is longer", &p->err);
    assert_fails(outputs_seal_check(&seal, deep, &p->err), ERROR_INVALID, "path is longer",
                 &p->err);
    assert_fails(outputs_seal_check_sizes(&seal, deep, &bytes, &p->err), ERROR_INVALID,
                 "path is longer", &p->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_seal_comes_back_as_it_was),
        cmocka_unit_test(weights_differ_in_version_snapshot_and_hash),
        test_with_store(weights_of_a_version_past_their_snapshot_are_refused),
        test_with_store(a_changed_byte_is_named_with_both_hashes),
        test_with_store(sizes_and_names_are_compared_without_reading),
        test_with_store(lines_that_are_none_and_files_too_many_are_refused),
        test_with_store(every_line_that_is_none_is_named),
        test_with_store(a_folder_whose_path_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
