#include "common/base/memory.h"
#include "common/files/file.h"

#include "tests/support/failing_calls.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    struct temp_dir dir;
    struct error err;
};

static int set_up(void **state)
{
    static struct place place;
    temp_dir_make(&place.dir);
    *state = &place;
    return 0;
}

static int tear_down(void **state)
{
    temp_dir_remove(&((struct place *)*state)->dir);
    return 0;
}

static void path_in(const struct place *p, const char *name, char path[FILE_PATH_SIZE])
{
    assert_ok(file_path(path, NULL, "%s/%s", p->dir.path, name), &p->err);
}

static void expect_content(struct place *p, const char *path, const char *text)
{
    char *data = NULL;
    size_t size = 0;
    assert_ok(file_read(path, 0, &data, &size, &p->err), &p->err);
    assert_int_equal(size, strlen(text));
    assert_string_equal(data, text);
    memory_free(data);
}

static enum error_code note_name(void *context, const char *name, struct error *err)
{
    char *names = context;
    (void)err;
    (void)strcat(strcat(names, name), " "); // NOLINT: the names of these tests fit
    return ERROR_NONE;
}

static void a_path_too_long_is_refused(void **state)
{
    struct place *p = *state;
    static char words[FILE_PATH_SIZE + 1];
    char path[FILE_PATH_SIZE];
    memset(words, 'a', sizeof words - 1);
    assert_fails(file_path(path, &p->err, "%s", words), ERROR_INVALID, "longer than 1023 bytes",
                 &p->err);
    words[FILE_PATH_SIZE - 1] = '\0';
    assert_ok(file_path(path, &p->err, "%s", words), &p->err);
}

static void a_file_is_replaced_and_leaves_no_other(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE], names[256] = "";
    path_in(p, "f", path);
    assert_ok(file_replace(path, "one", 3, true, &p->err), &p->err);
    expect_content(p, path, "one");
    assert_ok(file_replace(path, "", 0, false, &p->err), &p->err);
    expect_content(p, path, "");
    assert_ok(file_list(p->dir.path, note_name, names, &p->err), &p->err);
    assert_string_equal(names, "f ");
    path_in(p, "none/f", path);
    assert_fails(file_replace(path, "x", 1, false, &p->err), ERROR_IO, "cannot be created",
                 &p->err);
    path_in(p, "folder/inside", path);
    assert_ok(file_make_folders(path, &p->err), &p->err);
    path_in(p, "folder", path);
    assert_fails(file_replace(path, "x", 1, false, &p->err), ERROR_IO, "cannot be renamed",
                 &p->err);
    names[0] = '\0';
    assert_ok(file_list(p->dir.path, note_name, names, &p->err), &p->err);
    assert_string_equal(names, "f folder ");
}

struct race {
    const char *path;
    atomic_bool over;
};

enum { VERSION_BYTES = 30000, VERSIONS = 200 };

static void what_a_killed_process_left_is_swept(void **state)
{
    struct place *p = *state;
    static const char *const mine[] = {"a.json", "a.json.0123.tmp", "a.json.0123456789abcdeg.tmp",
                                       "b.0123456789abcdef.tmp", ".0123456789abcdef.tmp"};
    char path[FILE_PATH_SIZE], temporary[FILE_PATH_SIZE];
    bool found = true;
    int fd = -1;
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) {
        path_in(p, mine[i], path);
        assert_ok(file_replace(path, "x", 1, false, &p->err), &p->err);
    }
    path_in(p, "a.json", path);
    assert_ok(file_create_temporary(path, temporary, &fd, &p->err), &p->err);
    (void)close(fd);
    assert_ok(file_sweep_temporary(p->dir.path, "a.json.", &p->err), &p->err);
    assert_ok(file_is_there(temporary, &found, &p->err), &p->err);
    assert_false(found);
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) {
        path_in(p, mine[i], path);
        expect_content(p, path, "x");
    }
    assert_ok(file_sweep_temporary(p->dir.path, "", &p->err), &p->err);
    path_in(p, "b.0123456789abcdef.tmp", path);
    assert_ok(file_is_there(path, &found, &p->err), &p->err);
    assert_false(found);
}

static void *write_versions(void *context)
{
    static char data[VERSION_BYTES];
    struct race *race = context;
    for (int i = 1; i <= VERSIONS; i++) {
        memset(data, i % 26 + 'a', sizeof data);
        const enum error_code rc = file_replace(race->path, data, sizeof data, false, NULL);
        must(rc == ERROR_NONE);
    }
    atomic_store(&race->over, true);
    return NULL;
}

static void a_reader_sees_one_version_whole(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE];
    pthread_t writer;
    path_in(p, "f", path);
    struct race race = {.path = path};
    assert_ok(file_replace(path, "", 0, false, &p->err), &p->err);
    assert_int_equal(pthread_create(&writer, NULL, write_versions, &race), 0);
    while (!atomic_load(&race.over)) {
        char *data = NULL;
        size_t size = 0;
        assert_ok(file_read(path, 0, &data, &size, &p->err), &p->err);
        assert_true(size == 0 || size == VERSION_BYTES);
        for (size_t i = 1; i < size; i++)
            assert_int_equal(data[i], data[0]);
        memory_free(data);
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
}

