#include "common/base/memory.h"
#include "stages/partition/rules/undirected_graph.h"

#include "tests/support/random_edges.h"
#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

enum { NODES = 40, EDGES = 150 };

static struct store *store;

static int set_up(void **state)
{
    const int failed = temp_store_setup(state);
    store = ((struct temp_store *)*state)->store;
    return failed;
}

static void compare_with_matrix(const struct undirected_graph *graph, uint32_t node_count,
                                const uint32_t *source, const uint32_t *target, uint32_t edge_count)
{
    static bool linked[NODES][NODES];
    memset(linked, 0, sizeof linked);
    for (uint32_t e = 0; e < edge_count; e++)
        if (source[e] != target[e])
            linked[source[e]][target[e]] = linked[target[e]][source[e]] = true;
    int32_t at = 0;
    for (uint32_t node = 0; node < node_count; node++) {
        assert_int_equal(graph->row_start[node], at);
        for (uint32_t other = 0; other < node_count; other++)
            if (linked[node][other])
                assert_int_equal(graph->neighbor[at++], other);
    }
    assert_int_equal(graph->row_start[node_count], at);
}

static void a_directed_graph_becomes_symmetric_without_loops_and_repeats(void **state)
{
    (void)state;
    struct error err = {0};
    for (uint32_t seed = 1; seed <= 20; seed++) {
        uint32_t source[EDGES], target[EDGES];
        char id[32];
        const uint32_t nodes = seed < 5 ? seed : NODES, edges = seed == 6 ? 0 : EDGES;
        struct dataset_schema schema;
        struct undirected_graph graph = {0};
        random_edges_fill(seed, nodes, edges, source, target);
        (void)snprintf(id, sizeof id, "directed-%u", seed);
        const struct small_dataset dataset = {.id = id,
                                              .name = id,
                                              .node_count = nodes,
                                              .edge_count = edges,
                                              .source = source,
                                              .target = target,
                                              .nodes_per_chunk = 1 + seed % 7};
        small_dataset_write(store, &dataset);
        assert_ok(dataset_schema_get(store, id, &schema, &err), &err);
        assert_ok(undirected_graph_build(store, &schema, &graph, &err), &err);
        assert_ok(undirected_graph_check(&graph, &err), &err);
        compare_with_matrix(&graph, nodes, source, target, edges);
        undirected_graph_release(&graph);
    }
}

/* The cost of a pair of nodes is the sum of its edges in both directions, each once, plus 1. */
static void edges_cost_both_ways_what_they_cost_together(void **state)
{
    (void)state;
    struct error err = {0};
    static const uint32_t source[] = {0, 0, 1, 2, 1}, target[] = {1, 1, 0, 0, 1};
    static const uint32_t cost[] = {2, 3, 8};
    const struct small_dataset dataset = {.id = "costs-1",
                                          .name = "costs",
                                          .node_count = 3,
                                          .edge_count = 5,
                                          .source = source,
                                          .target = target};
    struct dataset_schema schema;
    struct undirected_graph graph = {0};
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, dataset.id, &schema, &err), &err);
    assert_ok(undirected_graph_build(store, &schema, &graph, &err), &err);
    assert_ok(undirected_graph_set_cost(&graph, store, &schema, cost, &err), &err);
    /* Rows: 0: 1, 2; 1: 0; 2: 0. */
    static const int32_t wanted[] = {1 + 3 + 2, 1 + 2, 1 + 3 + 2, 1 + 2};
    assert_int_equal(graph.row_start[3], 4);
    assert_memory_equal(graph.edge_cost, wanted, sizeof wanted);
    undirected_graph_release(&graph);
}

static void costs_stay_within_what_metis_can_add(void **state)
{
    (void)state;
    struct error err = {0};
    static const uint32_t source[] = {0, 1, 2}, target[] = {1, 0, 0};
    static const uint32_t cost[] = {UINT32_MAX, UINT32_MAX / 2, 0};
    const struct small_dataset dataset = {.id = "costs-2",
                                          .name = "costs",
                                          .node_count = 3,
                                          .edge_count = 3,
                                          .source = source,
                                          .target = target};
    struct dataset_schema schema;
    struct undirected_graph graph = {0};
    int64_t sum = 0;
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, dataset.id, &schema, &err), &err);
    assert_ok(undirected_graph_build(store, &schema, &graph, &err), &err);
    assert_ok(undirected_graph_set_cost(&graph, store, &schema, cost, &err), &err);
    for (int e = 0; e < 4; e++) {
        assert_true(graph.edge_cost[e] >= 1);
        sum += graph.edge_cost[e];
    }
    assert_in_range(sum, INT32_MAX / 4, INT32_MAX);
    assert_true(graph.edge_cost[0] > graph.edge_cost[1]); /* 0-1 costs more than 0-2 */
    undirected_graph_release(&graph);
}

