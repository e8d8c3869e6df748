/* Vertex cuts: each rule is compared with the same rule written down plainly, edges with replicas,
 * and masters with their bounds. */
#include "stages/partition/layout/assignment.h"
#include "stages/partition/methods/hash_partitioner.h"
#include "stages/partition/rules/vertex_cut.h"

#include "tests/stages/partition/methods/communities.h"

#include <math.h>
#include <stdlib.h>

enum { PARTS_MAX = 17, RULES = 4 };

static struct communities graph;
/* Edges in the order of the dataset: by target, then source. */
static uint32_t source[2 * COMMUNITY_EDGES], target[2 * COMMUNITY_EDGES];
static uint32_t degree[COMMUNITY_NODES];
static bool has[COMMUNITY_NODES][PARTS_MAX]; /* replicas by the plain rule */
static uint64_t load[PARTS_MAX];

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void make_graph(struct store *store, bool both, int64_t parts)
{
    static uint64_t pair[2 * COMMUNITY_EDGES];
    communities_make(&graph, store, both, parts);
    memset(degree, 0, sizeof degree);
    memset(has, 0, sizeof has);
    memset(load, 0, sizeof load);
    for (uint64_t e = 0; e < graph.edge_count; e++)
        pair[e] = (uint64_t)graph.target[e] << 32 | graph.source[e];
    qsort(pair, graph.edge_count, sizeof *pair, compare);
    for (uint64_t e = 0; e < graph.edge_count; e++) {
        target[e] = (uint32_t)(pair[e] >> 32);
        source[e] = (uint32_t)pair[e];
    }
}

static void count_degrees(void)
{
    for (uint64_t e = 0; e < graph.edge_count; e++) {
        degree[source[e]]++;
        degree[target[e]]++;
    }
}

static const struct partitioner *const rules[RULES] = {
    &dbh_partitioner, &hdrf_partitioner, &two_phase_partitioner, &two_phase_hdrf_partitioner};

static enum error_code run_rule(int rule, const struct partition_request *request,
                                struct vertex_cut *cut, struct error *err)
{
    return rules[rule]->cut(request, cut, err);
}

static void each_edge_is_in_one_part_where_both_ends_have_replicas(void **state)
{
    struct temp_store *t = *state;
    static const int64_t parts[] = {1, 2, 8, 17};
    for (int both = 0; both < 2; both++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            for (int rule = 0; rule < RULES; rule++) {
                struct vertex_cut cut = {0};

                make_graph(t->store, both, parts[i]);
                const struct partition_request request = communities_request(&graph, t->store);
                assert_ok(run_rule(rule, &request, &cut, &t->err), &t->err);
                for (uint64_t e = 0; e < graph.edge_count; e++) {
                    assert_in_range(cut.edge_part[e], 0, parts[i] - 1);
                    has[source[e]][cut.edge_part[e]] = has[target[e]][cut.edge_part[e]] = true;
                    load[cut.edge_part[e]]++;
                }
                for (uint32_t p = 0; p < parts[i]; p++)
                    assert_int_equal(cut.load[p], load[p]);
                for (uint32_t v = 0; v < COMMUNITY_NODES; v++) {
                    for (uint32_t p = 0; p < parts[i]; p++)
                        assert_int_equal(vertex_cut_has(&cut, v, p), has[v][p]);
                }
                vertex_cut_release(&cut);
            }
}

static void an_edge_goes_where_its_end_of_lower_degree_is_hashed(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = 6 };
    static uint32_t hashed[COMMUNITY_NODES];
    struct vertex_cut cut = {0};
    make_graph(t->store, true, PARTS);
    const struct partition_request request = communities_request(&graph, t->store);
    count_degrees();
    assert_ok(hash_partition(hashed, COMMUNITY_NODES, PARTS, graph.settings.seed, &t->err),
              &t->err);
    assert_ok(run_rule(0, &request, &cut, &t->err), &t->err);
    for (uint64_t e = 0; e < graph.edge_count; e++) {
        const uint32_t low = source[e] < target[e] ? source[e] : target[e];
        const uint32_t high = source[e] < target[e] ? target[e] : source[e];
        assert_int_equal(cut.edge_part[e], hashed[degree[high] < degree[low] ? high : low]);
    }
    vertex_cut_release(&cut);
}

static double naive_g(uint32_t node, uint32_t other, uint32_t p)
{
    return has[node][p] ? 1 + (1 - (double)degree[node] / (degree[node] + degree[other])) : 0;
}

static uint64_t extreme_load(uint32_t parts, bool most)
{
    uint64_t found = load[0];
    for (uint32_t p = 1; p < parts; p++)
        if (most ? load[p] > found : load[p] < found)
            found = load[p];
    return found;
}

