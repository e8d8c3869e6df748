/* Tests remembered checksums of input files: they are used if nothing changed, and never
 * otherwise. */
#include "stages/ingest/formats/shared/file_note.h"
#include "stages/plan/model/identity_digits.h"
#include "store/objects/keys.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = FILE_NOTE_BYTES_MIN + 5 };

static char path[FILE_PATH_SIZE];

static void write_file(struct temp_store *p, size_t size)
{
    static char bytes[SIZE];
    memset(bytes, 'a', sizeof bytes);
    assert_ok(file_path(path, &p->err, "%s/edges.csv", p->dir.path), &p->err);
    assert_ok(file_replace(path, bytes, size, false, &p->err), &p->err);
}

/* Changes a byte in place, again and again until the times of the file show it, because they have a
 * resolution. `keep_mtime`: mtime is then set back. */
static void change_byte(char byte, bool keep_mtime)
{
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    do {
        const int fd = open(path, O_WRONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, &byte, 1, 7), 1);
        const struct timespec times[] = {before.st_atim, before.st_mtim};
        assert_int_equal(keep_mtime ? futimens(fd, times) : 0, 0);
        assert_int_equal(close(fd), 0);
        assert_int_equal(stat(path, &after), 0);
    } while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
             after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
    assert_int_equal(after.st_size, before.st_size);
}

static struct key note_key(void)
{
    char digits[IDENTITY_DIGITS_SIZE];
    identity_digits("file", path, digits);
    return key_current("file", digits);
}

static bool has_note(struct temp_store *p)
{
    char text[512];
    const enum error_code rc = store_switch_get(p->store, note_key().text, text, sizeof text, NULL);
    assert_true(rc == ERROR_NONE || rc == ERROR_NOT_FOUND);
    return rc == ERROR_NONE;
}

/* Changes the last digit of the checksum in the note, so that a caller who trusts the note returns
 * it. */
static struct checksum spoil_note(struct temp_store *p)
{
    char text[512];
    struct checksum spoilt;
    assert_ok(store_switch_get(p->store, note_key().text, text, sizeof text, &p->err), &p->err);
    char *last = text + strlen(text) - 1;
    *last = *last == '0' ? '1' : '0';
    assert_ok(store_switch_set(p->store, note_key().text, text, &p->err), &p->err);
    assert_true(checksum_parse(strrchr(text, ' ') + 1, &spoilt));
    return spoilt;
}

static void expect_sum(struct temp_store *p, const struct file_notes *notes,
                       const struct checksum *expected)
{
    struct checksum sum, real;
    uint64_t size = 0, real_size = 0;
    assert_ok(file_note_sum(notes, path, &sum, &size, &p->err), &p->err);
    assert_ok(checksum_of_file(path, &real, &real_size, &p->err), &p->err);
    assert_int_equal(size, real_size);
    assert_true(checksum_equal(&sum, expected ? expected : &real));
}

static void a_file_that_nobody_changed_is_not_read_again(void **state)
{
    struct temp_store *p = *state;
    const struct file_notes notes = {p->store, true, 0};
    write_file(p, SIZE);
    expect_sum(p, &notes, NULL);
    const struct checksum spoilt = spoil_note(p);
    expect_sum(p, &notes, &spoilt);
    const struct file_notes reading = {p->store, false, 0};
    expect_sum(p, &reading, &spoilt);
}

static void a_changed_byte_is_seen_even_with_the_same_size_and_mtime(void **state)
{
    struct temp_store *p = *state;
    const struct file_notes notes = {p->store, true, 0};
    write_file(p, SIZE);
    for (int i = 0; i < 4; i++) {
        expect_sum(p, &notes, NULL);
        (void)spoil_note(p);
        change_byte((char)('b' + i), i % 2);
        expect_sum(p, &notes, NULL);
    }
    (void)spoil_note(p);
    write_file(p, SIZE); /* another file with the same name */
    expect_sum(p, &notes, NULL);
}

static void a_file_that_was_just_changed_gets_no_note(void **state)
{
    struct temp_store *p = *state;
    const struct file_notes notes = {p->store, true, 3600000};
    const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    write_file(p, SIZE);
    expect_sum(p, &notes, NULL);
    assert_false(has_note(p));
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0); /* ctime does not change back */
    expect_sum(p, &notes, NULL);
    assert_false(has_note(p));
}

static void small_files_dry_runs_and_damaged_notes_are_read(void **state)
{
    struct temp_store *p = *state;
    const struct file_notes notes = {p->store, true, 0}, reading = {p->store, false, 0}, none = {0};
    struct checksum sum;
    uint64_t size = 0;
    write_file(p, FILE_NOTE_BYTES_MIN - 1);
    expect_sum(p, &notes, NULL);
    assert_false(has_note(p));
    write_file(p, SIZE);
    expect_sum(p, &none, NULL);
    expect_sum(p, &reading, NULL);
    assert_false(has_note(p));
    expect_sum(p, &notes, NULL);
    assert_true(has_note(p));
    assert_ok(store_switch_set(p->store, note_key().text, "1:2 3", &p->err), &p->err);
    expect_sum(p, &notes, NULL);
    assert_int_equal(unlink(path), 0);
    assert_fails(file_note_sum(&notes, path, &sum, &size, &p->err), ERROR_NOT_FOUND, path, &p->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(a_file_that_nobody_changed_is_not_read_again),
        test_with_store(a_changed_byte_is_seen_even_with_the_same_size_and_mtime),
        test_with_store(a_file_that_was_just_changed_gets_no_note),
        test_with_store(small_files_dry_runs_and_damaged_notes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
