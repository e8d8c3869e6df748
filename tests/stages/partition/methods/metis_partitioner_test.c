#include "stages/partition/layout/assignment.h"
#include "stages/partition/methods/metis_partitioner.h"

#include "tests/support/karate_graph.h"
#include "tests/support/random_edges.h"
#include "tests/support/test.h"

enum { NODES_MAX = 400 };

/* Makes a symmetric graph from edges, by a matrix. */
static struct undirected_graph make_graph(uint32_t node_count, uint32_t edge_count,
                                          const uint32_t *source, const uint32_t *target)
{
    static bool linked[NODES_MAX][NODES_MAX];
    static int32_t row_start[NODES_MAX + 1], neighbor[NODES_MAX * NODES_MAX];
    memset(linked, 0, sizeof linked);
    for (uint32_t e = 0; e < edge_count; e++)
        if (source[e] != target[e])
            linked[source[e]][target[e]] = linked[target[e]][source[e]] = true;
    int32_t at = 0;
    for (uint32_t v = 0; v < node_count; v++) {
        for (uint32_t u = 0; u < node_count; u++)
            if (linked[v][u])
                neighbor[at++] = (int32_t)u;
        row_start[v + 1] = at;
    }
    return (struct undirected_graph){
        .node_count = node_count, .row_start = row_start, .neighbor = neighbor};
}

static struct undirected_graph karate(void)
{
    uint32_t source[KARATE_EDGE_COUNT], target[KARATE_EDGE_COUNT];
    for (uint32_t e = 0; e < KARATE_EDGE_COUNT; e++) {
        source[e] = karate_edge[e][0];
        target[e] = karate_edge[e][1];
    }
    return make_graph(KARATE_NODE_COUNT, KARATE_EDGE_COUNT, source, target);
}

static uint32_t cut_of(const struct undirected_graph *graph, const uint32_t *part)
{
    uint32_t cut = 0;
    for (uint32_t v = 0; v < graph->node_count; v++)
        for (int32_t e = graph->row_start[v]; e < graph->row_start[v + 1]; e++)
            cut += part[v] != part[graph->neighbor[e]];
    return cut / 2;
}

static void two_parts_of_the_karate_club_are_its_factions(void **state)
{
    (void)state;
    struct error err = {0};
    const struct undirected_graph graph = karate();
    const struct metis_request request = {.graph = &graph, .part_count = 2, .seed = 1};
    uint32_t part[KARATE_NODE_COUNT], factions[KARATE_NODE_COUNT], same = 0;
    assert_ok(metis_partition(&request, part, &err), &err);
    for (uint32_t v = 0; v < KARATE_NODE_COUNT; v++) {
        factions[v] = karate_faction[v];
        same += (part[v] == part[0]) == (karate_faction[v] == karate_faction[0]);
    }
    /* The split of the club cuts about 11 friendships; one or two members are between the
     * factions. */
    assert_in_range(same, KARATE_NODE_COUNT - 3, KARATE_NODE_COUNT);
    assert_in_range(cut_of(&graph, part), 1, cut_of(&graph, factions) + 1);
}

static void the_same_request_gives_the_same_parts(void **state)
{
    (void)state;
    struct error err = {0};
    const struct undirected_graph graph = karate();
    const struct metis_request request = {
        .graph = &graph, .part_count = 4, .seed = 9000000000000000};
    uint32_t part[KARATE_NODE_COUNT], again[KARATE_NODE_COUNT];
    assert_ok(metis_partition(&request, part, &err), &err);
    assert_ok(metis_partition(&request, again, &err), &err);
    assert_memory_equal(part, again, sizeof part);
}

static void every_part_has_a_node_whatever_the_graph(void **state)
{
    (void)state;
    static uint32_t source[2000], target[2000], part[NODES_MAX], edge_load[NODES_MAX];
    static uint8_t train_load[NODES_MAX];
    static const uint32_t sizes[] = {1, 2, 3, 5, 17, 60, 200, NODES_MAX};
    struct error err = {0};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint32_t nodes = sizes[s];
        for (uint32_t edges = 0; edges <= 2000; edges = edges * 5 + nodes) {
            const uint32_t count = edges < 2000 ? edges : 2000;
            random_edges_fill(nodes + edges, nodes, count, source, target);
            const struct undirected_graph graph = make_graph(nodes, count, source, target);
            for (uint32_t v = 0; v < nodes; v++) {
                edge_load[v] = (uint32_t)(graph.row_start[v + 1] - graph.row_start[v]);
                train_load[v] = v % 5 == 0;
            }
            const uint32_t parts[] = {1, 2, 3, nodes / 2, nodes - 1, nodes};
            for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
                if (parts[i] < 1 || parts[i] > nodes)
                    continue;
                const struct metis_request request = {.graph = &graph,
                                                      .part_count = parts[i],
                                                      .seed = (int64_t)i,
                                                      .edge_load = edge_load,
                                                      .train_load = i % 2 ? train_load : NULL};
                assert_ok(metis_partition(&request, part, &err), &err);
                assert_ok(assignment_check(part, nodes, parts[i], &err), &err);
                assert_ok(assignment_refuse_empty(part, nodes, parts[i], &err), &err);
            }
        }
    }
}

