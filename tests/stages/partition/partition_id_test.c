#include "stages/partition/partition_id.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>

static void id_of(const struct pipeline_settings *settings, char id[ID_SIZE])
{
    struct error err = {0};
    assert_ok(partition_id(settings, "cora-12345678", id, &err), &err);
    assert_int_equal(strlen(id), strlen("cora-12345678-") + 8);
    assert_int_equal(strncmp(id, "cora-12345678-", 14), 0);
}

static void the_id_changes_with_settings_of_the_partition_and_the_seed_only(void **state)
{
    (void)state;
    struct pipeline_settings settings;
    char id[ID_SIZE], other[ID_SIZE];
    pipeline_settings_defaults(&settings);
    id_of(&settings, id);
    settings.epochs++;
    settings.sample.batch_size++;
    id_of(&settings, other);
    assert_string_equal(id, other);
    settings.partition.parts++;
    id_of(&settings, other);
    assert_string_not_equal(id, other);
    settings.partition.parts--;
    settings.seed++;
    id_of(&settings, other);
    assert_string_not_equal(id, other);
    settings.seed--;
    memcpy(settings.partition.assignment, "unused", 7); /* counts for method file only */
    id_of(&settings, other);
    assert_string_equal(id, other);
}

static void of_an_assignment_file_the_content_counts(void **state)
{
    (void)state;
    struct temp_dir folder;
    struct pipeline_settings settings;
    struct error err = {0};
    char id[ID_SIZE], other[ID_SIZE];
    temp_dir_make(&folder);
    pipeline_settings_defaults(&settings);
    settings.partition.method = PARTITION_FILE;
    const char *const names[] = {"a.txt", "b.txt", "c.txt"};
    char path[3][FILE_PATH_SIZE];
    for (int i = 0; i < 3; i++)
        (void)snprintf(path[i], FILE_PATH_SIZE, "%s",
                       temp_dir_write(&folder, names[i], i < 2 ? "0\n1\n" : "1\n0\n", 4));
    memcpy(settings.partition.assignment, path[0], sizeof path[0]);
    id_of(&settings, id);
    memcpy(settings.partition.assignment, path[1], sizeof path[1]);
    id_of(&settings, other);
    assert_string_equal(id, other);
    memcpy(settings.partition.assignment, path[2], sizeof path[2]);
    id_of(&settings, other);
    assert_string_not_equal(id, other);
    memcpy(settings.partition.assignment, "/nowhere", 9);
    assert_fails(partition_id(&settings, "cora", id, &err), ERROR_NOT_FOUND,
                 "partition.assignment: /nowhere", &err);
    temp_dir_remove(&folder);
}

static void an_id_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct pipeline_settings settings;
    struct error err = {0};
    char name[ID_SIZE] = "", id[ID_SIZE];
    pipeline_settings_defaults(&settings);
    memset(name, 'x', ID_SIZE - 5);
    assert_fails(partition_id(&settings, name, id, &err), ERROR_INVALID, "is too long", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_id_changes_with_settings_of_the_partition_and_the_seed_only),
        cmocka_unit_test(of_an_assignment_file_the_content_counts),
        cmocka_unit_test(an_id_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
