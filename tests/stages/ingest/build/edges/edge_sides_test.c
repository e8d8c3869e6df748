/* Tests how edges show the two sides of a bipartite graph. */
#include "common/base/memory.h"
#include "stages/ingest/build/edges/edge_sides.h"

#include "tests/support/test.h"

enum { NODES = 60 };

static struct edge_sides sides;

static int open_sides(void **state)
{
    struct error err = {0};
    (void)state;
    assert_ok(edge_sides_open(&sides, NODES, &err), &err);
    return 0;
}

static int close_sides(void **state)
{
    (void)state;
    edge_sides_close(&sides);
    assert_int_equal(memory_live_blocks(), 0);
    return 0;
}

/* Adds edges from the first twenty nodes to the next thirty. */
static void add_edges(bool both_ways)
{
    for (uint32_t i = 0; i < 400; i++) {
        const uint32_t a = i * 7 % 20, b = 20 + (i * 11 + i / 20) % 30;
        edge_sides_note(&sides, both_ways && i % 3 == 0 ? b : a, both_ways && i % 3 == 0 ? a : b);
    }
}

static void sources_and_targets_are_two_sides(void **state)
{
    (void)state;
    struct error err = {0};
    uint32_t *list = NULL;
    add_edges(false);
    assert_true(edge_sides_count(&sides));
    assert_int_equal(sides.count[0], 20);
    assert_int_equal(sides.count[1], 30);
    assert_false(edge_sides_are_groups(&sides));
    assert_ok(edge_sides_sources(&sides, &list, &err), &err);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(list[i], i);
    memory_free(list);
}

/* Groups are found whatever the direction of edges, and one odd cycle ends them. */
static void edges_both_ways_show_groups(void **state)
{
    (void)state;
    add_edges(true);
    assert_false(edge_sides_count(&sides));
    assert_true(edge_sides_are_groups(&sides));
    edge_sides_note(&sides, 50, 51); /* a component of its own */
    edge_sides_note(&sides, 51, 3);
    edge_sides_note(&sides, 25, 51); /* 3, 51, 25, 50: 25 and 3 are of different groups */
    assert_false(edge_sides_are_groups(&sides));
}

static void long_paths_are_coloured_in_turn(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++)
        edge_sides_note(&sides, (i * 17 + 17) % 41, i * 17 % 41); /* a path through 0 to 40 */
    assert_true(edge_sides_are_groups(&sides));
    edge_sides_note(&sides, 0, 17 * 39 % 41); /* a cycle of 40 edges: even */
    assert_true(edge_sides_are_groups(&sides));
    edge_sides_note(&sides, 0, 17 * 40 % 41); /* a cycle of 41 edges: odd */
    assert_false(edge_sides_are_groups(&sides));
}

static void a_side_of_one_node_is_none(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < NODES; i++)
        edge_sides_note(&sides, 0, i);
    assert_false(edge_sides_count(&sides));
}

static void a_loop_ends_both(void **state)
{
    (void)state;
    add_edges(false);
    edge_sides_note(&sides, 5, 5);
    assert_false(edge_sides_count(&sides));
    assert_false(edge_sides_are_groups(&sides));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_sides, close_sides)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sources_and_targets_are_two_sides),
        TEST(edges_both_ways_show_groups),
        TEST(long_paths_are_coloured_in_turn),
        TEST(a_side_of_one_node_is_none),
        TEST(a_loop_ends_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