static uint32_t most(const uint32_t *part, uint32_t nodes, const uint8_t *load)
{
    uint32_t sum[4] = {0}, largest = 0;
    for (uint32_t v = 0; v < nodes; v++)
        sum[part[v]] += load ? load[v] : 1;
    for (int p = 0; p < 4; p++)
        largest = sum[p] > largest ? sum[p] : largest;
    return largest;
}

static void nodes_and_training_nodes_are_balanced(void **state)
{
    (void)state;
    static uint32_t source[2000], target[2000], part[NODES_MAX];
    static uint8_t train_load[NODES_MAX];
    struct error err = {0};
    uint32_t total = 0;
    random_edges_fill(3, NODES_MAX, 2000, source, target);
    const struct undirected_graph graph = make_graph(NODES_MAX, 2000, source, target);
    for (uint32_t v = 0; v < NODES_MAX; v++)
        total += train_load[v] = v < NODES_MAX / 4;
    struct metis_request request = {.graph = &graph, .part_count = 4, .seed = 1};
    assert_ok(metis_partition(&request, part, &err), &err);
    assert_in_range(most(part, NODES_MAX, NULL), NODES_MAX / 4, NODES_MAX / 4 * 11 / 10);
    request.train_load = train_load;
    assert_ok(metis_partition(&request, part, &err), &err);
    assert_in_range(most(part, NODES_MAX, NULL), NODES_MAX / 4, NODES_MAX / 4 * 12 / 10);
    assert_in_range(most(part, NODES_MAX, train_load), total / 4, total / 4 * 13 / 10);
}

static void a_bad_graph_never_reaches_metis(void **state)
{
    (void)state;
    int32_t row_start[] = {0, 1, 2, 2}, one_way[] = {1, 2}, outside[] = {1, 900};
    struct error err = {0};
    uint32_t part[3];
    struct undirected_graph graph = {.node_count = 3, .row_start = row_start, .neighbor = one_way};
    const struct metis_request request = {.graph = &graph, .part_count = 2, .seed = 1};
    assert_fails(metis_partition(&request, part, &err), ERROR_CORRUPT,
                 "the graph for METIS: the edge between nodes", &err);
    graph.neighbor = outside;
    assert_fails(metis_partition(&request, part, &err), ERROR_CORRUPT, "node 1 has neighbour 900",
                 &err);
}

/* Two rings of 60 nodes with chords, one for each type, joined by one edge: without types the cut
 * would be between the rings. */
static void every_type_is_balanced(void **state)
{
    (void)state;
    enum { RING = 60, EDGES = 2 * RING * 2 + 1 };
    struct error err = {0};
    uint32_t source[EDGES], target[EDGES], part[2 * RING], count[2][2] = {{0}}, edges = 0;
    uint8_t type[2 * RING];
    for (uint32_t v = 0; v < 2 * RING; v++) {
        const uint32_t ring = v / RING * RING;
        type[v] = (uint8_t)(v / RING);
        for (uint32_t step = 1; step <= 2; step++) {
            source[edges] = v;
            target[edges++] = ring + (v - ring + step) % RING;
        }
    }
    source[edges] = 0;
    target[edges++] = RING;
    const struct undirected_graph graph = make_graph(2 * RING, edges, source, target);
    struct metis_request request = {.graph = &graph, .part_count = 2, .seed = 1};
    assert_ok(metis_partition(&request, part, &err), &err);
    assert_in_range(cut_of(&graph, part), 1, 1); /* each part is a ring */
    request.type = type;
    assert_ok(metis_partition(&request, part, &err), &err);
    for (uint32_t v = 0; v < 2 * RING; v++)
        count[type[v]][part[v]]++;
    for (int t = 0; t < 2; t++)
        assert_in_range(count[t][0], RING * 2 / 5, RING * 3 / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_parts_of_the_karate_club_are_its_factions),
        cmocka_unit_test(the_same_request_gives_the_same_parts),
        cmocka_unit_test(every_part_has_a_node_whatever_the_graph),
        cmocka_unit_test(nodes_and_training_nodes_are_balanced),
        cmocka_unit_test(every_type_is_balanced),
        cmocka_unit_test(a_bad_graph_never_reaches_metis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
