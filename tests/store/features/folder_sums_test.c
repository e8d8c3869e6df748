/* Tests the list of a folder's files: a file that differs is named, and a malformed list is
 * refused. */
#include "common/base/memory.h"
#include "common/files/checksum.h"
#include "store/features/folder_sums.h"

#include "tests/support/failing_calls.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static void write_folder(const struct temp_dir *dir)
{
    struct error err = {0};
    (void)temp_dir_write(dir, "a.sst", "table", 5);
    (void)temp_dir_write(dir, "MANIFEST", "manifest", 8);
    (void)temp_dir_write(dir, ".sst", "no table", 8); /* only a suffix, so it is no table */
    assert_ok(folder_sums_write(dir->path, &err), &err);
    assert_ok(folder_sums_check(dir->path, "x", true, &err), &err);
    assert_ok(folder_sums_check(dir->path, "x", false, &err), &err);
}

static void what_differs_is_named(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    static const struct {
        const char *name, *text, *message;
        bool without_tables; /* found even if tables are not hashed */
    } changes[] = {
        {"MANIFEST", "manifesT", "artifact x: file MANIFEST: expected 8 bytes", true},
        {"MANIFEST", "manifest.", "found 9 with", true},
        {".sst", "No table", "artifact x: file .sst", true},
        {"a.sst", "Table", "artifact x: file a.sst: expected 5 bytes", true},
        {"a.sst", "tables", "found 6 with", true},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        write_folder(dir);
        (void)temp_dir_write(dir, changes[i].name, changes[i].text, strlen(changes[i].text));
        assert_fails(folder_sums_check(dir->path, "x", true, &err), ERROR_CORRUPT,
                     changes[i].message, &err);
        assert_int_equal(folder_sums_check(dir->path, "x", false, &err),
                         changes[i].without_tables ? ERROR_CORRUPT : ERROR_NONE);
    }
    static char large[20 << 10]; /* longer than the end, which is always hashed */
    (void)temp_dir_write(dir, "b.sst", large, sizeof large);
    write_folder(dir);
    large[0] = 1;
    (void)temp_dir_write(dir, "b.sst", large, sizeof large);
    assert_ok(folder_sums_check(dir->path, "x", false, &err), &err);
    assert_fails(folder_sums_check(dir->path, "x", true, &err), ERROR_CORRUPT,
                 "artifact x: file b.sst", &err);
    static const char *const names[] = {"a.sst", "MANIFEST"};
    for (int i = 0; i < 2; i++) {
        char path[FILE_PATH_SIZE];
        write_folder(dir);
        assert_ok(file_path(path, &err, "%s/%s", dir->path, names[i]), &err);
        assert_ok(file_remove_all(path, &err), &err);
        for (int tables = 0; tables < 2; tables++) {
            assert_fails(folder_sums_check(dir->path, "x", tables, &err), ERROR_CORRUPT,
                         "(no file)", &err);
            assert_non_null(strstr(err.message, names[i]));
        }
    }
    assert_int_equal(memory_live_blocks(), 0);
}

/* Writes `lines` followed by their hash, which ends a list. */
static void write_list(const struct temp_dir *dir, const char *lines)
{
    char text[1024], digits[CHECKSUM_TEXT_SIZE];
    const struct checksum sum = checksum_of(lines, strlen(lines));
    checksum_text(&sum, digits);
    (void)snprintf(text, sizeof text, "%s%s\n", lines, digits);
    (void)temp_dir_write(dir, "SUMS", text, strlen(text));
}

#define HASH "0123456789abcdef0123456789abcdef"

