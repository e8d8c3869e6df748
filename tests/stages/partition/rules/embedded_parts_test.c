/* Methods that embed nodes, on a graph whose groups they should find, within strict bounds. */
#include "common/base/memory.h"
#include "stages/partition/layout/assignment.h"
#include "stages/partition/rules/embedded_parts.h"
#include "stages/partition/rules/skip_gram.h"

#include "tests/stages/partition/methods/communities.h"

static struct communities graph;
static uint32_t part[COMMUNITY_NODES], again[COMMUNITY_NODES];
static const struct partitioner *const methods[2] = {&spectral_partitioner,
                                                     &random_walk_partitioner};

static void groups_are_found_within_strict_bounds(void **state)
{
    struct temp_store *t = *state;
    for (int m = 0; m < 2; m++) {
        communities_make(&graph, t->store, m == 0, GROUPS);
        const struct partition_request request = communities_request(&graph, t->store);
        assert_ok(methods[m]->assign(&request, part, &t->err), &t->err);
        assert_true(communities_balance(&graph, part, false) <= 1.05);
        assert_true(communities_balance(&graph, part, true) <= 1.05);
        /* The groups themselves cut 1/4 * 7/8 = 0.22, a hash 7/8. */
        assert_true(communities_cut(&graph, part) < 0.26);
        assert_ok(methods[m]->assign(&request, again, &t->err), &t->err);
        assert_memory_equal(part, again, sizeof part);
    }
}

static void clusters_of_rows_become_parts(void **state)
{
    struct temp_store *t = *state;
    static float row[COMMUNITY_NODES * 4];
    communities_make(&graph, t->store, true, 4);
    const struct partition_request request = communities_request(&graph, t->store);
    /* Two groups share a corner, so that each part is two groups. */
    for (size_t v = 0; v < COMMUNITY_NODES; v++)
        for (size_t c = 0; c < 4; c++)
            row[v * 4 + c] = (v % GROUPS / 2 == c ? 3.0F : 0.1F) + (float)(v % 7) / 100;
    assert_ok(embedded_parts(&request, "test", row, 4, part, &t->err), &t->err);
    uint32_t same = 0;
    for (size_t v = 0; v < COMMUNITY_NODES; v++)
        same += part[v] == part[v % GROUPS / 2 * 2];
    assert_true(same > COMMUNITY_NODES * 9 / 10);
    for (size_t v = 0; v < COMMUNITY_NODES; v++) {
        float squares = 0;
        for (size_t c = 0; c < 4; c++)
            squares += row[v * 4 + c] * row[v * 4 + c];
        assert_true(squares > 0.999F && squares < 1.001F);
    }
}

static void memory_beyond_the_budget_is_named_with_what_it_takes(void **state)
{
    struct temp_store *t = *state;
    communities_make(&graph, t->store, false, 4);
    struct partition_request request = communities_request(&graph, t->store);
    request.budget_bytes = 100000;
    assert_fails(spectral_partitioner.assign(&request, part, &t->err), ERROR_NO_MEMORY,
                 "partition.method spectral takes about", &t->err);
    assert_fails(random_walk_partitioner.assign(&request, part, &t->err), ERROR_NO_MEMORY,
                 "partition.method random_walk takes about", &t->err);
    assert_true(strstr(t->err.message, "use partition.method: fennel") != NULL);
}

static void an_allocation_that_fails_is_said(void **state)
{
    struct temp_store *t = *state;
    communities_make(&graph, t->store, true, 4);
    const struct partition_request request = communities_request(&graph, t->store);
    const long live = memory_live_blocks();
    graph.settings.partition.passes = 1;
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        assert_true(n < 400);
        memory_fail_after(n);
        rc = spectral_partitioner.assign(&request, part, &t->err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), live);
    }
}

/* Two cliques of six with an edge between them: rows of one clique point the same way, and those of
 * the other do not. */
static void walks_tell_cliques_apart(void **state)
{
    (void)state;
    enum { HALF = 6, ALL = 2 * HALF + 1, DIM = 8 }; /* the last is a node without edges */
    int32_t row_start[ALL + 1] = {0}, neighbor[ALL * HALF];
    float row[ALL * DIM];
    struct error err = {0};
    int32_t at = 0;
    for (int32_t v = 0; v < ALL; v++) {
        for (int32_t u = 0; v < 2 * HALF && u < 2 * HALF; u++)
            if (u != v &&
                (u / HALF == v / HALF || (u + v == 2 * HALF - 1 && (u == HALF || v == HALF))))
                neighbor[at++] = u;
        row_start[v + 1] = at;
    }
    const struct undirected_graph cliques = {
        .node_count = ALL, .row_start = row_start, .neighbor = neighbor};
    const struct skip_gram config = {.graph = &cliques,
                                     .dim = DIM,
                                     .walks = 60,
                                     .length = 10,
                                     .window = 2,
                                     .p = 1,
                                     .q = 0.5,
                                     .rate = 0.1,
                                     .seed = 1};
    assert_ok(skip_gram_run(&config, row, &err), &err);
    double within = 0.0, between = 0.0;
    for (int u = 0; u < 2 * HALF; u++)
        for (int v = 0; v < u; v++) {
            double product = 0.0;
            for (int c = 0; c < DIM; c++)
                product += (double)row[u * DIM + c] * (double)row[v * DIM + c];
            if (u / HALF == v / HALF)
                within += product;
            else
                between += product;
        }
    assert_true(within / 30 > between / 36 + 0.1);
    for (int c = 0; c < DIM; c++)
        assert_true(row[(ALL - 1) * DIM + c] == 0.0F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(groups_are_found_within_strict_bounds),
        test_with_store(clusters_of_rows_become_parts),
        test_with_store(memory_beyond_the_budget_is_named_with_what_it_takes),
        test_with_store(an_allocation_that_fails_is_said),
        cmocka_unit_test(walks_tell_cliques_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
