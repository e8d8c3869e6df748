#include "store/backends/artifact_manifest.h"

#include "tests/support/test.h"

static const char folder[] = "graphmill artifact v1 00112233445566ff folder\n10 a\n0 b c\nend\n";
static const char file[] = "graphmill artifact v1 00112233445566ff file\n7 -\nend\n";

static void a_manifest_names_its_files(void **state)
{
    (void)state;
    struct artifact_file entry;
    struct error err = {0};
    char attempt[ARTIFACT_ATTEMPT_SIZE];
    assert_ok(artifact_manifest_check("p", folder, attempt, &err), &err);
    assert_string_equal(attempt, "00112233445566ff");
    assert_true(artifact_manifest_entry(folder, 0, &entry));
    assert_string_equal(entry.name, "a");
    assert_int_equal(entry.size, 10);
    assert_true(artifact_manifest_entry(folder, 1, &entry));
    assert_string_equal(entry.name, "b c");
    assert_false(artifact_manifest_entry(folder, 2, &entry));
    assert_ok(artifact_manifest_check("p", file, attempt, &err), &err);
    assert_true(artifact_manifest_entry(file, 0, &entry));
    assert_string_equal(entry.name, "");
    assert_false(artifact_manifest_entry(file, 1, &entry));
}

static void a_damaged_manifest_is_named(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "graphmill artifact v2 00112233445566ff folder\nend\n",
        "graphmill artifact v1 0011 folder\nend\n",
        "graphmill artifact v1 00112233445566ff\nend\n",
        "graphmill artifact v1 00112233445566ff folder\n",
        "graphmill artifact v1 00112233445566ff folder\nend",
        "graphmill artifact v1 00112233445566ff folder\n1 a\n",
        "graphmill artifact v1 00112233445566ff folder\n1 -\nend\n",
        "graphmill artifact v1 00112233445566ff folder\n-1 a\nend\n",
        "graphmill artifact v1 00112233445566ff folder\n1 a/b\nend\n",
        "graphmill artifact v1 00112233445566ff folder\n1 ..\nend\n",
        "graphmill artifact v1 00112233445566ff folder\n99999999999999999999 a\nend\n",
        "graphmill artifact v1 00112233445566ff file\n1 a\nend\n",
        "graphmill artifact v1 00112233445566ff file\nend\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        char attempt[ARTIFACT_ATTEMPT_SIZE];
        assert_fails(artifact_manifest_check("the/key", bad[i], attempt, &err), ERROR_CORRUPT,
                     "artifact the/key: its manifest is damaged in line", &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manifest_names_its_files),
        cmocka_unit_test(a_damaged_manifest_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
