#include "stages/engine/stage_list.h"

#include "tests/support/test.h"

#include <string.h>

static void rows_are_counted_and_named_in_order(void **state)
{
    char text[STAGE_NAMES_SIZE];
    const char *at = text;
    (void)state;
    stage_list_names(text);
    for (int i = 0; i < STAGE_COUNT; i++) {
        assert_int_equal(strncmp(at, stage_list[i].name, strlen(stage_list[i].name)), 0);
        at += strlen(stage_list[i].name);
        const char *gap = i == STAGE_COUNT - 1 ? "" : i == STAGE_COUNT - 2 ? " or " : ", ";
        assert_int_equal(strncmp(at, gap, strlen(gap)), 0);
        at += strlen(gap);
    }
    assert_string_equal(at, "");
    assert_string_equal(stage_list[0].name, "ingest");
    assert_string_equal(stage_loop[0].name, "sample");
    assert_ptr_equal(stage_loop + STAGE_LOOP_COUNT, stage_list + STAGE_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_counted_and_named_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
