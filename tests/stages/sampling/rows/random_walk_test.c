/* Steps of walks by chi-square against the chances of node2vec, which for p = q = 1 are those of a uniform walk. */
#include "stages/sampling/rows/random_walk.h"

#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { DRAWS = 60000, START = 3 };

static double weight_of(const struct sampler_fixture *f, uint32_t before, uint32_t at, uint32_t to,
                        double p, double q)
{
    if (!f->linked[at][to])
        return 0;
    if (to == before)
        return 1 / p;
    return f->linked[before][to] ? 1 : 1 / q;
}

static void check_steps(double p, double q)
{
    struct sampler_fixture f;
    static uint32_t seen[FIXTURE_NODES * FIXTURE_NODES];
    static double chance[FIXTURE_NODES * FIXTURE_NODES];
    struct error err = {0};
    memset(seen, 0, sizeof seen);
    memset(chance, 0, sizeof chance);
    sampler_fixture_open(&f);
    const struct random_stream stream =
        random_stream_of(random_graph_seed(4), RANDOM_WALK, 0, 0, 0);
    const struct random_walk walk = {
        .topology = &f.graph.topology, .stream = &stream, .length = 2, .p = p, .q = q};
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint32_t path[3];
        assert_ok(random_walk_draw(&walk, i, START, path, &err), &err);
        assert_int_equal(path[0], START);
        seen[path[1] * FIXTURE_NODES + path[2]]++;
    }
    for (uint32_t a = 0; a < FIXTURE_NODES; a++) {
        double all = 0;
        for (uint32_t b = 0; b < FIXTURE_NODES; b++)
            all += weight_of(&f, START, a, b, p, q);
        for (uint32_t b = 0; f.linked[START][a] && b < FIXTURE_NODES; b++)
            chance[a * FIXTURE_NODES + b] =
                weight_of(&f, START, a, b, p, q) / all / f.degree[START];
    }
    chi_square_check(seen, chance, FIXTURE_NODES * FIXTURE_NODES);
    sampler_fixture_close(&f);
}

static void a_uniform_walk_takes_each_neighbour_alike(void **state)
{
    (void)state;
    check_steps(1, 1);
}

static void node2vec_goes_by_where_it_came_from(void **state)
{
    (void)state;
    check_steps(0.25, 4);
    check_steps(4, 0.5);
}

static void a_walk_stays_where_there_are_no_edges(void **state)
{
    (void)state;
    static const uint64_t row_start[] = {0, 1, 1, 1}; /* from 1 to 0 alone */
    static const uint32_t neighbor[] = {1}, book[] = {0, 3};
    struct memory_topology graph;
    struct error err = {0};
    uint32_t path[5];
    const struct random_stream stream = random_stream_of(1, RANDOM_WALK, 0, 0, 0);
    memory_topology_make(&graph, row_start, neighbor, book, 1);
    const struct random_walk walk = {
        .topology = &graph.topology, .stream = &stream, .length = 4, .p = 2, .q = 3};
    assert_ok(random_walk_draw(&walk, 0, 0, path, &err), &err);
    assert_memory_equal(path, ((const uint32_t[]){0, 1, 1, 1, 1}), sizeof path);
    assert_fails(random_walk_draw(&walk, 0, 3, path, &err), ERROR_CORRUPT,
                 "node 3: expected below 3", &err);
    memory_topology_release(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uniform_walk_takes_each_neighbour_alike),
        cmocka_unit_test(node2vec_goes_by_where_it_came_from),
        cmocka_unit_test(a_walk_stays_where_there_are_no_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
