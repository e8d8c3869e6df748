#include "common/base/memory.h"
#include "stages/ingest/build/input_lines.h"

#include "tests/support/test.h"

static void lines_of_pieces_are_found(void **state)
{
    (void)state;
    struct error err = {0};
    struct input_lines lines = {0};
    const char *where = NULL;
    int64_t line = 0;
    assert_ok(input_lines_add(&lines, "a.csv", 2, 3, &err), &err);
    /* follows the last line, so it is the same piece */
    assert_ok(input_lines_add(&lines, "a.csv", 5, 2, &err), &err);
    assert_ok(input_lines_add(&lines, "a.csv", 9, 1, &err), &err);
    assert_ok(input_lines_add(&lines, "b.csv", 1, 4, &err), &err);
    assert_int_equal(lines.piece_count, 3);
    assert_true(input_lines_find(&lines, 4, &where, &line));
    assert_int_equal(line, 6);
    assert_true(input_lines_find(&lines, 5, &where, &line));
    assert_int_equal(line, 9);
    assert_true(input_lines_find(&lines, 8, &where, &line));
    assert_int_equal(line, 3);
    assert_string_equal(where, "b.csv");
    input_lines_release(&lines);
}

/* Adds edges with a comment after each one. */
static void memory_is_bounded_whatever_the_input_looks_like(void **state)
{
    (void)state;
    struct error err = {0};
    struct input_lines lines = {0};
    const char *where = NULL;
    int64_t line = 0;
    for (int64_t i = 0; i < 4LL * INPUT_PIECES_MAX; i++)
        assert_ok(input_lines_add(&lines, "a.csv", 2 * i + 1, 1, &err), &err);
    assert_int_equal(lines.piece_count, INPUT_PIECES_MAX);
    assert_true(lines.piece_capacity < (size_t)2 * INPUT_PIECES_MAX);
    assert_true(input_lines_find(&lines, INPUT_PIECES_MAX - 1, &where, &line));
    assert_int_equal(line, 2 * INPUT_PIECES_MAX - 1);
    assert_false(input_lines_find(&lines, 3ULL * INPUT_PIECES_MAX, &where, &line));
    assert_int_equal(line, 3 * INPUT_PIECES_MAX + 1); /* the number of the edge */
    assert_string_equal(where, "a.csv");
    input_lines_release(&lines);
    assert_int_equal(memory_live_blocks(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_pieces_are_found),
        cmocka_unit_test(memory_is_bounded_whatever_the_input_looks_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
