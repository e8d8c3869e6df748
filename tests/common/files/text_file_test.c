/* A text file is complete or absent, whatever fails. */
#include "common/files/file.h"
#include "common/files/text_file.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

struct text {
    const char *line;
    int times;
    enum error_code fails;
};

static enum error_code write_lines(void *context, FILE *file, struct error *err)
{
    const struct text *text = context;
    for (int i = 0; i < text->times; i++)
        (void)fprintf(file, "%s\n", text->line);
    return text->fails ? error_set(err, text->fails, "no more lines") : ERROR_NONE;
}

static void expect_file(const char *path, const char *expected)
{
    struct error err = {0};
    char found[64];
    size_t got = 0;
    assert_ok(file_read_range(path, 0, found, sizeof found - 1, &got, &err), &err);
    found[got] = '\0';
    assert_string_equal(found, expected);
}

static int count_files(const char *folder)
{
    int count = 0;
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    for (const struct dirent *entry = readdir(stream); entry; entry = readdir(stream))
        count += entry->d_name[0] != '.';
    assert_int_equal(closedir(stream), 0);
    return count;
}

static void what_fails_leaves_what_was_there(void **state)
{
    struct temp_dir dir;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    struct rlimit before, small = {.rlim_cur = 4096};
    (void)state;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/lines.txt", dir.path), &err);
    assert_ok(text_file_write(path, write_lines, &(struct text){"a", 2, ERROR_NONE}, &err), &err);
    expect_file(path, "a\na\n");
    assert_ok(text_file_write(path, write_lines, &(struct text){"b", 1, ERROR_NONE}, &err), &err);
    expect_file(path, "b\n");
    assert_fails(text_file_write(path, write_lines, &(struct text){"c", 9, ERROR_CORRUPT}, &err),
                 ERROR_CORRUPT, "no more lines", &err);

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const enum error_code rc =
        text_file_write(path, write_lines, &(struct text){"too much", 9999, ERROR_NONE}, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_failed(rc, ERROR_IO, "File too large", &err);
    expect_file(path, "b\n");
    assert_int_equal(count_files(dir.path), 1);
    assert_fails(text_file_write("/nowhere/a.txt", write_lines, &(struct text){0}, &err), ERROR_IO,
                 "nowhere", &err);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_fails_leaves_what_was_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
