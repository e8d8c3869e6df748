#include "common/base/memory.h"
#include "pipelines/report/charts/html_text.h"

#include "tests/support/test.h"

static void escapes_text_and_keeps_markup(void **state)
{
    (void)state;
    struct html_text html = {0};
    struct error err = {0};
    html_put(&html, "<p title='%d'>", 7);
    html_put_escaped(&html, "a<b & \"c\" 'd' > e");
    html_put_element(&html, "b", "<x>");
    assert_ok(html_text_finish(&html, &err), &err);
    assert_string_equal(html.text, "<p title='7'>a&lt;b &amp; &quot;c&quot; &#39;d&#39; &gt; e"
                                   "<b>&lt;x&gt;</b>");
    assert_int_equal(html.size, strlen(html.text));
    html_text_release(&html);
}

static void grows_over_many_pieces(void **state)
{
    (void)state;
    struct html_text html = {0};
    struct error err = {0};
    for (int i = 0; i < 10000; i++)
        html_put(&html, "%04d,", i);
    assert_ok(html_text_finish(&html, &err), &err);
    assert_int_equal(html.size, 50000);
    assert_memory_equal(html.text + 49995, "9999,", 6);
    html_text_release(&html);
}

static void tells_of_missing_memory_once_and_late(void **state)
{
    (void)state;
    struct html_text html = {0};
    struct error err = {0};
    memory_fail_after(0);
    html_put(&html, "<p>%d</p>", 1);
    memory_fail_after(-1);
    html_put_escaped(&html, "more");
    assert_fails(html_text_finish(&html, &err), ERROR_NO_MEMORY, "report", &err);
    html_text_release(&html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_text_and_keeps_markup),
        cmocka_unit_test(grows_over_many_pieces),
        cmocka_unit_test(tells_of_missing_memory_once_and_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