static void what_is_no_list_is_corrupt(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    static char large[70000];
    static const struct {
        const char *text;
        size_t size;
    } lists[] = {{"", 0},
                 {"x\n", 2},
                 {HASH, 32},
                 {HASH " 1 a\n", 37},
                 {"\0" HASH "\n", 34},
                 {"zz23456789abcdef0123456789abcdef\n", 33},
                 {HASH "\n", 33}};
    static const char *const lines[] = {"a b c\n",
                                        HASH "\n",
                                        HASH " 1\n",
                                        HASH " many a.sst\n",
                                        "zz 1 a.sst\n",
                                        HASH " 1 sub/a.sst\n",
                                        HASH " 1 ../a.sst\n",
                                        HASH " 1 .\n",
                                        HASH " 1 ..\n"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        (void)temp_dir_write(dir, "SUMS", lists[i].text, lists[i].size);
        assert_fails(folder_sums_check(dir->path, "x", true, &err), ERROR_CORRUPT,
                     "artifact x: file SUMS: expected a list of files", &err);
    }
    (void)temp_dir_write(dir, "SUMS", large, sizeof large);
    assert_fails(folder_sums_check(dir->path, "x", true, &err), ERROR_CORRUPT,
                 "artifact x: file SUMS: expected a list of files", &err);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_list(dir, lines[i]);
        assert_fails(folder_sums_check(dir->path, "x", true, &err), ERROR_CORRUPT,
                     "artifact x: file SUMS: expected a hash, a size, a name", &err);
    }
    assert_ok(file_path(path, &err, "%s/SUMS", dir->path), &err);
    assert_ok(file_remove_all(path, &err), &err);
    assert_fails(folder_sums_check(dir->path, "x", true, &err), ERROR_CORRUPT,
                 "artifact x: file SUMS: expected a list of files", &err);
}

static void more_files_than_a_list_holds_are_refused(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    char name[256];
    memset(name, 'n', 220);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name + 220, sizeof name - 220, "%04d", i);
        (void)temp_dir_write(dir, name, "", 0);
    }
    assert_fails(folder_sums_write(dir->path, &err), ERROR_INVALID, "has too many files to seal",
                 &err);
    assert_non_null(strstr(err.message, dir->path));
    assert_int_equal(memory_live_blocks(), 0);
}

static void whatever_fails_is_told(void **state)
{
    const struct temp_dir *dir = *state;
    struct error err = {0};
    char deep[FILE_PATH_SIZE];
    static const enum failing_call calls[] = {CALL_OPEN, CALL_WRITE, CALL_RENAME, CALL_READ,
                                              CALL_FSTAT};
    write_folder(dir);
    for (int writes = 0; writes < 2; writes++) {
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
            for (long passed = 0, failed = 1; failed; passed++) {
                failing_calls_plan(calls[c], passed, 1, EIO);
                const enum error_code rc = writes ? folder_sums_write(dir->path, &err)
                                                  : folder_sums_check(dir->path, "x", true, &err);
                failed = failing_calls_end();
                if (failed && rc != ERROR_NONE)
                    assert_failed(rc, ERROR_IO, dir->path, &err);
                assert_true(failed || rc == ERROR_NONE);
            }
        enum error_code rc = ERROR_NO_MEMORY;
        for (long allowed = 0; rc != ERROR_NONE; allowed++) {
            memory_fail_after(allowed);
            rc = writes ? folder_sums_write(dir->path, &err)
                        : folder_sums_check(dir->path, "x", true, &err);
            memory_fail_after(-1);
            assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
            assert_int_equal(memory_live_blocks(), 0);
        }
    }
    memset(deep, 'd', sizeof deep - 3);
    deep[sizeof deep - 3] = '\0';
    assert_fails(folder_sums_write(deep, &err), ERROR_INVALID, "path is longer", &err);
    assert_fails(folder_sums_check(deep, "x", true, &err), ERROR_INVALID, "path is longer", &err);
    assert_ok(folder_sums_check(dir->path, "x", true, &err), &err);
}

#define with_folder(test) cmocka_unit_test_setup_teardown(test, temp_dir_setup, temp_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_folder(what_differs_is_named),
        with_folder(what_is_no_list_is_corrupt),
        with_folder(more_files_than_a_list_holds_are_refused),
        with_folder(whatever_fails_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
