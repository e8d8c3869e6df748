#include "common/formats/delimited.h"

#include "tests/support/test.h"

#include <stdio.h>

/* The fields of `line` in brackets. */
static const char *fields(const char *line, enum delimiter delimiter)
{
    static char out[256];
    struct delimited cursor;
    struct field field;
    size_t at = 0;
    out[0] = '\0';
    delimited_begin(&cursor, line, strlen(line), delimiter);
    while (delimited_next(&cursor, &field))
        at += (size_t)snprintf(out + at, sizeof out - at, "[%.*s]", (int)field.size, field.text);
    return out;
}

static void splits_at_commas(void **state)
{
    (void)state;
    assert_string_equal(fields("1,2", DELIMITER_COMMA), "[1][2]");
    assert_string_equal(fields(" 1 ,\t2 ", DELIMITER_COMMA), "[1][2]");
    assert_string_equal(fields("1,,", DELIMITER_COMMA), "[1][][]");
    assert_string_equal(fields(",", DELIMITER_COMMA), "[][]");
    assert_string_equal(fields("", DELIMITER_COMMA), "");
    assert_string_equal(fields("  ", DELIMITER_COMMA), "");
}

static void splits_at_tabs_and_keeps_spaces_inside(void **state)
{
    (void)state;
    assert_string_equal(fields("a b\tc", DELIMITER_TAB), "[a b][c]");
    assert_string_equal(fields("a\t\tc", DELIMITER_TAB), "[a][][c]");
    assert_string_equal(fields("\tc", DELIMITER_TAB), "[][c]");
}

static void takes_runs_of_blanks_as_one(void **state)
{
    (void)state;
    assert_string_equal(fields("  1 \t 2   3  ", DELIMITER_BLANKS), "[1][2][3]");
    assert_string_equal(fields("1", DELIMITER_BLANKS), "[1]");
}

static void keeps_separators_inside_quotes(void **state)
{
    (void)state;
    assert_string_equal(fields("\"a,b\",2", DELIMITER_COMMA), "[a,b][2]");
    assert_string_equal(fields("\"\",2", DELIMITER_COMMA), "[][2]");
    assert_string_equal(fields("\"a b\" 2", DELIMITER_BLANKS), "[a b][2]");
    assert_string_equal(fields("\"a", DELIMITER_COMMA), "[\"a]");
    assert_string_equal(fields("a\"b\",2", DELIMITER_COMMA), "[a\"b\"][2]");
}

/* The fields of a line that came with room. */
static const char *fields_with_room(const char *text, enum delimiter delimiter)
{
    static char out[256];
    char room[128];
    const struct text_line line = {text, strlen(text), 1, room};
    struct field field[8];
    size_t at = 0;
    const size_t count = delimited_split_line(&line, delimiter, field, 8);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "[%.*s]", (int)field[i].size,
                               field[i].text);
    return out;
}

static void makes_two_quotes_inside_quotes_one(void **state)
{
    (void)state;
    assert_string_equal(fields_with_room("\"a \"\"b\"\"\",\"\"\"c\"", DELIMITER_COMMA),
                        "[a \"b\"][\"c]");
    assert_string_equal(fields_with_room("1,\"\"\"\",\"\",x", DELIMITER_COMMA), "[1][\"][][x]");
    assert_string_equal(fields_with_room("\"a\"\",\"\"b\",2", DELIMITER_COMMA), "[a\",\"b][2]");
    assert_string_equal(fields_with_room("\"a\"\" b\" 2", DELIMITER_BLANKS), "[a\" b][2]");
    assert_string_equal(fields_with_room("a\"\"b,2", DELIMITER_COMMA), "[a\"\"b][2]");
    assert_string_equal(fields_with_room("\"a\"\"", DELIMITER_COMMA), "[\"a\"\"]"); /* not closed */
    assert_string_equal(fields_with_room("\"a\"\"b\"c,2", DELIMITER_COMMA), "[\"a\"\"b\"c][2]");
    assert_string_equal(fields("\"a\"\",\"\"b\",2", DELIMITER_COMMA),
                        "[a\"\",\"\"b][2]"); /* no room */
    assert_int_equal(delimited_guess("\"a\"\",b\"\tc", 9), DELIMITER_TAB);
}

/* Two cursors over one line do not spoil each other's fields. */
static void writes_a_field_to_one_place_of_the_room(void **state)
{
    (void)state;
    static const char text[] = "\"a\"\"\",\"b\"\"\"";
    char room[sizeof text];
    const struct text_line line = {text, sizeof text - 1, 1, room};
    struct delimited first, second;
    struct field a, again, b;
    delimited_begin_line(&first, &line, DELIMITER_COMMA);
    assert_true(delimited_next(&first, &a));
    assert_true(delimited_next(&first, &b));
    delimited_begin_line(&second, &line, DELIMITER_COMMA);
    assert_true(delimited_next(&second, &again));
    assert_true(field_is(&a, "a\"") && field_is(&again, "a\"") && field_is(&b, "b\""));
    assert_ptr_equal(a.text, again.text);
}

static void guesses_the_delimiter(void **state)
{
    (void)state;
    assert_int_equal(delimited_guess("1, 2", 4), DELIMITER_COMMA);
    assert_int_equal(delimited_guess("1\t2", 3), DELIMITER_TAB);
    assert_int_equal(delimited_guess("\"a, b\"\t\"c, d\"", 13), DELIMITER_TAB);
    assert_int_equal(delimited_guess("\"a\tb\",c", 7), DELIMITER_COMMA);
    assert_int_equal(delimited_guess("\"a, b c", 7), DELIMITER_COMMA);
    assert_int_equal(delimited_guess("1  2", 4), DELIMITER_BLANKS);
    assert_int_equal(delimited_guess("", 0), DELIMITER_BLANKS);
}

static void counts_more_fields_than_it_keeps(void **state)
{
    (void)state;
    struct field field[2];
    assert_int_equal(delimited_split("1,2,3", 5, DELIMITER_COMMA, field, 2), 3);
    assert_true(field_is(&field[1], "2"));
    assert_int_equal(delimited_split("SRC", 3, DELIMITER_COMMA, field, 2), 1);
    assert_true(field_is(&field[0], "src"));
    assert_false(field_is(&field[0], "sr"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_at_commas),
        cmocka_unit_test(splits_at_tabs_and_keeps_spaces_inside),
        cmocka_unit_test(takes_runs_of_blanks_as_one),
        cmocka_unit_test(keeps_separators_inside_quotes),
        cmocka_unit_test(makes_two_quotes_inside_quotes_one),
        cmocka_unit_test(writes_a_field_to_one_place_of_the_room),
        cmocka_unit_test(guesses_the_delimiter),
        cmocka_unit_test(counts_more_fields_than_it_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
