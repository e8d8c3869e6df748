#include "store/backends/directory/file_system.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

static void those_of_networks_are_not_local(void **state)
{
    static const unsigned long network[] = {0x6969,     0x517b,     0xff534d42,
                                            0x65735546, 0x00c36400, 0x0bd00bd0};
    static const unsigned long local[] = {0xef53 /* ext */,           0x58465342 /* XFS */,
                                          0x9123683e /* Btrfs */,     0x01021994 /* tmpfs */,
                                          0x794c7630 /* overlayfs */, 0x2fc12fc1 /* ZFS */};
    (void)state;
    for (size_t i = 0; i < sizeof network / sizeof *network; i++)
        assert_false(file_system_type_is_local(network[i]));
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        assert_true(file_system_type_is_local(local[i]));
    /* the value on a kernel whose type is a signed number */
    assert_false(file_system_type_is_local((unsigned long)(long)(int)0xff534d42U));
}

static void a_folder_is_asked_for_its_own(void **state)
{
    struct temp_dir *dir = *state;
    assert_true(file_system_is_local(dir->path));
    assert_false(file_system_is_local("/nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_networks_are_not_local),
        cmocka_unit_test_setup_teardown(a_folder_is_asked_for_its_own, temp_dir_setup,
                                        temp_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
