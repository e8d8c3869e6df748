/* Parts by measured loads: what edges cost, what is balanced, and that both get better than without
 * loads. */
#include "stages/plan/model/node_loads.h"

#include "tests/stages/partition/methods/communities.h"

static struct communities graph;
static uint32_t part[COMMUNITY_NODES], again[COMMUNITY_NODES];

static const struct partitioner *const methods[] = {&metis_partitioner, &ldg_partitioner,
                                                    &fennel_partitioner};
enum { METHOD_COUNT = 3 };

/* --- reading --- */

static const char *write_loads(struct temp_store *t, const char *text)
{
    return temp_dir_write(&t->dir, "loads.csv", text, strlen(text));
}

/* Makes a dataset with the edges 0 -> 1, 0 -> 2, 1 -> 2, 3 -> 2; if `undirected` each in both
 * directions. */
static struct dataset_schema four_nodes(struct temp_store *t, bool undirected)
{
    static const uint32_t source[] = {0, 0, 1, 3, 1, 2, 2, 2}, target[] = {1, 2, 2, 2, 0, 0, 1, 3};
    struct dataset_schema schema;
    const struct small_dataset dataset = {.id = undirected ? "four-2" : "four-1",
                                          .name = "four",
                                          .node_count = 4,
                                          .edge_count = undirected ? 8 : 4,
                                          .source = source,
                                          .target = target,
                                          .undirected = undirected};
    small_dataset_write(t->store, &dataset);
    assert_ok(dataset_schema_get(t->store, dataset.id, &schema, &t->err), &t->err);
    return schema;
}

static void an_edge_costs_what_was_sampled_of_it(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t one_way[] = {0, 1, 3, 0}, both_ways[] = {2, 2, 3, 1};
    struct measured_loads loads = {0};
    const char *path =
        write_loads(t, "node,reads,remote,edges\n0,7,0,0\n1,4,1,2\n2,0,0,12\n3,1,0,2\n");
    const struct dataset_schema directed = four_nodes(t, false), undirected = four_nodes(t, true);

    /* 16 reads of 4 edges: the mean is 4. The in-edge of node 1 was sampled twice, each one of node
     * 2 4 times. */
    assert_ok(measured_loads_read(path, t->store, &directed, one_way, &loads, &t->err), &t->err);
    assert_int_equal(loads.load_sum, 12);
    assert_int_equal(loads.load[0], 7);
    assert_int_equal(loads.edge_cost[0], LOAD_LEAST);
    assert_int_equal(loads.edge_cost[1], LOAD_LEAST + LOAD_ONE / 2);
    assert_int_equal(loads.edge_cost[2], LOAD_LEAST + LOAD_ONE);
    assert_int_equal(loads.edge_cost[3], LOAD_LEAST); /* it has no in-edge */
    measured_loads_release(&loads);

    /* With both directions together there are 4 edges, too. */
    assert_ok(measured_loads_read(path, t->store, &undirected, both_ways, &loads, &t->err),
              &t->err);
    assert_int_equal(loads.edge_cost[0], LOAD_LEAST);
    assert_int_equal(loads.edge_cost[1], LOAD_LEAST + LOAD_ONE / 4);
    assert_int_equal(loads.edge_cost[2], LOAD_LEAST + LOAD_ONE);
    assert_int_equal(loads.edge_cost[3], LOAD_LEAST + LOAD_ONE / 2);
    measured_loads_release(&loads);
}

static void reads_are_scaled_to_what_metis_can_add(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t in_degree[] = {0, 1, 3, 0};
    struct measured_loads loads = {0};
    const struct dataset_schema schema = four_nodes(t, false);
    const char *path = write_loads(t, "node,reads,remote,edges\n0,4294967295,0,0\n1,4294967295,0,"
                                      "0\n2,0,0,0\n3,1,0,0\n");
    assert_ok(measured_loads_read(path, t->store, &schema, in_degree, &loads, &t->err), &t->err);
    assert_in_range(loads.load_sum, INT32_MAX / 4, INT32_MAX);
    assert_int_equal(loads.load[0], loads.load[1]);
    assert_int_equal(loads.load[2], 0);
    assert_int_equal(loads.load[3], 1);
    for (int v = 0; v < 4; v++) /* nothing was sampled, so all edges cost the same */
        assert_int_equal(loads.edge_cost[v], LOAD_LEAST);
    measured_loads_release(&loads);
}

