/* Graphs stay whole, parts have nearly equal numbers of nodes, and the nodes of a graph become
 * consecutive. */
#include "common/numbers/random.h"
#include "stages/partition/layout/graph_ranges.h"

#include "tests/support/test.h"

enum { GRAPHS = 50, NODES = 700 };

static uint32_t graph_of[NODES], part[NODES];

/* Makes graphs of unlike sizes, with nodes in any order; each graph has a node. */
static struct graph_index make_graphs(uint64_t seed)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_GENERATOR, 0, 0, 0);
    for (uint32_t node = 0; node < NODES; node++) {
        const uint32_t drawn = random_below(random_word(&stream, node, 0), GRAPHS);
        graph_of[node] = node < GRAPHS ? GRAPHS - 1 - node
                                       : drawn * random_below(random_word(&stream, node, 1), 2);
    }
    return (struct graph_index){.node_count = NODES, .graph_count = GRAPHS, .graph_of = graph_of};
}

static void parts_are_ranges_of_whole_graphs(void **state)
{
    struct error err = {0};
    uint32_t part_of[GRAPHS], nodes[GRAPHS], size[GRAPHS];
    (void)state;
    for (uint32_t parts = 1; parts <= GRAPHS; parts++) {
        const struct graph_index graphs = make_graphs(parts);
        assert_ok(graph_ranges_assign(&graphs, parts, part, &err), &err);
        memset(nodes, 0, sizeof nodes);
        memset(size, 0, sizeof size);
        for (uint32_t node = 0; node < NODES; node++) {
            nodes[part[node]]++;
            size[graph_of[node]]++;
            part_of[graph_of[node]] = part[node];
        }
        uint32_t largest = 0;
        for (uint32_t node = 0; node < NODES; node++)
            assert_int_equal(part[node], part_of[graph_of[node]]);
        assert_int_equal(part_of[0], 0);
        assert_int_equal(part_of[GRAPHS - 1], parts - 1);
        for (uint32_t g = 0; g < GRAPHS; g++) {
            largest = size[g] > largest ? size[g] : largest;
            if (g)
                assert_in_range(part_of[g] - part_of[g - 1], 0, 1);
        }
        for (uint32_t p = 0; p < parts; p++)
            assert_in_range(nodes[p], 1, NODES / parts + largest + 1);
    }
}

static void nodes_of_a_graph_come_together_in_their_order(void **state)
{
    static const uint32_t own[] = {1, 0, 1, 2, 0, 2, 2}, of_part[] = {0, 0, 0, 1, 0, 1, 1};
    static const uint32_t wanted[] = {1, 4, 0, 2, 3, 5, 6}, ranges[] = {0, 2, 4, 7};
    static const uint32_t in_degree[] = {1, 2, 0, 5, 0, 0, 1};
    const struct graph_index graphs = {.node_count = 7, .graph_count = 3, .graph_of = own};
    struct renumbering r;
    struct graph_sizes sizes;
    struct error err = {0};
    uint32_t first[4];
    (void)state;
    assert_ok(renumbering_init(&r, of_part, 7, 2, &err), &err);
    assert_ok(graph_ranges_order(&r, &graphs, first, &err), &err);
    assert_memory_equal(r.to_dataset, wanted, sizeof wanted);
    assert_memory_equal(first, ranges, sizeof ranges);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(r.to_partition[r.to_dataset[i]], i);
    renumbering_release(&r);
    assert_ok(graph_ranges_measure(&graphs, in_degree, &sizes, &err), &err);
    assert_true(sizes.graph_count == 3 && sizes.most_nodes == 3 && sizes.most_edges == 6);
}

static void a_graph_without_nodes_is_refused(void **state)
{
    static const uint32_t own[] = {0, 2}, of_part[] = {0, 0};
    const struct graph_index graphs = {
        .node_count = 2, .graph_count = 3, .graph_of = own, .view = {.key = "graphs"}};
    struct renumbering r;
    struct error err = {0};
    uint32_t first[4];
    (void)state;
    assert_ok(renumbering_init(&r, of_part, 2, 1, &err), &err);
    assert_fails(graph_ranges_order(&r, &graphs, first, &err), ERROR_CORRUPT,
                 "graphs: graph 1 has no node", &err);
    renumbering_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_ranges_of_whole_graphs),
        cmocka_unit_test(nodes_of_a_graph_come_together_in_their_order),
        cmocka_unit_test(a_graph_without_nodes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
