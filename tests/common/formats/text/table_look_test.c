/* table_look: separator, header and types of small tables, and the tables that it refuses. */
#include "common/formats/text/table_look.h"

#include "tests/support/test.h"

#include <string.h>

static bool is_known(const struct field *name)
{
    static const char *const words[] = {"source", "target", "user", "rating", "u", "v"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (field_is(name, words[i]))
            return true;
    return false;
}

static bool are_pair(const struct field *first, const struct field *second)
{
    return first->text[first->size - 1] == '1' && second->text[second->size - 1] == '2';
}

static void look(const char *text, struct table_look *out)
{
    const struct table_request request = {.path = "t.csv",
                                          .data = text,
                                          .size = strlen(text),
                                          .is_known = is_known,
                                          .are_pair = are_pair};
    struct error err = {0};
    assert_int_equal(table_look_read(&request, out, &err), ERROR_NONE);
}

struct layout {
    const char *text;
    enum delimiter delimiter;
    size_t columns;
    int64_t header_line;
    uint64_t rows;
};

static void finds_separator_and_header(void **state)
{
    static const struct layout layouts[] = {
        {"1,2\n2,3\n", DELIMITER_COMMA, 2, 0, 2},
        {"1\t2\n2\t3\n", DELIMITER_TAB, 2, 0, 2},
        {"1;2;0,5\n2;3;1,5\n", DELIMITER_SEMICOLON, 3, 0, 2},
        {"source;target;rating\n1;2;0,5\n", DELIMITER_SEMICOLON, 3, 1, 1},
        {"1::2::5\n2::3::4\n", DELIMITER_COLONS, 3, 0, 2},
        {"a|b\nb|c\n", DELIMITER_BAR, 2, 0, 2},
        {"# said\n\n1 2\n2  3\n", DELIMITER_BLANKS, 2, 0, 2},
        {"1,2\r2,3\r", DELIMITER_COMMA, 2, 0, 2},
        {"1,2\r\n2,3\r\n", DELIMITER_COMMA, 2, 0, 2},
        {"\xef\xbb\xbfsource,target\n1,2\n", DELIMITER_COMMA, 2, 1, 1},
        {"x,y\n1,2\n", DELIMITER_COMMA, 2, 1, 1},                /* words above numbers */
        {"follower,user\na,b\nb,c\n", DELIMITER_COMMA, 2, 1, 2}, /* one name is known */
        {"u,v\nv,w\nw,x\n", DELIMITER_COMMA, 2, 0, 3},           /* v is a node */
        {"u,x\nw,y\n", DELIMITER_COMMA, 2, 0, 2},                /* one letter is no name */
        {"when,who\n2019-01-01,a\n2019-01-02,b\n", DELIMITER_COMMA, 2, 1, 2},
        {"target rating\n1 2 3\n2 3 4\n", DELIMITER_BLANKS, 3, 1,
         2}, /* row names, as R writes them */
        {"\"Doe, Jane\";b\n\"Roe, Jim\";c\n", DELIMITER_SEMICOLON, 2, 0, 2},
        {"\"Doe, Jane\"\t\"Roe, Jim\"\n\"Roe, Jim\"\t\"Poe, Al\"\n", DELIMITER_TAB, 2, 0, 2},
        {"Doe, Jane\tb\nJim\tc\n", DELIMITER_TAB, 2, 0, 2},
        {"\"a, b\"\t\"c, d\"\n\"e, f\"\t\"g, h\"\n", DELIMITER_TAB, 2, 0, 2},
        {"only\none\ncolumn\n", DELIMITER_BLANKS, 1, 0, 3},
        {"tx1,tx2\na,b\nb,c\n", DELIMITER_COMMA, 2, 1, 2}, /* a known pair of names */
        {"n1,n2\n", DELIMITER_COMMA, 2, 0, 1},             /* or ids, if there is no row below */
        {"n1,n2\nn3,n4\n", DELIMITER_COMMA, 2, 0, 2},      /* ids, since n3 is one */
    };
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct table_look table;
        look(layouts[i].text, &table);
        if (table.delimiter != layouts[i].delimiter || table.column_count != layouts[i].columns ||
            table.header_line != layouts[i].header_line || table.rows != layouts[i].rows)
            fail_msg("layout %zu: separator %s, %zu columns, header in line %d, %d rows", i,
                     delimiter_name(table.delimiter), table.column_count, (int)table.header_line,
                     (int)table.rows);
        table_look_release(&table);
    }
}