/* Places all edges between the two nodes of edge `e`. */
static void put_naive(uint64_t e, uint32_t p, bool *placed)
{
    has[source[e]][p] = has[target[e]][p] = true;
    for (uint64_t i = 0; i < graph.edge_count; i++)
        if ((source[i] == source[e] && target[i] == target[e]) ||
            (source[i] == target[e] && target[i] == source[e])) {
            load[p] += !placed[i];
            placed[i] = true;
        }
}

/* Lists the edges in the order of the cut's pass, and checks that each comes once. */
static void list_order(const struct partition_request *request, uint64_t *order)
{
    static bool seen[2 * COMMUNITY_EDGES];
    struct vertex_cut cut = {0};
    struct error err = {0};
    memset(seen, 0, sizeof seen);
    assert_ok(vertex_cut_init(&cut, request, true, 0, &err), &err);
    uint64_t edge = cut.first_edge, near = 0;
    for (uint64_t i = 0; i < graph.edge_count; i++, edge = vertex_cut_next(&cut, edge)) {
        order[i] = edge;
        assert_true(edge < graph.edge_count && !seen[edge]);
        assert_int_equal(vertex_cut_target(&cut, edge), target[edge]);
        assert_int_equal(cut.neighbor[edge], source[edge]);
        seen[edge] = true;
        for (uint64_t k = 1; k <= 20 && k <= i; k++) {
            const uint64_t before = order[i - k];
            const uint64_t apart = edge > before ? edge - before : before - edge;
            near += apart < graph.edge_count / 60;
        }
    }
    assert_int_equal(near, 0);
    vertex_cut_release(&cut);
}

/* Scores that differ by rounding alone may decide either way: then the test follows the program's
 * choice. */
static void the_highest_score_of_hdrf_takes_the_edge(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = 5 };
    static uint64_t order[2 * COMMUNITY_EDGES];
    static bool placed[2 * COMMUNITY_EDGES];
    for (int both = 0; both < 2; both++) {
        struct vertex_cut cut = {0};
        make_graph(t->store, both, PARTS);
        const struct partition_request request = communities_request(&graph, t->store);
        memset(placed, 0, sizeof placed);
        count_degrees();
        list_order(&request, order);
        assert_ok(run_rule(1, &request, &cut, &t->err), &t->err);
        for (uint64_t i = 0; i < graph.edge_count; i++) {
            const uint64_t e = order[i];
            double worth[PARTS], best = -1;
            if (placed[e])
                continue;
            const uint64_t most = extreme_load(PARTS, true), least = extreme_load(PARTS, false);
            for (uint32_t p = 0; p < PARTS; p++) {
                worth[p] = naive_g(source[e], target[e], p) + naive_g(target[e], source[e], p) +
                           1.1 * (double)(most - load[p]) / (1.0 + (double)(most - least));
                best = fmax(best, worth[p]);
            }
            assert_true(worth[cut.edge_part[e]] >= best - 1e-12);
            put_naive(e, cut.edge_part[e], placed);
        }
        vertex_cut_release(&cut);
    }
}

/* Finds the parts of nodes by clusters, as the header of two_phase_partitioner.c describes. */
static void naive_clusters(uint32_t parts, const uint64_t *order, uint32_t *home,
                           uint64_t *volume_of)
{
    static uint32_t cluster[COMMUNITY_NODES], home_of_cluster[COMMUNITY_NODES];
    static uint64_t volume[COMMUNITY_NODES];
    static bool done[COMMUNITY_NODES];
    uint64_t held[PARTS_MAX] = {0};
    const uint64_t most = 2 * graph.edge_count / parts;
    memset(done, 0, sizeof done);
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++) {
        cluster[v] = v;
        volume[v] = degree[v];
    }
    for (uint64_t i = 0; i < graph.edge_count; i++) {
        const uint64_t e = order[i];
        uint32_t moving = source[e], staying = target[e];
        const uint64_t a = volume[cluster[moving]], b = volume[cluster[staying]];
        if (cluster[moving] == cluster[staying] || a > most || b > most)
            continue;
        if (a - degree[moving] > b - degree[staying]) {
            moving = target[e];
            staying = source[e];
        }
        if (volume[cluster[staying]] + degree[moving] > most)
            continue;
        volume[cluster[moving]] -= degree[moving];
        volume[cluster[staying]] += degree[moving];
        cluster[moving] = cluster[staying];
    }
    for (;;) {
        uint32_t largest = COMMUNITY_NODES, least = 0;
        for (uint32_t c = 0; c < COMMUNITY_NODES; c++)
            if (!done[c] && volume[c] &&
                (largest == COMMUNITY_NODES || volume[c] > volume[largest]))
                largest = c;
        if (largest == COMMUNITY_NODES)
            break;
        for (uint32_t p = 1; p < parts; p++)
            if (held[p] < held[least])
                least = p;
        done[largest] = true;
        home_of_cluster[largest] = least;
        held[least] += volume[largest];
    }
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++) {
        home[v] = home_of_cluster[cluster[v]];
        volume_of[v] = volume[cluster[v]];
    }
}