static void times_weigh_in_the_place_of_reads(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t in_degree[] = {0, 1, 3, 0};
    struct measured_loads loads = {0};
    const struct dataset_schema schema = four_nodes(t, false);
    const char *path = write_loads(t, "node,reads,remote,edges,nanoseconds\n0,7,0,0,100\n"
                                      "1,4,1,2,30\n2,0,0,12,0\n3,1,0,2,1\n");
    assert_ok(measured_loads_read(path, t->store, &schema, in_degree, &loads, &t->err), &t->err);
    assert_int_equal(loads.load_sum, 131);
    assert_int_equal(loads.load[1], 30);
    assert_int_equal(loads.edge_cost[2], LOAD_LEAST + LOAD_ONE);
    measured_loads_release(&loads);

    /* Loads of an hour each are too large for METIS to add, so they are scaled down in the same
     * proportions. */
    path = write_loads(t, "node,reads,remote,edges,nanoseconds\n0,7,0,0,7200000000000\n"
                          "1,4,1,2,3600000000000\n2,0,0,12,0\n3,1,0,2,1\n");
    assert_ok(measured_loads_read(path, t->store, &schema, in_degree, &loads, &t->err), &t->err);
    assert_in_range(loads.load_sum, INT32_MAX / 4, INT32_MAX);
    assert_in_range(loads.load[0], 2 * loads.load[1] - 2, 2 * loads.load[1] + 2);
    assert_int_equal(loads.load[2], 0);
    assert_int_equal(loads.load[3], 1);
    measured_loads_release(&loads);
}

static void a_table_of_another_graph_is_named_with_the_setting(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t in_degree[] = {0, 1, 3, 0};
    struct measured_loads loads = {0};
    const struct dataset_schema schema = four_nodes(t, false);
    const char *path = write_loads(t, "node,reads,remote,edges\n0,1,0,0\n7,4,1,2\n");
    assert_fails(measured_loads_read(path, t->store, &schema, in_degree, &loads, &t->err),
                 ERROR_INPUT, "partition.loads: ", &t->err);
    assert_non_null(strstr(t->err.message, "loads.csv:3: expected node '1', number 1 of the "
                                           "dataset, found '7'"));
    measured_loads_release(&loads);
    assert_fails(
        measured_loads_read("/nowhere/loads", t->store, &schema, in_degree, &loads, &t->err),
        ERROR_NOT_FOUND, "partition.loads: /nowhere/loads", &t->err);
    measured_loads_release(&loads);
}

/* --- parts --- */

/* Writes and reads loads in which hot nodes are read, and sampled, 50 times as often as others. Hot
 * is every fifth node of each group, or two of the eight groups. */
static void measure(struct temp_store *t, bool by_group, struct measured_loads *loads)
{
    struct node_loads table = {0};
    const struct node_ids ids = {.node_count = COMMUNITY_NODES};
    char path[FILE_PATH_SIZE];
    assert_ok(file_path(path, &t->err, "%s/measured.csv", t->dir.path), &t->err);
    assert_ok(node_loads_init(&table, COMMUNITY_NODES, &t->err), &t->err);
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++) {
        const bool is_hot = by_group ? v % GROUPS < 2 : v / GROUPS % 5 == 0;
        table.reads[v] = is_hot ? 50 : 1;
        table.edges[v] = (is_hot ? 50 : 1) * (graph.in_degree[v] < 6 ? graph.in_degree[v] : 6);
    }
    assert_ok(node_loads_write(path, &table, &ids, &t->err), &t->err);
    assert_ok(measured_loads_read(path, t->store, &graph.schema, graph.in_degree, loads, &t->err),
              &t->err);
    node_loads_release(&table);
}

/* Returns the largest load of a part by the mean. */
static double balance_of_reads(const struct measured_loads *loads)
{
    uint64_t reads[64] = {0}, most = 0;
    const uint64_t parts = (uint64_t)graph.settings.partition.parts;
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++)
        reads[part[v]] += loads->load[v];
    for (uint64_t p = 0; p < parts; p++)
        most = reads[p] > most ? reads[p] : most;
    return (double)(most * parts) / (double)loads->load_sum;
}

/* Returns the share of the sampled edges that lead from part to part. */
static double cost_of_cut(const struct measured_loads *loads)
{
    uint64_t cut = 0, all = 0;
    for (uint64_t e = 0; e < graph.edge_count; e++) {
        const uint32_t cost = loads->edge_cost[graph.target[e]];
        all += cost;
        cut += part[graph.source[e]] != part[graph.target[e]] ? cost : 0;
    }
    return (double)cut / (double)all;
}