static void missing_files_and_limits_are_said(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE], *data = NULL;
    size_t size = 0;
    uint64_t bytes = 0;
    path_in(p, "f", path);
    assert_fails(file_read(path, 0, &data, &size, &p->err), ERROR_NOT_FOUND, path, &p->err);
    assert_fails(file_size(path, &bytes, &p->err), ERROR_NOT_FOUND, path, &p->err);
    assert_fails(file_list(path, note_name, NULL, &p->err), ERROR_NOT_FOUND, path, &p->err);
    assert_fails(file_sync(path, &p->err), ERROR_NOT_FOUND, path, &p->err);
    assert_false(file_exists(path));
    (void)temp_dir_write(&p->dir, "f", "12345", 5);
    assert_true(file_exists(path));
    assert_ok(file_size(path, &bytes, &p->err), &p->err);
    assert_int_equal(bytes, 5);
    assert_fails(file_read(path, 4, &data, &size, &p->err), ERROR_INPUT,
                 "has 5 bytes, at most 4 are read", &p->err);
    path_in(p, "f/below", path);
    assert_fails(file_make_folders(path, &p->err), ERROR_IO, "cannot be made", &p->err);
}

static void trees_are_copied_synced_and_removed(void **state)
{
    struct place *p = *state;
    char from[FILE_PATH_SIZE], to[FILE_PATH_SIZE], path[FILE_PATH_SIZE], names[256] = "";
    path_in(p, "from/a/b", path);
    assert_ok(file_make_folders(path, &p->err), &p->err);
    assert_ok(file_make_folders(path, &p->err), &p->err);
    (void)temp_dir_write(&p->dir, "from/a/z", "zz", 2);
    (void)temp_dir_write(&p->dir, "from/a/b/y", "", 0);
    path_in(p, "from", from);
    path_in(p, "to", to);
    path_in(p, "from/link", path);
    assert_ok(file_copy_tree(from, to, &p->err), &p->err);
    assert_ok(file_sync_tree(to, &p->err), &p->err);
    assert_int_equal(symlink(to, path), 0);
    assert_ok(file_remove_all(from, &p->err),
              &p->err); /* removes the link, not what it points at */
    assert_ok(file_remove_all(from, &p->err), &p->err);
    path_in(p, "to/a", path);
    assert_ok(file_list(path, note_name, names, &p->err), &p->err);
    assert_string_equal(names, "b z ");
    path_in(p, "to/a/z", path);
    expect_content(p, path, "zz");
    assert_fails(file_copy_tree(from, to, &p->err), ERROR_NOT_FOUND, from, &p->err);
}

static void a_full_disk_is_said(void **state)
{
    struct place *p = *state;
    const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        skip();
    assert_fails(file_write_all(fd, "x", 1, "there", &p->err), ERROR_NO_SPACE,
                 "there cannot be written", &p->err);
    (void)close(fd);
}

/* A device, a network or a permission that prevents the look is not reported as "there is none". */
static void absent_and_unreadable_are_told_apart(void **state)
{
    struct place *p = *state;
    static const struct {
        int number;
        enum error_code code;
    } failing[] = {{EIO, ERROR_IO}, {EACCES, ERROR_DENIED}, {ESTALE, ERROR_IO}, {ELOOP, ERROR_IO}};
    char path[FILE_PATH_SIZE], *data = NULL;
    size_t size = 0;
    uint64_t bytes = 0;
    bool found = true;
    enum file_kind kind = FILE_PLAIN;
    path_in(p, "f", path);
    assert_ok(file_is_there(path, &found, &p->err), &p->err);
    assert_false(found);
    (void)temp_dir_write(&p->dir, "f", "12345", 5);
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        const enum error_code code = failing[i].code;
        failing_calls_plan(CALL_STAT, 0, -1, failing[i].number);
        assert_fails(file_is_there(path, &found, &p->err), code, path, &p->err);
        assert_fails(file_size(path, &bytes, &p->err), code, path, &p->err);
        failing_calls_plan(CALL_OPEN, 0, -1, failing[i].number);
        assert_fails(file_read(path, 0, &data, &size, &p->err), code, path, &p->err);
        assert_fails(file_read_range(path, 0, &data, 1, &size, &p->err), code, path, &p->err);
        (void)failing_calls_end();
    }
    path_in(p, "f/below", path);
    assert_ok(file_look(path, &kind, &p->err), &p->err);
    assert_int_equal(kind, FILE_ABSENT);
    assert_ok(file_look(p->dir.path, &kind, &p->err), &p->err);
    assert_int_equal(kind, FILE_FOLDER);
}

