#include "common/files/file.h"
#include "common/files/private_folder.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void only_a_folder_of_this_user_alone_is_taken(void **state)
{
    struct temp_dir dir;
    struct error err = {0};
    struct stat status;
    char path[FILE_PATH_SIZE], link[FILE_PATH_SIZE];
    (void)state;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/own", dir.path), &err);
    assert_ok(file_path(link, &err, "%s/link", dir.path), &err);
    assert_int_equal(private_folder_check(path, &err), ERROR_NOT_FOUND);
    assert_ok(private_folder_make(path, &err), &err);
    assert_ok(private_folder_make(path, &err), &err);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(symlink(path, link), 0);
    assert_fails(private_folder_make(link, &err), ERROR_DENIED, "a symbolic link", &err);
    assert_int_equal(chmod(path, 0770), 0);
    assert_fails(private_folder_make(path, &err), ERROR_DENIED, "others may write to", &err);
    assert_int_equal(rmdir(path), 0);
    assert_ok(file_replace(path, "x", 1, false, &err), &err);
    assert_fails(private_folder_make(path, &err), ERROR_DENIED, "something else", &err);
    temp_dir_remove(&dir);
}

static void a_folder_of_another_user_is_refused(void **state)
{
    struct temp_dir dir;
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    (void)state;
    if (geteuid() != 0)
        skip();
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/theirs", dir.path), &err);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_fails(private_folder_make(path, &err), ERROR_DENIED, "one of another user", &err);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_folder_of_this_user_alone_is_taken),
        cmocka_unit_test(a_folder_of_another_user_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