static void what_was_read_is_balanced(void **state)
{
    struct temp_store *t = *state;
    for (int both = 0; both < 2; both++) {
        struct measured_loads loads = {0};
        communities_make(&graph, t->store, both, 4);
        graph.settings.partition.balance_train = false;
        struct partition_request request = communities_request(&graph, t->store);
        measure(t, true, &loads);
        for (int m = 0; m < METHOD_COUNT; m++) {
            request.loads = NULL;
            assert_ok(methods[m]->assign(&request, part, &t->err), &t->err);
            const double before = balance_of_reads(&loads);
            request.loads = &loads;
            assert_ok(methods[m]->assign(&request, part, &t->err), &t->err);
            const double after = balance_of_reads(&loads);
            assert_true(before >
                        1.9); /* two of the four parts have a hot group each, or one has both */
            assert_true(after < (m == 0 ? 1.05 : 1.5));
            assert_true(communities_balance(&graph, part, false) < 1.2);
            assert_ok(methods[m]->assign(&request, again, &t->err), &t->err);
            assert_memory_equal(part, again, sizeof part);
        }
        measured_loads_release(&loads);
    }
}

static void metis_does_not_cut_what_is_sampled_often(void **state)
{
    struct temp_store *t = *state;
    for (int both = 0; both < 2; both++) {
        struct measured_loads loads = {0};
        communities_make(&graph, t->store, both, 5);
        graph.settings.partition.balance_edges = graph.settings.partition.balance_train = false;
        struct partition_request request = communities_request(&graph, t->store);
        measure(t, false, &loads);
        assert_ok(metis_partitioner.assign(&request, part, &t->err), &t->err);
        const double before = cost_of_cut(&loads);
        request.loads = &loads;
        assert_ok(metis_partitioner.assign(&request, part, &t->err), &t->err);
        assert_true(cost_of_cut(&loads) < 0.85 * before);
        measured_loads_release(&loads);
    }
}

/* One stream of linear deterministic greedy, written down plainly, without the bounds. */
static void a_stream_weighs_neighbors_by_what_edges_cost(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = 4 };
    for (int both = 0; both < 2; both++) {
        struct measured_loads loads = {0};
        communities_make(&graph, t->store, both, PARTS);
        struct partition_request request = communities_request(&graph, t->store);
        graph.settings.partition.passes = 1;
        graph.settings.partition.balance_train = graph.settings.partition.balance_edges = false;
        measure(t, false, &loads);
        request.loads = &loads;
        assert_ok(ldg_partitioner.assign(&request, part, &t->err), &t->err);
        const double mean = (double)COMMUNITY_NODES / PARTS;
        uint32_t held[PARTS] = {0};
        for (uint32_t v = 0; v < COMMUNITY_NODES / 2; v++) {
            uint64_t neighbors[PARTS] = {0};
            uint32_t best = 0;
            double most = -1;
            for (uint64_t e = 0; e < graph.edge_count; e++) {
                const uint32_t u = graph.source[e], w = graph.target[e];
                const uint64_t half = both ? LOAD_ONE / 4 : LOAD_ONE / 2; /* one direction of two */
                if (u != w && (u == v || w == v) && u <= v && w <= v)
                    neighbors[part[u == v ? w : u]] += half + loads.edge_cost[w];
            }
            for (uint32_t p = 0; p < PARTS; p++) {
                const double worth = (double)neighbors[p] / LOAD_ONE * (1 - held[p] / mean / 1.03);
                if (worth > most || (worth == most && held[p] < held[best])) {
                    most = worth;
                    best = p;
                }
            }
            assert_int_equal(part[v], best);
            held[best]++;
        }
        measured_loads_release(&loads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_edge_costs_what_was_sampled_of_it, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(reads_are_scaled_to_what_metis_can_add, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(times_weigh_in_the_place_of_reads, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_table_of_another_graph_is_named_with_the_setting,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(what_was_read_is_balanced, temp_store_setup,
                                        temp_store_teardown),
        cmocka_unit_test_setup_teardown(a_stream_weighs_neighbors_by_what_edges_cost,
                                        temp_store_setup, temp_store_teardown),
        cmocka_unit_test_setup_teardown(metis_does_not_cut_what_is_sampled_often, temp_store_setup,
                                        temp_store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
