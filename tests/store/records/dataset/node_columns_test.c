#include "store/records/dataset/node_columns.h"

#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <string.h>

static const char key[] = "dataset/d-1/node_columns";
static const char text[] = "class\ta\nclass\tb\ncolumn\tx\tone_hot\tzero\t0\tp\tq\n";

static void put(struct temp_store *t)
{
    struct column_encoding encoding;
    assert_ok(column_encoding_parse(&encoding, text, sizeof text - 1, "text", &t->err), &t->err);
    assert_ok(node_columns_put(t->store, "d-1", &encoding, &t->err), &t->err);
    column_encoding_release(&encoding);
}

static void reads_back_what_was_put_and_nothing_where_there_is_none(void **state)
{
    struct temp_store *t = *state;
    struct column_encoding encoding;
    put(t);
    assert_ok(node_columns_get(t->store, "d-1", &encoding, &t->err), &t->err);
    assert_int_equal(encoding.class_count, 2);
    assert_string_equal(encoding.class_name[1], "b");
    assert_string_equal(encoding.column[0].word[1], "q");
    column_encoding_release(&encoding);
    assert_ok(node_columns_get(t->store, "d-2", &encoding, &t->err), &t->err);
    assert_int_equal(encoding.class_count + encoding.column_count, 0);
}

static void a_text_that_does_not_parse_is_damage(void **state)
{
    static const struct tamper change = {"text", ELEMENT_U8, "class\ta\nwhat\n", 13};
    struct temp_store *t = *state;
    struct column_encoding encoding;
    put(t);
    record_tamper(t->store, key, "d-1", &change);
    assert_fails(node_columns_get(t->store, "d-1", &encoding, &t->err), ERROR_CORRUPT,
                 "dataset/d-1/node_columns:2: expected `class`", &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(reads_back_what_was_put_and_nothing_where_there_is_none),
        test_with_store(a_text_that_does_not_parse_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
