#include "common/base/memory.h"
#include "stages/plan/settings/setting_value.h"

#include "tests/support/item_rows.h"
#include "tests/support/test.h"

static const struct setting_spec *const list_row = &item_table[1];

static enum error_code assign(struct item_settings *settings, const char *text, struct error *err)
{
    const struct setting_source source = {.name = "--set"};
    return setting_assign_text(list_row, settings, text, &source, err);
}

static const char *printed(const struct item_settings *settings)
{
    static char text[SETTING_VALUE_SIZE];
    const int size = setting_print(list_row, settings, text, sizeof text);
    assert_int_equal(size, strlen(text));
    return text;
}

static void a_list_of_maps_is_read_by_the_rows_of_its_items(void **state)
{
    (void)state;
    struct item_settings settings = {0};
    struct error err = {0};
    setting_reset(list_row, &settings);
    assert_int_equal(settings.list.count, 0);
    assert_string_equal(printed(&settings), "[]");
    assert_ok(
        assign(&settings,
               "[{kind: wide, hidden: 8, rate: 0.25, bias: false, sizes: [3, 4]}, {kind: plain}]",
               &err),
        &err);
    assert_int_equal(settings.list.count, 2);
    assert_int_equal(settings.list.item[0].kind, 1);
    assert_int_equal(settings.list.item[0].hidden, 8);
    assert_true(settings.list.item[0].rate == 0.25);
    assert_false(settings.list.item[0].bias);
    assert_int_equal(settings.list.item[0].sizes.count, 2);
    assert_int_equal(settings.list.item[0].sizes.value[1], 4);
    assert_int_equal(settings.list.item[1].kind, 0);
    assert_int_equal(settings.list.item[1].hidden, 64); /* the row's default */
    assert_true(settings.list.item[1].bias);
    assert_ok(assign(&settings, "[{kind: wide}]", &err), &err); /* no item of the earlier value is
                                                                 * left */
    assert_int_equal(settings.list.count, 1);
    assert_int_equal(settings.list.item[0].hidden, 64);
}

static void text_has_what_differs_from_the_defaults_and_has_an_effect(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"[]", "[]"},
        {"[{kind: plain, hidden: 64}]", "[{kind: plain}]"},
        {"[{rate: 0.1, kind: plain}]", "[{kind: plain}]"}, /* only items of kind wide have a rate */
        {"[{sizes: '3, 4', kind: wide, rate: 0.10}, {kind: plain, bias: false}]",
         "[{kind: wide, rate: 0.10000000000000001, sizes: [3,4]}, {kind: plain, bias: false}]"},
        {"[{\"kind\": \"wide\", \"hidden\": 7}]", "[{kind: wide, hidden: 7}]"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct item_settings settings = {0}, back = {0};
        struct error err = {0};
        assert_ok(assign(&settings, texts[i][0], &err), &err);
        assert_string_equal(printed(&settings), texts[i][1]);
        assert_ok(assign(&back, texts[i][1], &err), &err);
        assert_string_equal(printed(&back), texts[i][1]);
        assert_true(setting_equal(list_row, &settings, &back));
        assert_ok(assign(&back, "[{kind: plain}, {kind: plain}, {kind: plain}]", &err), &err);
        assert_false(setting_equal(list_row, &settings, &back));
    }
}

static void what_is_wrong_is_named_by_line_and_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"list: plain\n",
         "p.yaml:1: list is 'plain', expected a list of maps, as in [{kind: ...}]"},
        {"list: {kind: plain}\n", "p.yaml:1: list is a map, expected a list of maps"},
        {"list:\n", "p.yaml:1: list is '', expected a list of maps"},
        {"list: [plain]\n", "p.yaml:1: list[0] is a scalar, expected a map, as in {kind: ...}"},
        {"list: [[]]\n", "p.yaml:1: list[0] is a list, expected a map"},
        {"list:\n  - kind: plain\n  - {}\n", "p.yaml:3: list[1] has no kind, which must be given"},
        {"list:\n  - kind: plain\n    hiden: 3\n",
         "p.yaml:3: list[0]: unknown setting 'hiden'; did you mean 'hidden'?"},
        {"list: [{kind:plain}]\n", "unknown setting 'kind:plain'; YAML needs a blank after"},
        {"list: [{zzzzzzz: 1}]\n", "p.yaml:1: list[0]: unknown setting 'zzzzzzz'"},
        {"list:\n  - kind: plain\n    hidden: 0\n",
         "p.yaml:3: list[0].hidden is '0', expected whole numbers from 1 to 100"},
        {"list: [{kind: ~}]\n", "list[0].kind is '~': there is no null here; it must be given"},
        {"list: [{kind: odd}]\n", "list[0].kind is 'odd', expected one of plain, wide"},
        {"list: [{kind: [plain]}]\n", "list[0].kind is a list, expected one value"},
        {"list: [{kind: plain, bias: yes}]\n",
         "list[0].bias is 'yes', expected true or false; write true"},
        {"list: [{kind: plain, rate: {a: 1}}]\n", "list[0].rate is a map, expected a number"},
        {"list:\n- kind: plain\n  sizes:\n  - 3\n  - 10\n",
         "p.yaml:5: list[0].sizes[1] is '10', expected whole numbers from 1 to 9"},
        {"list: [{kind: plain, sizes: [[1]]}]\n", "list[0].sizes[0] is a list, expected a whole"},
        {"list: [{kind: plain}, {kind: plain}, {kind: plain}, {kind: plain}, {kind: plain}]\n",
         "p.yaml:1: list has 5 items, expected at most 4"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct item_settings settings = {0};
        struct yaml_node *root = NULL;
        struct error err = {0};
        const struct setting_source source = {.name = "p.yaml", .has_lines = true};
        assert_ok(yaml_parse(bad[i].text, strlen(bad[i].text), "p.yaml", &root, &err), &err);
        assert_fails(setting_assign(list_row, &settings, root->first, &source, &err), ERROR_INVALID,
                     bad[i].message, &err);
        yaml_tree_free(root);
    }
    struct item_settings settings = {0};
    struct error err = {0};
    assert_fails(assign(&settings, "[{kind: odd}]", &err), ERROR_INVALID,
                 "--set: list[0].kind is 'odd'", &err);
    assert_fails(assign(&settings, "[{kind: plain}", &err), ERROR_INVALID,
                 "not valid YAML: did not find expected", &err);
    assert_fails(assign(&settings, "{kind: plain}", &err), ERROR_INVALID, "--set: list is a map",
                 &err);
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    const long live = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    long n = 0;
    for (; rc != ERROR_NONE; n++) {
        struct item_settings settings = {0};
        struct error err = {0};
        memory_fail_after(n);
        rc = assign(&settings, "[{kind: plain, sizes: [1, 2]}, {kind: wide}]", &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), live);
    }
    assert_true(n > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_maps_is_read_by_the_rows_of_its_items),
        cmocka_unit_test(text_has_what_differs_from_the_defaults_and_has_an_effect),
        cmocka_unit_test(what_is_wrong_is_named_by_line_and_place),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