static void knows_the_types_of_columns(void **state)
{
    struct table_look table;
    (void)state;
    look("0;007;1,5;2019-01-01;x;1,500\n1;008;2;2019-01-02;y;2,300\n2;11;3;2019-01-02;;1,000\n",
         &table);
    const struct table_column *column = table.column;
    assert_true(column[0].are_integers && column[0].counts_up && !column[0].has_leading_zero);
    assert_true(column[1].are_integers && column[1].has_leading_zero && !column[1].counts_up);
    assert_true(column[2].are_numbers && column[2].has_decimal_comma && !column[2].are_integers);
    assert_true(column[3].are_dates && !column[3].are_numbers && column[3].distinct == 2);
    assert_true(!column[4].are_numbers && column[4].values == 2);
    assert_false(column[5].are_numbers); /* 1,500 may be 1500 */
    assert_true(table.decimal_comma && table.is_whole);
    assert_int_equal(table_look_shared(&table, 0, 2), 1); /* 2 */
    table_look_release(&table);
    look("9223372036854775807 1\n-9223372036854775808 2\n", &table); /* no overflow */
    assert_true(table.column[0].are_integers && !table.column[0].counts_up);
    table_look_release(&table);
}

static void tells_names_that_nobody_knows(void **state)
{
    struct table_look table;
    (void)state;
    look("alpha,beta\na,b\nb,c\nc,d\nd,a\n", &table);
    assert_true(table.header_is_weak && table.header_line == 0);
    table_look_release(&table);
    look("alice,bob\ncarol,dave\nerin,frank\ngrace,heidi\n", &table);
    /* no other word occurs again either, so nothing speaks against a row */
    assert_false(table.header_is_weak);
    table_look_release(&table);
}

static void refuses_rows_that_differ(void **state)
{
    static const char text[] = "1,2\n2,3\n3,4,5\n";
    const struct table_request request = {
        .path = "t.csv", .data = text, .size = sizeof text - 1, .least_columns = 2};
    const struct table_request narrow = {
        .path = "n.csv", .data = "1\n2\n", .size = 4, .least_columns = 2};
    const struct table_request empty = {.path = "e.csv", .data = "# none\n", .size = 7};
    struct table_look table;
    struct error err = {0};
    (void)state;
    assert_int_equal(table_look_read(&request, &table, &err), ERROR_INPUT);
    assert_non_null(strstr(err.message, "t.csv:3: expected 2 columns"));
    table_look_release(&table);
    assert_int_equal(table_look_read(&narrow, &table, &err), ERROR_INPUT);
    assert_non_null(strstr(err.message, "n.csv:1: expected 2 columns or more"));
    assert_non_null(strstr(err.message, "semicolons"));
    table_look_release(&table);
    assert_int_equal(table_look_read(&empty, &table, &err), ERROR_INPUT);
    assert_non_null(strstr(err.message, "expected rows"));
    table_look_release(&table);
}

/* Tables of features have thousands of columns, and lists of negatives have rows of any length. */
static void looks_at_wide_and_uneven_tables(void **state)
{
    static char text[65536];
    struct table_request request = {.path = "t.csv", .data = text, .is_wide = true};
    struct table_look table;
    struct error err = {0};
    (void)state;
    char *at = text;
    for (int row = 0; row < 3; row++)
        for (int i = 0; i < 2000; i++) {
            *at++ = row ? '1' : 'x';
            *at++ = i < 1999 ? ',' : '\n';
        }
    request.size = strlen(text);
    assert_ok(table_look_read(&request, &table, &err), &err);
    assert_int_equal(table.column_count, 2000);
    assert_int_equal(table.judged, TABLE_WIDE_JUDGED);
    assert_int_equal(table.header_line, 1);
    table_look_release(&table);
    request.is_wide = false;
    assert_fails(table_look_read(&request, &table, &err), ERROR_INPUT,
                 "t.csv:1: expected at most 512 columns, found 2000", &err);
    table_look_release(&table);
    request.is_uneven = true;
    request.data = "1,2,3\n2,3\n3,4,5,6\n";
    request.size = strlen(request.data);
    assert_ok(table_look_read(&request, &table, &err), &err);
    assert_int_equal(table.delimiter, DELIMITER_COMMA);
    assert_int_equal(table.rows, 3);
    assert_int_equal(table.judged, 2);
    table_look_release(&table);
    request.is_uneven = false;
    assert_fails(table_look_read(&request, &table, &err), ERROR_INPUT, "t.csv:2: expected 3", &err);
    table_look_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_separator_and_header),
        cmocka_unit_test(knows_the_types_of_columns),
        cmocka_unit_test(tells_names_that_nobody_knows),
        cmocka_unit_test(refuses_rows_that_differ),
        cmocka_unit_test(looks_at_wide_and_uneven_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
