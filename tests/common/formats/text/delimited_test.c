#include "common/formats/text/delimited.h"

#include "tests/support/test.h"

#include <stdio.h>

/* Returns the fields of `line` in brackets. */
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

/* Returns the fields of a line that has spare room. */
static const char *fields_with_room(const char *text, enum delimiter delimiter)
{
    static char out[256];
    char room[128];
    const struct text_line line = {.text = text, .size = strlen(text), .number = 1, .spare = room};
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
    /* the quote is not closed */
    assert_string_equal(fields_with_room("\"a\"\"", DELIMITER_COMMA), "[\"a\"\"]");
    assert_string_equal(fields_with_room("\"a\"\"b\"c,2", DELIMITER_COMMA), "[\"a\"\"b\"c][2]");
    assert_string_equal(fields("\"a\"\",\"\"b\",2", DELIMITER_COMMA),
                        "[a\"\",\"\"b][2]"); /* there is no room */
    assert_int_equal(delimited_guess("\"a\"\",b\"\tc", 9), DELIMITER_TAB);
}

/* Two cursors over one line do not change each other's fields. */
static void writes_a_field_to_one_place_of_the_room(void **state)
{
    (void)state;
    static const char text[] = "\"a\"\"\",\"b\"\"\"";
    char room[sizeof text];
    const struct text_line line = {
        .text = text, .size = sizeof text - 1, .number = 1, .spare = room};
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

/* Returns the rows of a table as "number-last:fields", or the message of its error. */
static const char *rows(const char *text, size_t size, const enum delimiter *delimiter)
{
    static char out[4096];
    struct line_reader *reader = NULL;
    struct text_line line;
    struct error err = {0};
    struct field field[8];
    bool found = true;
    size_t at = 0;
    assert_ok(line_reader_open_memory("a.csv", text, size, &reader, &err), &err);
    out[0] = '\0';
    while (delimited_read(reader, delimiter, &line, &found, &err) == ERROR_NONE && found) {
        const size_t count =
            delimited_split_line(&line, delimiter ? *delimiter : DELIMITER_COMMA, field, 8);
        at +=
            (size_t)snprintf(out + at, sizeof out - at, "%d-%d:", (int)line.number, (int)line.last);
        for (size_t i = 0; i < count && i < 8; i++)
            at += (size_t)snprintf(out + at, sizeof out - at, "[%.*s]", (int)field[i].size,
                                   field[i].text);
    }
    line_reader_close(reader);
    if (err.code != ERROR_NONE)
        (void)snprintf(out + at, sizeof out - at, "%s", err.message);
    return out;
}

static const char *rows_of(const char *text, enum delimiter delimiter)
{
    return rows(text, strlen(text), &delimiter);
}

static void reads_line_ends_inside_quotes(void **state)
{
    (void)state;
    assert_string_equal(rows_of("a,\"b\nc\",d\ne,f\n", DELIMITER_COMMA),
                        "1-2:[a][b\nc][d]3-3:[e][f]");
    assert_string_equal(rows_of("\"a\r\nb\",1\r\n2,3\r\n", DELIMITER_COMMA),
                        "1-2:[a\r\nb][1]3-3:[2][3]");
    assert_string_equal(rows_of("\"\n\n\n\",\"\n\"\nx", DELIMITER_COMMA),
                        "1-5:[\n\n\n][\n]6-6:[x]");
    assert_string_equal(rows_of("\"a\n\"\"b\"\",\n\"\n1,2\n", DELIMITER_COMMA),
                        "1-3:[a\n\"b\",\n]4-4:[1][2]");
    assert_string_equal(rows_of("a\t\"b\nc\"", DELIMITER_TAB), "1-2:[a][b\nc]");
    assert_string_equal(rows("x\t\"b\nc\"\n", 8, NULL), "1-2:[x\t\"b\nc\"]");
}

static void leaves_other_quotes_alone(void **state)
{
    (void)state;
    assert_string_equal(rows_of("a\"b,5\"\nc,d\n", DELIMITER_COMMA), "1-1:[a\"b][5\"]2-2:[c][d]");
    assert_string_equal(rows_of("\"a\"b\",1\n2\n", DELIMITER_COMMA), "1-1:[\"a\"b\"][1]2-2:[2]");
    assert_string_equal(rows_of("# \"a, \"b\n1,2\n", DELIMITER_COMMA),
                        "1-1:[# \"a][\"b]2-2:[1][2]");
    assert_string_equal(rows_of("\"a b\nc d\n", DELIMITER_BLANKS), "1-1:[\"a][b]2-2:[c][d]");
}

static void names_a_quote_that_is_not_closed(void **state)
{
    (void)state;
    assert_string_equal(
        rows_of("1,2\n3, \"4\n5,6\n7,8\n", DELIMITER_COMMA),
        "1-1:[1][2]a.csv:2: expected a quote that closes the one in column 4, found "
        "none up to line 4: close it, or write two quotes where a field has one");
    assert_string_equal(rows_of("\"", DELIMITER_COMMA),
                        "a.csv:1: expected a quote that closes the one in column 1, found none up "
                        "to line 1: close it, or write two quotes where a field has one");
    assert_string_equal(
        rows("\"a\n\0b\"\n", 7, NULL),
        "a.csv:2: expected text, found a NUL byte in column 1: save the file as text in UTF-8");
}

/* Rows cross the borders of pieces that are read at once, and one has the greatest length. */
static void reads_long_rows(void **state)
{
    (void)state;
    enum { ROWS = 30000, ROW = 12, LONG = LINE_SIZE_MAX };
    static char text[ROWS * ROW], whole[LONG + 64];
    static const enum delimiter comma = DELIMITER_COMMA;
    struct line_reader *reader = NULL;
    struct text_line line;
    struct error err = {0};
    bool found = true;
    for (int i = 0; i < ROWS; i++)
        memcpy(text + (size_t)i * ROW, i % 3 ? "\"abc\ncd\",ef\n" : "abcdefgh,ij\n", ROW);
    assert_ok(line_reader_open_memory("a.csv", text, sizeof text, &reader, &err), &err);
    for (int i = 0, expected = 1; i < ROWS; i++) {
        assert_ok(delimited_read(reader, &comma, &line, &found, &err), &err);
        assert_true(found && line.size == ROW - 1 && line.number == expected);
        expected += i % 3 ? 2 : 1;
    }
    assert_ok(delimited_read(reader, &comma, &line, &found, &err), &err);
    assert_false(found);
    line_reader_close(reader);
    memset(whole, '\n', sizeof whole); /* a quote at both ends, with empty lines between */
    whole[0] = whole[LONG - 1] = '"';
    assert_ok(line_reader_open_memory("a.csv", whole, sizeof whole, &reader, &err), &err);
    assert_ok(delimited_read(reader, &comma, &line, &found, &err), &err);
    assert_true(found && line.size == LONG && line.last == LONG - 1);
    line_reader_close(reader);
    whole[LONG - 1] = '\n';
    whole[LONG] = '"';
    assert_ok(line_reader_open_memory("a.csv", whole, sizeof whole, &reader, &err), &err);
    assert_fails(delimited_read(reader, &comma, &line, &found, &err), ERROR_INPUT,
                 "a.csv:1: expected a quote that closes the one in column 1, found none up to line",
                 &err);
    line_reader_close(reader);
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
        cmocka_unit_test(reads_line_ends_inside_quotes),
        cmocka_unit_test(leaves_other_quotes_alone),
        cmocka_unit_test(names_a_quote_that_is_not_closed),
        cmocka_unit_test(reads_long_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
