#include "common/base/memory.h"
#include "stages/partition/layout/assignment.h"

#include "tests/support/test.h"

static void a_part_out_of_range_is_named_with_its_node(void **state)
{
    (void)state;
    static const uint32_t part[] = {0, 2, 3, 1}, negative[] = {0, 0xfffffffeU};
    struct error err = {0};
    assert_ok(assignment_check(part, 4, 4, &err), &err);
    assert_fails(assignment_check(part, 4, 3, &err), ERROR_CORRUPT,
                 "node 2 is in part 3, expected 0 to 2", &err);
    assert_fails(assignment_check(negative, 2, 3, &err), ERROR_CORRUPT, "node 1 is in part -2",
                 &err);
}

static void an_empty_part_takes_the_highest_node_of_the_largest(void **state)
{
    (void)state;
    uint32_t part[] = {3, 3, 1, 3, 1, 3, 1};
    static const uint32_t expected[] = {3, 3, 1, 3, 1, 0, 2};
    struct error err = {0};
    assert_ok(assignment_fill_empty(part, 7, 4, &err), &err);
    assert_memory_equal(part, expected, sizeof part);
}

static void filling_leaves_no_part_empty_and_moves_no_more_than_needed(void **state)
{
    (void)state;
    struct error err = {0};
    for (uint32_t nodes = 1; nodes <= 40; nodes++)
        for (uint32_t parts = 1; parts <= nodes; parts++) {
            uint32_t part[40], before[40], size[40], moved = 0, empty = 0;
            for (uint32_t i = 0; i < nodes; i++)
                before[i] = part[i] = i * i * 31 % parts;
            assignment_sizes(part, nodes, parts, size);
            for (uint32_t p = 0; p < parts; p++)
                empty += size[p] == 0;
            assert_ok(assignment_fill_empty(part, nodes, parts, &err), &err);
            assert_ok(assignment_refuse_empty(part, nodes, parts, &err), &err);
            for (uint32_t i = 0; i < nodes; i++)
                moved += part[i] != before[i];
            assert_int_equal(moved, empty);
        }
}

static void an_empty_part_is_named(void **state)
{
    (void)state;
    static const uint32_t part[] = {0, 2, 2};
    struct error err = {0};
    assert_fails(assignment_refuse_empty(part, 3, 3, &err), ERROR_INPUT,
                 "part 1 has no node, expected one in each of 3 parts", &err);
}

static void no_memory_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    uint32_t part[] = {0, 0, 0};
    struct error err = {0};
    const long before = memory_live_blocks();
    for (long n = 0; n < 2; n++) {
        memory_fail_after(n);
        assert_int_equal(assignment_fill_empty(part, 3, 3, &err), ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), before);
    }
    memory_fail_after(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_out_of_range_is_named_with_its_node),
        cmocka_unit_test(an_empty_part_takes_the_highest_node_of_the_largest),
        cmocka_unit_test(filling_leaves_no_part_empty_and_moves_no_more_than_needed),
        cmocka_unit_test(an_empty_part_is_named),
        cmocka_unit_test(no_memory_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
