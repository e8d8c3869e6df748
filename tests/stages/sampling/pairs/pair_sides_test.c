/* Tests the sides of a bipartite graph, and the negatives drawn from them. */
#include "stages/sampling/pairs/negative_chances.h"
#include "stages/sampling/pairs/pair_drawer.h"
#include "stages/sampling/pairs/pair_sides.h"

#include "tests/support/memory_topology.h"
#include "tests/support/test.h"

#include <string.h>

enum { LEFT = 30, RIGHT = 50, ALONE = 5, NODES = LEFT + RIGHT + ALONE, MOST = 1000, NEGATIVES = 7 };

static const uint32_t book[] = {0, 20, 20, NODES};
enum { PARTS = sizeof book / sizeof *book - 1 };

static struct memory_topology memory;
static uint64_t row_start[NODES + 1];
static uint32_t neighbor[MOST];
static uint8_t is_edge[NODES][NODES]; /* [target][source] */

/* Returns left node `i`: the first LEFT even numbers are the left nodes. */
static uint32_t left(uint32_t i)
{
    return 2 * i;
}

static uint32_t right(uint32_t i)
{
    return i < LEFT ? 2 * i + 1 : LEFT + i;
}

static bool is_left(uint32_t node)
{
    return node < 2 * LEFT && node % 2 == 0;
}

static void make_topology(void)
{
    uint64_t count = 0;
    for (uint32_t target = 0; target < NODES; target++) {
        row_start[target] = count;
        for (uint32_t source = 0; source < NODES; source++)
            if (is_edge[target][source])
                neighbor[count++] = source;
    }
    must(count < MOST);
    row_start[NODES] = count;
    memory_topology_make(&memory, row_start, neighbor, book, PARTS);
}

/* Makes edges from three left nodes to each right node, and with `both_ways` also back. */
static void make_edges(bool both_ways)
{
    memset(is_edge, 0, sizeof is_edge);
    for (uint32_t i = 0; i < RIGHT; i++)
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t a = left((i * 7 + k * 11) % LEFT), b = right(i);
            is_edge[b][a] = 1;
            is_edge[a][b] |= both_ways;
        }
    make_topology();
}

static uint32_t listed[LEFT];

/* Lists the first `count` left nodes, and holds the first edge out. */
static struct edge_splits splits_of(uint32_t count)
{
    static uint32_t source, target;
    source = left(0);
    target = right(0);
    for (uint32_t i = 0; i < count; i++)
        listed[i] = left(i);
    return (struct edge_splits){.left = listed,
                                .left_count = count,
                                .count = {1, 0},
                                .source = {&source, NULL},
                                .target = {&target, NULL}};
}

static void expect_sides(const struct pair_sides *sides)
{
    assert_true(pair_sides_are_known(sides));
    assert_int_equal(sides->count[PAIR_SIDE_LEFT], LEFT);
    assert_int_equal(sides->count[PAIR_SIDE_RIGHT], RIGHT);
    for (uint32_t node = 0; node < NODES; node++)
        assert_int_equal(sides->side[node], is_left(node)         ? PAIR_SIDE_LEFT
                                            : node < LEFT + RIGHT ? PAIR_SIDE_RIGHT
                                                                  : PAIR_SIDE_NONE);
}

static void sides_follow_from_the_listed_nodes(void **state)
{
    (void)state;
    struct error err = {0};
    struct pair_sides sides;
    for (int both_ways = 0; both_ways < 2; both_ways++) {
        struct edge_splits splits = splits_of(LEFT);
        make_edges(both_ways);
        assert_ok(pair_sides_init(&sides, &memory.topology, &splits, &err), &err);
        expect_sides(&sides);
        pair_sides_release(&sides);
        splits = splits_of(LEFT / 2); /* the other left nodes came with an update */
        assert_ok(pair_sides_init(&sides, &memory.topology, &splits, &err), &err);
        expect_sides(&sides);
        pair_sides_release(&sides);
        splits.left_count = 0;
        assert_ok(pair_sides_init(&sides, &memory.topology, &splits, &err), &err);
        assert_false(pair_sides_are_known(&sides));
        memory_topology_release(&memory);
    }
}

static void an_edge_inside_a_side_ends_the_sides(void **state)
{
    (void)state;
    struct error err = {0};
    struct pair_sides sides;
    struct edge_splits splits = splits_of(LEFT);
    make_edges(false);
    memory_topology_release(&memory);
    is_edge[left(3)][left(4)] = 1;
    make_topology();
    assert_ok(pair_sides_init(&sides, &memory.topology, &splits, &err), &err);
    assert_false(pair_sides_are_known(&sides));
    memory_topology_release(&memory);
}

static void expect_negatives(const struct pair_request *request)
{
    bool differ = false;
    for (uint32_t i = 0; i < request->positive_count; i++) {
        const bool of_source = corrupts_source(request->corrupt, i);
        const uint32_t own = of_source ? request->source[i] : request->target[i];
        for (uint32_t k = 0; k < NEGATIVES; k++) {
            const uint32_t node = pair_drawer_negative(request, NODES, i, k);
            assert_true(node < LEFT + RIGHT);
            assert_int_equal(is_left(node), is_left(own));
            differ |= node != own;
        }
    }
    assert_true(differ);
}

static void negatives_are_of_the_side_of_the_end(void **state)
{
    (void)state;
    static const enum negative_kind kinds[] = {NEGATIVE_UNIFORM, NEGATIVE_DEGREE, NEGATIVE_IN_BATCH,
                                               NEGATIVE_SHARED};
    static const enum corrupted_end ends[] = {CORRUPT_TARGET, CORRUPT_SOURCE, CORRUPT_BOTH};
    uint32_t source[40], target[40];
    struct error err = {0};
    for (int both_ways = 0; both_ways < 2; both_ways++) {
        struct pair_sides sides;
        struct node_chances all = {0}, chances[PAIR_SIDES];
        const struct edge_splits splits = splits_of(LEFT);
        make_edges(both_ways);
        assert_ok(pair_sides_init(&sides, &memory.topology, &splits, &err), &err);
        assert_ok(negative_chances_init(&all, &memory.topology, 0, &err), &err);
        assert_ok(pair_sides_chances(&sides, &all, chances, &err), &err);
        for (uint32_t i = 0; i < 40; i++) { /* either direction if edges go both ways */
            const bool turns = both_ways && i % 3 == 0;
            const uint32_t a = left(i * 7 % LEFT), b = right(i);
            source[i] = turns ? b : a;
            target[i] = turns ? a : b;
        }
        for (size_t k = 0; k < 4; k++)
            for (size_t e = 0; e < 3; e++) {
                const struct pair_request request = {.seed = 3,
                                                     .negative = kinds[k],
                                                     .negatives = NEGATIVES,
                                                     .sides = &sides,
                                                     .chances = chances,
                                                     .positive_count = 40,
                                                     .source = source,
                                                     .target = target,
                                                     .corrupt = ends[e]};
                expect_negatives(&request);
            }
        node_chances_release(&all);
        for (int s = 0; s < PAIR_SIDES; s++)
            node_chances_release(&chances[s]);
        pair_sides_release(&sides);
        memory_topology_release(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_follow_from_the_listed_nodes),
        cmocka_unit_test(an_edge_inside_a_side_ends_the_sides),
        cmocka_unit_test(negatives_are_of_the_side_of_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