static void a_stale_handle_is_looked_up_anew(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE];
    bool found = false;
    path_in(p, "f", path);
    (void)temp_dir_write(&p->dir, "f", "12345", 5);
    failing_calls_plan(CALL_STAT, 0, 2, ESTALE);
    assert_ok(file_is_there(path, &found, &p->err), &p->err);
    assert_true(found);
    failing_calls_plan(CALL_OPEN, 0, 2, ESTALE);
    expect_content(p, path, "12345");
    assert_int_equal(failing_calls_end(), 2);
}

static void a_folder_that_cannot_be_flushed_is_no_failure(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE];
    path_in(p, "f", path);
    (void)temp_dir_write(&p->dir, "f", "12345", 5);
    failing_calls_plan(CALL_FSYNC, 0, -1, EINVAL);
    assert_ok(file_sync(p->dir.path, &p->err), &p->err);
    assert_fails(file_sync(path, &p->err), ERROR_IO, "f cannot be flushed", &p->err);
    failing_calls_plan(CALL_FSYNC, 0, -1, EIO);
    assert_fails(file_sync(p->dir.path, &p->err), ERROR_IO, "cannot be flushed", &p->err);
    assert_fails(file_replace(path, "new", 3, true, &p->err), ERROR_IO, "cannot be flushed",
                 &p->err);
    (void)failing_calls_end();
    expect_content(p, path, "12345");
}

/* Two containers may have the same process number, but their names must differ. */
static void temporary_names_are_never_shared(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE], name[2][FILE_PATH_SIZE];
    int fd[2] = {-1, -1};
    path_in(p, "f", path);
    for (int i = 0; i < 2; i++)
        assert_ok(file_create_temporary(path, name[i], &fd[i], &p->err), &p->err);
    assert_string_not_equal(name[0], name[1]);
    assert_int_equal(strncmp(name[0], path, strlen(path)), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(close(fd[i]), 0);
}

static void a_link_is_replaced_whole(void **state)
{
    struct place *p = *state;
    char path[FILE_PATH_SIZE], missing[FILE_PATH_SIZE], target[8] = "";
    path_in(p, "link", path);
    path_in(p, "no-folder/link", missing);
    assert_ok(file_link_replace(path, "one", &p->err), &p->err);
    assert_ok(file_link_replace(path, "two", &p->err), &p->err);
    assert_int_equal(readlink(path, target, sizeof target), 3);
    assert_memory_equal(target, "two", 3);
    assert_fails(file_link_replace(missing, "one", &p->err), ERROR_IO, "cannot be linked to one",
                 &p->err);
    failing_calls_plan(CALL_RENAME, 0, 1, EIO);
    assert_fails(file_link_replace(path, "three", &p->err), ERROR_IO, "cannot be linked", &p->err);
    (void)failing_calls_end();
    assert_int_equal(readlink(path, target, sizeof target), 3);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(p->dir.path), 0); /* no other file is left */
    assert_int_equal(mkdir(p->dir.path, 0700), 0);
}

static void a_rename_whose_answer_was_lost_is_success(void **state)
{
    struct place *p = *state;
    char from[FILE_PATH_SIZE], to[FILE_PATH_SIZE];
    path_in(p, "from", from);
    path_in(p, "to", to);
    (void)temp_dir_write(&p->dir, "to", "old", 3);
    (void)temp_dir_write(&p->dir, "from", "new", 3);
    failing_calls_plan(CALL_RENAME, 0, 1, EIO);
    assert_fails(file_rename(from, to, &p->err), ERROR_IO, "cannot be renamed", &p->err);
    (void)failing_calls_end();
    expect_content(p, to, "old");
    failing_calls_plan_lost_answers(CALL_RENAME, 0, 1, ENOENT);
    assert_ok(file_rename(from, to, &p->err), &p->err);
    assert_int_equal(failing_calls_end(), 1);
    expect_content(p, to, "new");
    failing_calls_plan_lost_answers(CALL_RENAME, 0, 1, EIO);
    assert_ok(file_replace(to, "newer", 5, false, &p->err), &p->err);
    assert_int_equal(failing_calls_end(), 1);
    expect_content(p, to, "newer");
}

#define test_in_place(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_in_place(a_path_too_long_is_refused),
        test_in_place(a_file_is_replaced_and_leaves_no_other),
        test_in_place(what_a_killed_process_left_is_swept),
        test_in_place(a_reader_sees_one_version_whole),
        test_in_place(missing_files_and_limits_are_said),
        test_in_place(trees_are_copied_synced_and_removed),
        test_in_place(a_full_disk_is_said),
        test_in_place(absent_and_unreadable_are_told_apart),
        test_in_place(a_stale_handle_is_looked_up_anew),
        test_in_place(a_folder_that_cannot_be_flushed_is_no_failure),
        test_in_place(temporary_names_are_never_shared),
        test_in_place(a_link_is_replaced_whole),
        test_in_place(a_rename_whose_answer_was_lost_is_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