static void two_phases_place_edges_by_their_clusters(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = 5 };
    static uint32_t home[COMMUNITY_NODES];
    static uint64_t volume[COMMUNITY_NODES], order[2 * COMMUNITY_EDGES];
    static bool placed[2 * COMMUNITY_EDGES];
    struct vertex_cut cut = {0};
    make_graph(t->store, true, PARTS);
    const struct partition_request request = communities_request(&graph, t->store);
    memset(placed, 0, sizeof placed);
    count_degrees();
    list_order(&request, order);
    naive_clusters(PARTS, order, home, volume);
    assert_ok(run_rule(2, &request, &cut, &t->err), &t->err);
    const uint64_t most = (uint64_t)ceil(1.05 * (double)graph.edge_count / PARTS);
    uint64_t inside = 0, scored = 0;
    for (uint64_t i = 0; i < graph.edge_count; i++) {
        const uint64_t e = order[i];
        const uint32_t p = home[source[e]];
        if (placed[e] || p != home[target[e]] || load[p] >= most)
            continue;
        assert_int_equal(cut.edge_part[e], p);
        put_naive(e, p, placed);
        inside++;
    }
    for (uint64_t i = 0; i < graph.edge_count; i++) {
        const uint64_t e = order[i];
        const uint32_t u = source[e], v = target[e], got = cut.edge_part[e];
        double worth[PARTS] = {0};
        if (placed[e])
            continue;
        const double both = (double)(volume[u] + volume[v]);
        for (uint32_t p = 0; p < PARTS; p++)
            worth[p] = naive_g(u, v, p) + naive_g(v, u, p) +
                       (home[u] == p ? (double)volume[u] / both : 0) +
                       (home[v] == p ? (double)volume[v] / both : 0);
        const uint32_t better = worth[home[v]] > worth[home[u]] ? home[v] : home[u];
        if (load[better] < most && fabs(worth[home[u]] - worth[home[v]]) > 1e-12) {
            assert_int_equal(got, better);
            scored++;
        }
        assert_true(load[got] < most);
        put_naive(e, got, placed);
    }
    assert_true(inside > graph.edge_count / 40 && scored > graph.edge_count / 40);
    vertex_cut_release(&cut);
}

/* Edges inside one of Fennel's parts are in that part; HDRF places the others, and is tested
 * above. */
static void edges_inside_fennels_parts_are_in_them(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = 8 };
    static uint32_t home[COMMUNITY_NODES];
    struct vertex_cut cut = {0};
    uint64_t inside = 0, elsewhere = 0;
    make_graph(t->store, true, PARTS);
    const struct partition_request request = communities_request(&graph, t->store);
    assert_ok(fennel_partitioner.assign(&request, home, &t->err), &t->err);
    assert_ok(run_rule(3, &request, &cut, &t->err), &t->err);
    for (uint64_t e = 0; e < graph.edge_count; e++) {
        if (home[source[e]] != home[target[e]])
            continue;
        inside++;
        elsewhere += cut.edge_part[e] != home[source[e]];
    }
    assert_true(inside > graph.edge_count / 2);
    assert_true(elsewhere * 50 < inside); /* the part was full */
    vertex_cut_release(&cut);
}

/* All edges between two nodes, in both directions, must be in one part: otherwise a merged row
 * would not be in order. */
static void edges_between_two_nodes_are_in_one_part(void **state)
{
    struct temp_store *t = *state;
    static uint16_t part_of[COMMUNITY_NODES][COMMUNITY_NODES];
    for (int both = 0; both < 2; both++)
        for (int rule = 0; rule < RULES; rule++) {
            struct vertex_cut cut = {0};
            make_graph(t->store, both, 7);
            const struct partition_request request = communities_request(&graph, t->store);
            memset(part_of, 0xff, sizeof part_of);
            assert_ok(run_rule(rule, &request, &cut, &t->err), &t->err);
            for (uint64_t e = 0; e < graph.edge_count; e++) {
                const uint32_t low = source[e] < target[e] ? source[e] : target[e];
                uint16_t *part = &part_of[low][source[e] + target[e] - low];
                assert_true(*part == IN_NO_CUT || *part == cut.edge_part[e]);
                *part = cut.edge_part[e];
            }
            vertex_cut_release(&cut);
        }
}

