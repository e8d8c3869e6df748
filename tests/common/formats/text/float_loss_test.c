#include "common/formats/text/float_loss.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct float_loss read_texts(const char *const *text, size_t count)
{
    struct float_loss loss = {0};
    for (size_t i = 0; i < count; i++) {
        const struct float_place place = {
            .path = "f.csv", .line = (int64_t)i + 2, .column = 1 + i % 2};
        float_loss_note_text(&loss, &place, text[i], strlen(text[i]), strtof(text[i], NULL));
    }
    return loss;
}

static void integers_that_a_float_holds_are_no_loss(void **state)
{
    static const char *const texts[] = {
        "0",       "16777216",   "-16777216",           "33554436", "1.5",
        "1048576", "0.1",        "16777217.5",          "1e30",     "inf",
        "nan",     "4294967296", "-9223372036854775808"};
    const struct float_loss loss = read_texts(texts, sizeof texts / sizeof *texts);
    (void)state;
    assert_int_equal(loss.count, 0);
    assert_int_equal(loss.column_count, 0);
}

static void the_first_of_each_column_is_kept(void **state)
{
    static const char *const texts[] = {"3",         "16777217",           "1562112001",
                                        "-16777217", "9007199254740993.0", "18446744073709551617",
                                        "16777217"};
    const struct float_loss loss = read_texts(texts, sizeof texts / sizeof *texts);
    (void)state;
    assert_int_equal(loss.count, 6);
    assert_int_equal(loss.column_count, 2);
    assert_string_equal(loss.first[0].text, "f.csv:3: column 2: 16777217 became 16777216");
    assert_string_equal(loss.first[1].text, "f.csv:4: column 1: 1562112001 became 1562112000");
}

static void numbers_of_arrays_are_noted(void **state)
{
    struct float_loss loss = {0};
    struct float_place place = {.path = "f.npy", .line = 7, .is_of_array = true, .column = 0};
    (void)state;
    float_loss_note_int64(&loss, &place, INT64_MAX);
    float_loss_note_double(&loss, &place, 16777217.5);
    float_loss_note_double(&loss, &place, 1e300);
    assert_int_equal(loss.count, 1);
    float_loss_note_double(&loss, &place, 16777219);
    assert_int_equal(loss.count, 2);
    assert_string_equal(loss.first[0].text,
                        "f.npy: row 7: column 0: 9223372036854775807 became 9223372036854775808");
    float_loss_note_int64(NULL, &place, INT64_MAX); /* no caller is interested */
    for (place.column = 1; place.column < 10; place.column++)
        float_loss_note_int64(&loss, &place, 16777217);
    assert_int_equal(loss.column_count, FLOAT_LOSS_COLUMNS);
    place.path = "g.npy"; /* column 0 of another file is another column */
    place.column = 0;
    loss.column_count = 1;
    float_loss_note_int64(&loss, &place, 16777217);
    assert_int_equal(loss.column_count, 2);
}

static void the_end_of_a_long_path_is_shown(void **state)
{
    char path[300];
    struct float_loss loss = {0};
    const struct float_place place = {.path = path, .line = 1, .name = "amount"};
    (void)state;
    memset(path, 'a', sizeof path);
    (void)snprintf(path + 280, sizeof path - 280, "/f.csv");
    float_loss_note_int64(&loss, &place, 16777217);
    float_loss_note_int64(&loss, &place, 16777217);
    assert_int_equal(loss.column_count, 1);
    assert_non_null(strstr(loss.first[0].text, "a/f.csv:1: column amount: 16777217 became"));
}

/* The text "f.csv:2:3: ..." begins like a note about f.csv. */
static void files_whose_names_begin_alike_are_told_apart(void **state)
{
    struct float_loss loss = {0};
    struct float_place place = {.path = "f.csv:2", .line = 3, .column = 1};
    (void)state;
    float_loss_note_int64(&loss, &place, 16777217);
    place.path = "f.csv";
    float_loss_note_int64(&loss, &place, 16777217);
    float_loss_note_int64(&loss, &place, 16777217);
    assert_int_equal(loss.column_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_that_a_float_holds_are_no_loss),
        cmocka_unit_test(the_first_of_each_column_is_kept),
        cmocka_unit_test(numbers_of_arrays_are_noted),
        cmocka_unit_test(the_end_of_a_long_path_is_shown),
        cmocka_unit_test(files_whose_names_begin_alike_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