static void an_undirected_graph_stays_as_it_is(void **state)
{
    (void)state;
    struct error err = {0};
    uint32_t source[160], target[160];
    const struct small_dataset dataset = small_dataset_karate(source, target);
    struct dataset_schema schema;
    struct undirected_graph graph = {0};
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, dataset.id, &schema, &err), &err);
    assert_ok(undirected_graph_build(store, &schema, &graph, &err), &err);
    assert_ok(undirected_graph_check(&graph, &err), &err);
    compare_with_matrix(&graph, dataset.node_count, source, target, (uint32_t)dataset.edge_count);
    undirected_graph_release(&graph);
}

static void a_dataset_that_calls_itself_undirected_and_is_not_is_noticed(void **state)
{
    (void)state;
    static const uint32_t source[] = {0, 1, 1}, target[] = {1, 0, 2};
    struct error err = {0};
    const struct small_dataset dataset = {.id = "liar",
                                          .name = "liar",
                                          .node_count = 3,
                                          .edge_count = 3,
                                          .source = source,
                                          .target = target,
                                          .undirected = true};
    struct dataset_schema schema;
    struct undirected_graph graph = {0};
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, dataset.id, &schema, &err), &err);
    assert_ok(undirected_graph_build(store, &schema, &graph, &err), &err);
    assert_fails(undirected_graph_check(&graph, &err), ERROR_CORRUPT,
                 "the edge between nodes 2 and 1 is there in one direction only", &err);
    undirected_graph_release(&graph);
}

static void what_metis_must_not_see_is_named(void **state)
{
    (void)state;
    static const struct {
        int32_t row_start[4], neighbor[4];
        const char *message;
    } cases[] = {
        {{0, 1, 2, 2}, {1, 0}, NULL},
        {{0, 1, 2, 2}, {3, 0}, "node 0 has neighbour 3, expected 0 to 2"},
        {{0, 1, 2, 2}, {-1, 0}, "node 0 has neighbour -1"},
        {{0, 1, 2, 2}, {0, 1}, "node 0 has an edge to itself"},
        {{1, 1, 2, 2}, {1, 0}, "rows start at 1"},
        {{0, 2, 1, 2}, {1, 2, 0}, "row 1 ends before it starts"},
        {{0, 2, 3, 4}, {2, 1, 0, 0}, "neighbours of node 0 do not ascend"},
        {{0, 2, 4, 4}, {1, 1, 0, 0}, "neighbours of node 0 do not ascend"},
        {{0, 1, 1, 1}, {1}, "nodes 0 and 1 is there in one direction only"},
        {{0, 1, 2, 3}, {1, 2, 0}, "is there in one direction only"},
    };
    struct error err = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t row_start[4], neighbor[4];
        memcpy(row_start, cases[i].row_start, sizeof row_start);
        memcpy(neighbor, cases[i].neighbor, sizeof neighbor);
        const struct undirected_graph graph = {
            .node_count = 3, .row_start = row_start, .neighbor = neighbor};
        if (cases[i].message)
            assert_fails(undirected_graph_check(&graph, &err), ERROR_CORRUPT, cases[i].message,
                         &err);
        else
            assert_ok(undirected_graph_check(&graph, &err), &err);
    }
}

static void graphs_beyond_32_bits_are_refused_with_the_limit(void **state)
{
    (void)state;
    struct error err = {0};
    struct undirected_graph graph = {0};
    const struct dataset_schema wide = {
        .id = "wide", .node_count = 10, .edge_count = 1ULL << 31, .undirected = true};
    assert_fails(undirected_graph_build(store, &wide, &graph, &err), ERROR_INVALID,
                 "2147483648 edges: METIS's limit is 2147483647", &err);
    const struct dataset_schema many = {.id = "long", .node_count = 1U << 31, .edge_count = 1};
    assert_fails(undirected_graph_build(store, &many, &graph, &err), ERROR_INVALID,
                 "2147483648 nodes", &err);
}

static void no_memory_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    struct undirected_graph graph = {0};
    assert_ok(dataset_schema_get(store, "directed-7", &schema, &err), &err);
    const long before = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    long n = 0;
    for (; rc == ERROR_NO_MEMORY; n++) {
        memory_fail_after(n);
        rc = undirected_graph_build(store, &schema, &graph, &err);
        if (rc != ERROR_NONE) {
            assert_int_equal(memory_live_blocks(), before);
            assert_null(graph.neighbor);
        }
    }
    memory_fail_after(-1);
    assert_ok(rc, &err);
    assert_true(n > 6);
    undirected_graph_release(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directed_graph_becomes_symmetric_without_loops_and_repeats),
        cmocka_unit_test(edges_cost_both_ways_what_they_cost_together),
        cmocka_unit_test(costs_stay_within_what_metis_can_add),
        cmocka_unit_test(an_undirected_graph_stays_as_it_is),
        cmocka_unit_test(a_dataset_that_calls_itself_undirected_and_is_not_is_noticed),
        cmocka_unit_test(what_metis_must_not_see_is_named),
        cmocka_unit_test(graphs_beyond_32_bits_are_refused_with_the_limit),
        cmocka_unit_test(no_memory_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, set_up, temp_store_teardown);
}
