#include "common/formats/text/assignment_file.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>

static const char *file_of(void **state, const char *text)
{
    return temp_dir_write(*state, "node.txt", text, strlen(text));
}

static void reads_one_part_a_line(void **state)
{
    static const uint32_t expected[] = {0, 3, 1};
    struct error err = {0};
    uint32_t part[3];
    assert_ok(assignment_file_read(file_of(state, "0\n3\n1\n"), 4, part, 3, &err), &err);
    assert_memory_equal(part, expected, sizeof part);
    memset(part, 9, sizeof part);
    assert_ok(assignment_file_read(file_of(state, "0\r\n3\r\n1"), 4, part, 3, &err), &err);
    assert_memory_equal(part, expected, sizeof part);
}

static void names_file_line_expected_and_found(void **state)
{
    struct error err = {0};
    uint32_t part[3];
    assert_fails(assignment_file_read(file_of(state, "0\n4\n1\n"), 4, part, 3, &err), ERROR_INPUT,
                 "node.txt:2: expected a part from 0 to 3, found 4", &err);
    assert_fails(assignment_file_read(file_of(state, "-1\n"), 4, part, 3, &err), ERROR_INPUT,
                 "node.txt:1: expected a part from 0 to 3, found -1", &err);
    assert_fails(assignment_file_read(file_of(state, "0\nx1\n0\n"), 4, part, 3, &err), ERROR_INPUT,
                 "node.txt:2: expected a part number, found 'x1'", &err);
    assert_fails(assignment_file_read(file_of(state, "0\n\n0\n"), 4, part, 3, &err), ERROR_INPUT,
                 "node.txt:2: expected a part number, found ''", &err);
    assert_fails(assignment_file_read(file_of(state, "0\n0\n"), 4, part, 3, &err), ERROR_INPUT,
                 "node.txt:2: expected 3 lines, one for each node, found 2", &err);
    assert_fails(assignment_file_read(file_of(state, "0\n0\n0\n0\n"), 4, part, 3, &err),
                 ERROR_INPUT, "node.txt:4: expected 3 lines, one for each node, found more", &err);
    assert_fails(assignment_file_read(file_of(state, ""), 4, part, 3, &err), ERROR_INPUT,
                 "node.txt:0: expected 3 lines", &err);
    assert_fails(assignment_file_read(file_of(state, "000000000000000000000000000000000000001\n"),
                                      4, part, 3, &err),
                 ERROR_INPUT, "node.txt:1: expected a part number, found '00000000", &err);
    assert_fails(assignment_file_read("/nowhere/node.txt", 4, part, 3, &err), ERROR_NOT_FOUND,
                 "/nowhere/node.txt", &err);
}

static void what_is_written_reads_back(void **state)
{
    const struct temp_dir *folder = *state;
    enum { COUNT = 20000 };
    static uint32_t written[COUNT], read[COUNT];
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    for (uint32_t i = 0; i < COUNT; i++)
        written[i] = i * 7919 % 65535;
    assert_ok(file_path(path, &err, "%s/written.txt", folder->path), &err);
    assert_ok(assignment_file_write(path, written, COUNT, &err), &err);
    assert_ok(assignment_file_read(path, 65535, read, COUNT, &err), &err);
    assert_memory_equal(read, written, sizeof read);
    assert_fails(assignment_file_write("/nowhere/node.txt", written, 1, &err), ERROR_IO, "nowhere",
                 &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_one_part_a_line, temp_dir_setup, temp_dir_teardown),
        cmocka_unit_test_setup_teardown(names_file_line_expected_and_found, temp_dir_setup,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(what_is_written_reads_back, temp_dir_setup,
                                        temp_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
