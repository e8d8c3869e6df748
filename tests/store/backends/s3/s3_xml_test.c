#include "store/backends/s3/s3_xml.h"

#include "tests/support/test.h"

#include <stdio.h>

static enum error_code join(void *context, const char *element, const char *text, struct error *err)
{
    char *all = context;
    if (strcmp(element, "stop") == 0)
        return error_set(err, ERROR_BUSY, "asked to");
    (void)sprintf(all + strlen(all), "%s=%.20s ", element, text); // NOLINT: has room for them
    return ERROR_NONE;
}

static void elements_are_visited_at_their_ends(void **state)
{
    (void)state;
    static const char xml[] = "<?xml version=\"1.0\"?><List><Key>a&amp;b</Key><Empty/></List>";
    static const char stopped[] = "<a><b>1</b><stop/><c>2</c></a>";
    char all[200] = "";
    struct error err = {0};
    assert_ok(s3_xml_visit(xml, sizeof xml - 1, join, all, &err), &err);
    assert_string_equal(all, "Key=a&b Empty= List= ");
    all[0] = '\0';
    assert_fails(s3_xml_visit(stopped, sizeof stopped - 1, join, all, &err), ERROR_BUSY, "asked to",
                 &err);
    assert_string_equal(all, "b=1 ");
}

static void what_is_no_xml_is_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "text", "<a>", "<a></b>", "<a/><b/>", "<a>&x;</a>"};
    char all[200] = "";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        assert_fails(s3_xml_visit(bad[i], strlen(bad[i]), join, all, &err), ERROR_CORRUPT,
                     "no XML: line 1", &err);
    }
}

static void a_failure_has_a_code_and_a_message(void **state)
{
    (void)state;
    static const char failure[] =
        "<Error><Code>NoSuchKey</Code><Message>not there</Message><Key>k</Key></Error>";
    static const char other[] = "<Result><Code>x</Code></Result>";
    struct s3_failure f;
    char text[16];
    struct error err = {0};
    assert_true(s3_xml_failure(failure, sizeof failure - 1, &f));
    assert_string_equal(f.code, "NoSuchKey");
    assert_string_equal(f.message, "not there");
    assert_false(s3_xml_failure(other, sizeof other - 1, &f));
    assert_string_equal(f.code, "");
    assert_false(s3_xml_failure("<html>", 6, &f));
    assert_ok(s3_xml_find(failure, sizeof failure - 1, "Key", text, sizeof text, &err), &err);
    assert_string_equal(text, "k");
    assert_ok(s3_xml_find(failure, sizeof failure - 1, "None", text, sizeof text, &err), &err);
    assert_string_equal(text, "");
    assert_fails(s3_xml_find(failure, sizeof failure - 1, "Message", text, 4, &err), ERROR_CORRUPT,
                 "<Message> is longer than 3", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_visited_at_their_ends),
        cmocka_unit_test(what_is_no_xml_is_named),
        cmocka_unit_test(a_failure_has_a_code_and_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
