/* Methods that stream, on graphs whose groups they should find, within strict bounds. */
#include "common/base/memory.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/rules/majority_rule.h"

#include "tests/stages/partition/methods/communities.h"
#include "tests/support/random_edges.h"

#include <stdio.h>

static struct communities graph;
static uint32_t part[COMMUNITY_NODES], again[COMMUNITY_NODES];

static const struct partitioner *const streams[3] = {&ldg_partitioner, &fennel_partitioner,
                                                     &label_propagation_partitioner};
enum { STREAM_COUNT = 3 };

static void bounds_of_nodes_and_training_nodes_are_strict(void **state)
{
    struct temp_store *t = *state;
    static const int64_t parts[] = {1, 2, 5, 8, 17};
    for (int both = 0; both < 2; both++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            communities_make(&graph, t->store, both, parts[i]);
            const struct partition_request request = communities_request(&graph, t->store);
            for (int m = 0; m < STREAM_COUNT; m++)
                for (int order = STREAM_NATURAL; order <= STREAM_DEGREE; order++)
                    for (int passes = 1; passes <= 3; passes++) {
                        graph.settings.partition.order = order;
                        graph.settings.partition.passes = passes;
                        assert_ok(streams[m]->assign(&request, part, &t->err), &t->err);
                        assert_ok(
                            assignment_check(part, COMMUNITY_NODES, (uint32_t)parts[i], &t->err),
                            &t->err);
                        assert_true(communities_balance(&graph, part, false) <= 1.05);
                        /* 400 training nodes in 17 parts: 23 or 24 in each */
                        assert_true(communities_balance(&graph, part, true) <= 1.05);
                    }
        }
}

static void restreaming_finds_the_groups_that_one_stream_does_not(void **state)
{
    struct temp_store *t = *state;
    for (int both = 0; both < 2; both++) {
        communities_make(&graph, t->store, both, GROUPS);
        const struct partition_request request = communities_request(&graph, t->store);
        for (int m = 0; m < 2; m++) { /* ldg and fennel */
            graph.settings.partition.passes = 1;
            assert_ok(streams[m]->assign(&request, part, &t->err), &t->err);
            const double once = communities_cut(&graph, part);
            graph.settings.partition.passes = 10;
            assert_ok(streams[m]->assign(&request, part, &t->err), &t->err);
            const double often = communities_cut(&graph, part);
            /* The groups themselves cut 1/4 * 7/8 = 0.22, a hash 7/8. */
            assert_true(once < 0.75);
            assert_true(often < 0.40);
            assert_true(often < once * 0.8);
        }
    }
}

static void label_propagation_lowers_the_cut(void **state)
{
    struct temp_store *t = *state;
    communities_make(&graph, t->store, true, GROUPS);
    const struct partition_request request = communities_request(&graph, t->store);
    assert_ok(range_partitioner.assign(&request, part, &t->err), &t->err);
    const double ranges = communities_cut(&graph, part);
    assert_true(communities_balance(&graph, part, false) <= 1.05);
    assert_ok(label_propagation_partitioner.assign(&request, part, &t->err), &t->err);
    assert_true(communities_cut(&graph, part) < ranges * 0.75);
}

static void the_same_request_gives_the_same_parts_in_any_budget(void **state)
{
    struct temp_store *t = *state;
    communities_make(&graph, t->store, false, 6);
    struct partition_request request = communities_request(&graph, t->store);
    for (int m = 0; m < STREAM_COUNT; m++)
        for (int order = STREAM_NATURAL; order <= STREAM_DEGREE; order++) {
            graph.settings.partition.order = order;
            request.budget_bytes = 1 << 28;
            assert_ok(streams[m]->assign(&request, part, &t->err), &t->err);
            request.budget_bytes = 40000; /* the targets of edges need 64,000 */
            assert_ok(streams[m]->assign(&request, again, &t->err), &t->err);
            assert_memory_equal(part, again, sizeof part);
        }
}

/* The rule of Stanton and Kliot, written down plainly, for one stream of an undirected graph,
 * without the bounds. */