static void loads_stay_within_the_balance(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = 8 };
    make_graph(t->store, true, PARTS);
    const struct partition_request request = communities_request(&graph, t->store);
    const double mean = (double)graph.edge_count / PARTS;
    for (int rule = 1; rule < RULES; rule++) {
        struct vertex_cut cut = {0};
        assert_ok(run_rule(rule, &request, &cut, &t->err), &t->err);
        for (int p = 0; p < PARTS; p++)
            assert_true((double)cut.load[p] <= ceil(1.05 * mean));
        vertex_cut_release(&cut);
    }
}

static double replicas_of(const struct vertex_cut *cut)
{
    double replicas = 0;
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++)
        for (uint32_t p = 0; p < cut->part_count; p++)
            replicas += vertex_cut_has(cut, v, p);
    return replicas;
}

/* With edges placed at random, both directions together, each of a node's d edges is in any of k
 * parts with equal chance, so the node has k (1 - (1 - 1 / k)^d) replicas on average. */
static void rules_that_look_make_fewer_replicas_than_edges_at_random(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = GROUPS };
    double expected = 0, found[RULES];
    make_graph(t->store, true, PARTS);
    const struct partition_request request = communities_request(&graph, t->store);
    count_degrees();
    for (uint32_t v = 0; v < COMMUNITY_NODES; v++)
        expected += PARTS * (1 - pow(1 - 1.0 / PARTS, degree[v] / 2.0)) / COMMUNITY_NODES;
    for (int rule = 0; rule < RULES; rule++) {
        struct vertex_cut cut = {0};
        assert_ok(run_rule(rule, &request, &cut, &t->err), &t->err);
        found[rule] = replicas_of(&cut) / COMMUNITY_NODES;
        vertex_cut_release(&cut);
    }
    assert_true(found[0] < expected);
    assert_true(found[1] < found[0]);
    assert_true(found[2] < found[0]);
    assert_true(found[3] < found[1]);
}

static void masters_are_balanced_and_mostly_where_the_edges_are(void **state)
{
    struct temp_store *t = *state;
    enum { PARTS = 8 };
    static uint32_t part[COMMUNITY_NODES], ends[COMMUNITY_NODES][PARTS];
    for (int rule = 0; rule < RULES; rule++) {
        struct vertex_cut cut = {0};
        uint32_t at_most = 0;
        make_graph(t->store, true, PARTS);
        const struct partition_request request = communities_request(&graph, t->store);
        assert_ok(run_rule(rule, &request, &cut, &t->err), &t->err);
        assert_ok(vertex_cut_masters(&cut, &request, part, &t->err), &t->err);
        assert_ok(assignment_check(part, COMMUNITY_NODES, PARTS, &t->err), &t->err);
        assert_true(communities_balance(&graph, part, false) <= 1.05);
        assert_true(communities_balance(&graph, part, true) <= 1.05);
        memset(ends, 0, sizeof ends);
        for (uint64_t e = 0; e < graph.edge_count; e++)
            ends[target[e]][cut.edge_part[e]]++;
        for (uint32_t v = 0; v < COMMUNITY_NODES; v++) {
            uint32_t most = 0;
            for (int p = 0; p < PARTS; p++)
                most = ends[v][p] > most ? ends[v][p] : most;
            at_most += ends[v][part[v]] == most;
        }
        assert_true(at_most > COMMUNITY_NODES * 6 / 10);
        vertex_cut_release(&cut);
    }
}

static void memory_that_is_not_there_is_said(void **state)
{
    struct temp_store *t = *state;
    make_graph(t->store, true, 17);
    struct partition_request request = communities_request(&graph, t->store);
    request.budget_bytes = 1000;
    for (int rule = 0; rule < RULES; rule++) {
        struct vertex_cut cut = {0};
        struct error err = {0};
        assert_int_equal(run_rule(rule, &request, &cut, &err), ERROR_NO_MEMORY);
        assert_non_null(strstr(err.message, "--memory leaves 57000"));
        vertex_cut_release(&cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(each_edge_is_in_one_part_where_both_ends_have_replicas),
        test_with_store(an_edge_goes_where_its_end_of_lower_degree_is_hashed),
        test_with_store(the_highest_score_of_hdrf_takes_the_edge),
        test_with_store(two_phases_place_edges_by_their_clusters),
        test_with_store(edges_inside_fennels_parts_are_in_them),
        test_with_store(edges_between_two_nodes_are_in_one_part),
        test_with_store(loads_stay_within_the_balance),
        test_with_store(rules_that_look_make_fewer_replicas_than_edges_at_random),
        test_with_store(masters_are_balanced_and_mostly_where_the_edges_are),
        test_with_store(memory_that_is_not_there_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
