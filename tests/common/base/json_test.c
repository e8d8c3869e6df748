#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/numbers/random.h"

#include "tests/support/test.h"

#include <float.h>
#include <math.h>

static struct json_document *parse(const char *text, size_t size)
{
    struct error err = {0};
    struct json_document *document = NULL;
    assert_ok(json_parse(text, size, "t.json", &document, &err), &err);
    return document;
}

static void assert_double_returns(double value)
{
    struct json_writer w = {0};
    struct error err = {0};
    double back = 0;
    json_open_array(&w, NULL);
    json_put_double(&w, NULL, value);
    json_close_array(&w);
    assert_ok(json_writer_finish(&w, &err), &err);
    struct json_document *document = parse(w.text, w.size);
    assert_true(json_double(json_at(json_root(document), 0), &back));
    if (!(back >= value && back <= value) || !signbit(back) != !signbit(value))
        fail_msg("%a was written as %s and read as %a", value, w.text, back);
    json_free(document);
    json_writer_release(&w);
}

static void doubles_read_back_the_same(void **state)
{
    static const double some[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.1,
                                  1.0 / 3,
                                  DBL_MAX,
                                  DBL_MIN,
                                  4.9e-324,
                                  1e15,
                                  1e16,
                                  1e17,
                                  123456789012345678.0,
                                  1e-7,
                                  -2.5e300,
                                  1 + DBL_EPSILON};
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        assert_double_returns(some[i]);
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t word[4];
        double value = 0;
        random_block(&stream, i, 0, word);
        memcpy(&value, word, sizeof value);
        if (isfinite(value))
            assert_double_returns(value);
    }
}

static void a_document_is_written_and_read(void **state)
{
    struct json_writer w = {0};
    struct error err = {0};
    const struct json_node *value = NULL;
    int64_t number = 0;
    bool truth = false;
    (void)state;
    json_open_object(&w, NULL);
    json_put_int64(&w, "least", INT64_MIN);
    json_put_string(&w, "text", "a \"b\" \\ \n\t\x01 \xc3\xa4");
    json_open_array(&w, "list");
    json_put_bool(&w, NULL, true);
    json_put_null(&w, NULL);
    json_put_double(&w, NULL, (double)NAN);
    json_open_object(&w, NULL);
    json_close_object(&w);
    json_close_array(&w);
    json_put_double(&w, "endless", -(double)INFINITY);
    json_close_object(&w);
    json_put_raw(&w, "\n");
    assert_ok(json_writer_finish(&w, &err), &err);
    assert_string_equal(w.text, "{\"least\":-9223372036854775808,"
                                "\"text\":\"a \\\"b\\\" \\\\ \\u000a\\u0009\\u0001 \xc3\xa4\","
                                "\"list\":[true,null,null,{}],\"endless\":null}\n");
    struct json_document *document = parse(w.text, w.size);
    const struct json_node *root = json_root(document);
    assert_true(json_int64(json_get(root, "least"), &number));
    assert_true(number == INT64_MIN);
    assert_string_equal(json_text(json_get(root, "text")), "a \"b\" \\ \n\t\x01 \xc3\xa4");
    assert_int_equal(json_count(root), 4);
    assert_string_equal(json_member(root, 2, &value), "list");
    assert_true(json_node_is_array(value));
    assert_int_equal(json_count(value), 4);
    assert_true(json_bool(json_at(value, 0), &truth) && truth);
    assert_true(json_node_is_null(json_at(value, 1)) && json_node_is_null(json_at(value, 2)));
    assert_true(json_node_is_object(json_at(value, 3)));
    assert_null(json_at(value, 4));
    assert_null(json_member(root, 4, &value));
    json_free(document);
    json_writer_release(&w);
}

static void another_type_is_no_answer(void **state)
{
    static const char text[] = "{\"i\":1,\"d\":1.5,\"s\":\"x\"}";
    struct json_document *document = parse(text, sizeof text - 1);
    const struct json_node *root = json_root(document);
    int64_t number = 0;
    double value = 0;
    bool truth = false;
    (void)state;
    assert_false(json_int64(json_get(root, "d"), &number));
    assert_false(json_int64(json_get(root, "none"), &number));
    assert_true(json_double(json_get(root, "i"), &value));
    assert_false(json_double(json_get(root, "s"), &value));
    assert_false(json_bool(json_get(root, "i"), &truth));
    assert_null(json_text(json_get(root, "i")));
    assert_null(json_get(json_get(root, "s"), "x"));
    assert_int_equal(json_count(json_get(root, "s")), 0);
    assert_false(json_node_is_null(NULL));
    json_free(document);
}

static void bad_text_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t.json:1:0: expected JSON, found what is not valid JSON"},
        {"{\"a\":1,\n \"a\":2}",
         "t.json:2:4: expected JSON, found what is not valid JSON: duplicate object key"},
        {"{\"a\":\n\n nope}", "t.json:3:5: expected JSON, found what is not valid JSON"},
        {"{} x", "t.json:1:4: expected JSON, found what is not valid JSON: end of file expected"},
        {"[1e999]", "not valid JSON: real number overflow"},
        {"[\"\xff\"]", "not valid JSON: unable to decode byte 0xff"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_document *document = NULL;
        struct error err = {0};
        assert_fails(json_parse(cases[i].text, strlen(cases[i].text), "t.json", &document, &err),
                     ERROR_INPUT, cases[i].message, &err);
        assert_null(document);
    }
}

static void without_memory_the_writer_says_so_at_the_end(void **state)
{
    struct json_writer w = {0};
    struct error err = {0};
    (void)state;
    json_open_array(&w, NULL);
    memory_fail_after(0);
    for (int i = 0; i < 1000; i++)
        json_put_int64(&w, NULL, i);
    memory_fail_after(-1);
    json_close_array(&w);
    assert_fails(json_writer_finish(&w, &err), ERROR_NO_MEMORY, "JSON", &err);
    json_writer_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_read_back_the_same),
        cmocka_unit_test(a_document_is_written_and_read),
        cmocka_unit_test(another_type_is_no_answer),
        cmocka_unit_test(bad_text_is_refused_with_its_place),
        cmocka_unit_test(without_memory_the_writer_says_so_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
