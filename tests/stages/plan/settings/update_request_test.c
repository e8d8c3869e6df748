/* Files of an update from options: a single one as it is, several as a list. */
#include "stages/plan/settings/update_request.h"

#include "tests/support/test.h"

static void one_file_is_called_as_it_is(void **state)
{
    (void)state;
    static struct update_options options = {.add_edges = {1, {"a, b.csv"}}, .base = "g-1"};
    struct update_request request;
    struct error err = {0};
    assert_ok(update_options_read(&options, &request, &err), &err);
    assert_string_equal(request.add_edges, "a, b.csv");
    assert_string_equal(request.base, "g-1");
    assert_null(request.remove_edges);
    assert_null(request.name_origin);
}

static void several_are_a_list_in_their_order(void **state)
{
    (void)state;
    static struct update_options options = {.add_nodes = {1, {"[x]"}},
                                            .remove_nodes = {2, {"z-*.csv", "a.csv"}},
                                            .features = {3, {"[c, d]", "s3://b/*", "[e]"}}};
    struct update_request request;
    struct error err = {0};
    assert_ok(update_options_read(&options, &request, &err), &err);
    assert_string_equal(request.add_nodes, "[x]");
    assert_string_equal(request.remove_nodes, "[z-*.csv, a.csv]");
    assert_string_equal(request.features, "[c, d, s3://b/*, e]");
    assert_null(request.add_edges);
}

static void what_fits_no_list_is_refused(void **state)
{
    (void)state;
    static struct update_options comma = {.remove_edges = {2, {"a", "b,c"}}};
    static struct update_options first = {.remove_edges = {2, {"a,b", "c"}}};
    static struct update_options many = {.add_edges = {OPTION_LIST_MAX, {NULL}}};
    static char path[100];
    struct update_request request;
    struct error err = {0};
    assert_fails(update_options_read(&comma, &request, &err), ERROR_USAGE,
                 "--remove-edges: b,c: expected a path without a comma", &err);
    assert_fails(update_options_read(&first, &request, &err), ERROR_USAGE,
                 "--remove-edges: a,b: expected a path without a comma", &err);
    memset(path, 'p', sizeof path - 1);
    for (int i = 0; i < OPTION_LIST_MAX; i++)
        many.add_edges.item[i] = path;
    assert_fails(update_options_read(&many, &request, &err), ERROR_USAGE,
                 "together are longer than 1024 bytes; a pattern", &err);
}

/* A list may fill its text to the last byte, and a file that does not fit leaves the text
 * unchanged. */
static void a_list_is_full_at_its_size(void **state)
{
    (void)state;
    static char text[UPDATE_FILES_SIZE], before[UPDATE_FILES_SIZE];
    struct error err = {0};
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE) {
        memcpy(before, text, sizeof text);
        rc = update_files_add(text, "x", &err);
        assert_true(strlen(text) < sizeof text);
    }
    assert_int_equal(rc, ERROR_INVALID);
    assert_string_equal(text, before);
    assert_in_range(strlen(text), UPDATE_FILES_SIZE - 4, UPDATE_FILES_SIZE - 1);
    assert_int_equal(text[strlen(text) - 1], ']');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_file_is_called_as_it_is),
        cmocka_unit_test(several_are_a_list_in_their_order),
        cmocka_unit_test(what_fits_no_list_is_refused),
        cmocka_unit_test(a_list_is_full_at_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
