#include "stages/partition/layout/assignment.h"
#include "stages/partition/methods/hash_partitioner.h"

#include "tests/support/test.h"

enum { NODES = 20000 };

static uint32_t part[NODES], again[NODES], size[NODES];

static void parts_are_even_and_the_same_each_time(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(hash_partition(part, NODES, 16, 5, &err), &err);
    assert_ok(hash_partition(again, NODES, 16, 5, &err), &err);
    assert_memory_equal(part, again, sizeof part);
    assert_ok(assignment_check(part, NODES, 16, &err), &err);
    assignment_sizes(part, NODES, 16, size);
    for (int p = 0; p < 16; p++) /* mean 1250, deviation 34: allows six deviations */
        assert_in_range(size[p], 1250 - 205, 1250 + 205);
}

static void the_part_of_a_node_depends_on_its_id_and_the_seed_only(void **state)
{
    (void)state;
    struct error err = {0};
    int differ = 0;
    assert_ok(hash_partition(part, NODES, 16, 5, &err), &err);
    assert_ok(hash_partition(again, NODES / 2, 16, 5, &err), &err);
    assert_memory_equal(part, again, sizeof part / 2);
    assert_ok(hash_partition(again, NODES, 16, 6, &err), &err);
    for (int i = 0; i < NODES; i++)
        differ += part[i] != again[i];
    assert_in_range(differ, NODES * 14 / 16, NODES);
}

static void every_part_has_a_node_even_with_as_many_parts_as_nodes(void **state)
{
    (void)state;
    struct error err = {0};
    for (uint32_t nodes = 1; nodes < 60; nodes++) {
        assert_ok(hash_partition(part, nodes, nodes, 1, &err), &err);
        assert_ok(assignment_refuse_empty(part, nodes, nodes, &err), &err);
    }
    assert_ok(hash_partition(part, 10, 1, 1, &err), &err);
    for (int i = 0; i < 10; i++)
        assert_int_equal(part[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_even_and_the_same_each_time),
        cmocka_unit_test(the_part_of_a_node_depends_on_its_id_and_the_seed_only),
        cmocka_unit_test(every_part_has_a_node_even_with_as_many_parts_as_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
