/* Compares draws by weight with the chances of drawing one after the other, by chi-square. */
#include "stages/sampling/samplers/sampler.h"

#include "tests/support/memory_topology.h"
#include "tests/support/random_graph.h"
#include "tests/support/test.h"

#include <math.h>

enum { LENGTH = 6, NODES = LENGTH + 1, DRAWS = 60000 };

/* A star: node 0 has an edge from each other node. */
struct star {
    uint64_t row_start[NODES + 1];
    uint32_t neighbor[LENGTH];
    float weight[LENGTH];
    struct memory_topology graph;
    struct neighbor_sampler *sampler;
};

static const uint32_t book[] = {0, NODES};

static void open_star(struct star *s, const float *weight)
{
    struct error err = {0};
    struct edge_columns_view columns = {.data[EDGE_WEIGHT] = s->weight};
    *s = (struct star){0};
    for (uint32_t i = 0; i < LENGTH; i++) {
        s->neighbor[i] = i + 1;
        s->weight[i] = weight[i];
    }
    for (uint32_t i = 1; i <= NODES; i++)
        s->row_start[i] = LENGTH;
    columns.width.of[EDGE_WEIGHT] = 1;
    memory_topology_make(&s->graph, s->row_start, s->neighbor, book, 1);
    memory_topology_give(&s->graph, &columns, NULL);
    const struct neighbor_sampler_config config = {.topology = &s->graph.topology};
    assert_ok(neighbor_sampler_new(&config, &s->sampler, &err), &err);
}

static void close_star(struct star *s)
{
    neighbor_sampler_free(s->sampler);
    memory_topology_release(&s->graph);
}

static enum error_code draw(struct star *s, uint32_t round, int64_t fanout, struct mini_batch *out,
                            struct error *err)
{
    static const uint32_t seed_node[] = {0};
    const struct neighbor_request request = {.seed = random_graph_seed(17),
                                             .round = round,
                                             .hop_count = 1,
                                             .fanout = &fanout,
                                             .seed_node = seed_node,
                                             .seed_count = 1,
                                             .edge_columns = 1U << EDGE_WEIGHT};
    return sampler_of(SAMPLER_WEIGHTED_NEIGHBOR)->draw(s->sampler, &request, out, err);
}

/* Returns the kept positions, a bit for each; checks that they ascend. */
static uint32_t draw_set(struct star *s, uint32_t round, int64_t fanout)
{
    struct error err = {0};
    struct mini_batch batch;
    uint32_t set = 0, last = 0;
    assert_ok(draw(s, round, fanout, &batch, &err), &err);
    assert_int_equal(batch.edge_count, fanout);
    for (uint32_t k = 0; k < batch.edge_count; k++) {
        const uint32_t node = batch.node[batch.neighbor[k]];
        must(node > last && node <= LENGTH);
        last = node;
        set |= 1U << (node - 1);
        /* the edge's own weight comes with it */
        assert_true(((const float *)batch.columns.data[EDGE_WEIGHT])[k] == s->weight[node - 1]);
    }
    return set;
}

/* Returns the chance of drawing the set, one after the other by weight among those left, summed
 * over all orders. */
static double chance_of(const float *weight, uint32_t set, double left)
{
    double chance = 0;
    if (set == 0)
        return 1;
    for (uint32_t i = 0; i < LENGTH; i++)
        if (set >> i & 1)
            chance += (double)weight[i] / left *
                      chance_of(weight, set & ~(1U << i), left - (double)weight[i]);
    return chance;
}

/* Returns the value that chi-square with `freedom` degrees exceeds once in a million (Wilson and
 * Hilferty). */
static double chi_square_limit(double freedom)
{
    const double part = 2.0 / (9.0 * freedom);
    return freedom * pow(1.0 - part + 4.753 * sqrt(part), 3.0);
}

static void sets_are_drawn_as_often_as_their_weights_say(void **state)
{
    (void)state;
    static const float weight[LENGTH] = {1, 0.5F, 3, 2, 0.25F, 1};
    double total = 0;
    struct star s;
    open_star(&s, weight);
    for (uint32_t i = 0; i < LENGTH; i++)
        total += (double)weight[i];
    for (int64_t fanout = 1; fanout < 4; fanout++) {
        uint32_t seen[1 << LENGTH] = {0};
        double chi_square = 0, freedom = -1;
        for (uint32_t i = 0; i < DRAWS; i++)
            seen[draw_set(&s, i, fanout)]++;
        for (uint32_t set = 0; set < 1 << LENGTH; set++) {
            if (__builtin_popcount(set) != fanout)
                continue;
            const double expected = DRAWS * chance_of(weight, set, total);
            chi_square += (seen[set] - expected) * (seen[set] - expected) / expected;
            freedom++;
        }
        if (chi_square > chi_square_limit(freedom))
            fail_msg("fan-out %d: chi-square %.1f above %.1f", (int)fanout, chi_square,
                     chi_square_limit(freedom));
    }
    close_star(&s);
}

static void edges_of_no_weight_come_last(void **state)
{
    (void)state;
    static const float weight[LENGTH] = {0, 1, 0, 1, 0, 0};
    struct star s;
    open_star(&s, weight);
    for (uint32_t i = 0; i < 200; i++) {
        assert_int_equal(draw_set(&s, i, 2), 0xA);
        assert_int_equal(draw_set(&s, i, 3), 0xB); /* among those the first ones */
        assert_int_equal(draw_set(&s, i, LENGTH), 0x3F);
    }
    close_star(&s);
}

static void a_weight_that_is_none_is_named(void **state)
{
    (void)state;
    static const float bad[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        const float weight[LENGTH] = {1, 1, bad[i], 1, 1, 1};
        struct star s;
        struct error err = {0};
        struct mini_batch batch;
        open_star(&s, weight);
        assert_fails(draw(&s, 0, 2, &batch, &err), ERROR_INPUT, "edge 2 of node 0 has weight ",
                     &err);
        close_star(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_are_drawn_as_often_as_their_weights_say),
        cmocka_unit_test(edges_of_no_weight_come_last),
        cmocka_unit_test(a_weight_that_is_none_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
