#include "store/objects/switch_text.h"

#include "tests/support/test.h"

#include <string.h>

static const char key[] = "run/a/current_snapshot";

static void a_value_comes_back(void **state)
{
    static const char *const values[] = {"", "60 54", "a v1:0123456789abcdef", " "};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char line[SWITCH_LINE_SIZE], value[64];
        struct error err = {0};
        switch_text_encode(key, values[i], line);
        assert_int_equal(strlen(line), strlen(values[i]) + 21);
        assert_ok(switch_text_decode(key, line, value, sizeof value, &err), &err);
        assert_string_equal(value, values[i]);
    }
}

/* Tests that no damage turns a line into another value. */
static void every_damage_is_seen(void **state)
{
    char line[SWITCH_LINE_SIZE], bad[SWITCH_LINE_SIZE], value[64];
    struct error err = {0};
    (void)state;
    switch_text_encode(key, "60 54", line);
    const size_t size = strlen(line);
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(bad, line, sizeof bad);
            bad[at] = (char)(bad[at] ^ (1 << bit));
            assert_int_equal(switch_text_decode(key, bad, value, sizeof value, &err),
                             ERROR_CORRUPT);
        }
        memcpy(bad, line, sizeof bad);
        bad[at] = '\0';
        assert_int_equal(switch_text_decode(key, bad, value, sizeof value, &err), ERROR_CORRUPT);
        assert_int_equal(switch_text_decode(key, line + at + 1, value, sizeof value, &err),
                         ERROR_CORRUPT);
    }
    memcpy(line + strlen(line), "\n", 2); // NOLINT: with its end
    assert_fails(switch_text_decode(key, line, value, sizeof value, &err), ERROR_CORRUPT,
                 "switch run/a/current_snapshot: expected a value and ' v1:", &err);
}

static void that_of_another_key_is_damage(void **state)
{
    char line[SWITCH_LINE_SIZE], value[64];
    struct error err = {0};
    (void)state;
    switch_text_encode("run/b/current_snapshot", "60 54", line);
    assert_fails(switch_text_decode(key, line, value, sizeof value, &err), ERROR_CORRUPT, key,
                 &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_comes_back),
        cmocka_unit_test(every_damage_is_seen),
        cmocka_unit_test(that_of_another_key_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