static void one_stream_is_what_the_paper_says(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = 4 };
    communities_make(&graph, t->store, true, PARTS);
    const struct partition_request request = communities_request(&graph, t->store);
    graph.settings.partition.passes = 1;
    graph.settings.partition.balance_train = graph.settings.partition.balance_edges = false;
    assert_ok(ldg_partitioner.assign(&request, part, &t->err), &t->err);
    const double mean = (double)COMMUNITY_NODES / PARTS;
    uint32_t held[PARTS] = {0};
    for (uint32_t v = 0; v < COMMUNITY_NODES / 2; v++) {
        uint32_t neighbors[PARTS] = {0}, best = 0;
        double most = -1;
        for (uint64_t e = 0; e < graph.edge_count; e++)
            if (graph.target[e] == v && graph.source[e] < v)
                neighbors[part[graph.source[e]]]++;
        for (uint32_t p = 0; p < PARTS; p++) {
            const double worth = neighbors[p] * (1 - held[p] / mean / 1.03);
            if (worth > most || (worth == most && held[p] < held[best])) {
                most = worth;
                best = p;
            }
        }
        assert_int_equal(part[v], best);
        held[best]++;
    }
}

static void small_graphs_have_a_node_in_every_part(void **state)
{
    struct temp_store *t = *state;
    enum { NODES_MAX = 40 };
    static uint32_t source[120], target[120], degree[NODES_MAX];
    static uint8_t marks[NODES_MAX];
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    for (uint32_t nodes = 1; nodes <= NODES_MAX; nodes += 3) {
        char id[32];
        struct dataset_schema schema;
        const uint32_t edges = nodes == 1 ? 0 : 3 * nodes;
        random_edges_fill(nodes, nodes, edges, source, target);
        memset(degree, 0, sizeof degree);
        for (uint32_t e = 0; e < edges; e++)
            degree[target[e]]++;
        for (uint32_t v = 0; v < nodes; v++)
            marks[v] = v % 4 == 0 ? SPLIT_TRAIN + 1 : 0;
        (void)snprintf(id, sizeof id, "small-%u", nodes);
        const struct small_dataset dataset = {.id = id,
                                              .name = "small",
                                              .node_count = nodes,
                                              .edge_count = edges,
                                              .source = source,
                                              .target = target};
        small_dataset_write(t->store, &dataset);
        assert_ok(dataset_schema_get(t->store, id, &schema, &t->err), &t->err);
        const struct partition_request request = {.store = t->store,
                                                  .settings = &settings,
                                                  .schema = &schema,
                                                  .in_degree = degree,
                                                  .split_marks = marks,
                                                  .budget_bytes = 1 << 20};
        for (uint32_t parts = 1; parts <= nodes; parts += 1 + parts / 3) {
            settings.partition.parts = parts;
            for (int m = 0; m < STREAM_COUNT; m++) {
                assert_ok(streams[m]->assign(&request, part, &t->err), &t->err);
                assert_ok(assignment_refuse_empty(part, nodes, parts, &t->err), &t->err);
            }
            assert_ok(range_partitioner.assign(&request, part, &t->err), &t->err);
            assert_ok(assignment_refuse_empty(part, nodes, parts, &t->err), &t->err);
        }
    }
}

static void memory_that_is_not_there_is_said(void **state)
{
    struct temp_store *t = *state;
    communities_make(&graph, t->store, false, 4);
    const struct partition_request request = communities_request(&graph, t->store);
    graph.settings.partition.order = STREAM_DEGREE;
    const long live = memory_live_blocks();
    bool done = false;
    for (long n = 0; !done && n < 400; n++) {
        memory_fail_after(n);
        const enum error_code rc = fennel_partitioner.assign(&request, part, &t->err);
        memory_fail_after(-1);
        done = rc == ERROR_NONE;
        assert_true(done || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), live);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(bounds_of_nodes_and_training_nodes_are_strict),
        test_with_store(restreaming_finds_the_groups_that_one_stream_does_not),
        test_with_store(label_propagation_lowers_the_cut),
        test_with_store(the_same_request_gives_the_same_parts_in_any_budget),
        test_with_store(one_stream_is_what_the_paper_says),
        test_with_store(small_graphs_have_a_node_in_every_part),
        test_with_store(memory_that_is_not_there_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
