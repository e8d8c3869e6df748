/* Tests GraphSAINT's edge sampler: its closed-form normalisation against many draws. */
#include "stages/sampling/samplers/graphsaint.h"

#include "tests/stages/sampling/samplers/graphsaint_check.h"

static void its_normalisation_is_unbiased(void **state)
{
    (void)state;
    graphsaint_check_closed_form(SAMPLER_GRAPHSAINT_EDGE);
}

static void chances_are_the_papers(void **state)
{
    (void)state;
    struct sampler_fixture f;
    sampler_fixture_open(&f);
    (void)sampler_fixture_request(&f, sampler_of(SAMPLER_GRAPHSAINT_EDGE), 0);
    /* The chance of edge (u, v) is (1 / d_u + 1 / d_v) / nodes; the chance of a node is the sum
     * over its edges. */
    for (uint32_t v = 0; v < FIXTURE_NODES; v++) {
        double chance = 0;
        for (uint32_t u = 0; u < FIXTURE_NODES; u++)
            if (f.linked[v][u])
                chance += (1.0 / f.degree[u] + 1.0 / f.degree[v]) / FIXTURE_NODES;
        assert_true(fabs(f.chances->chance[v] - chance) < 1e-12);
    }
    sampler_fixture_close(&f);
}

static void without_training_nodes_it_says_so(void **state)
{
    (void)state;
    graphsaint_check_without_training_nodes(SAMPLER_GRAPHSAINT_EDGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances_are_the_papers),
        cmocka_unit_test(its_normalisation_is_unbiased),
        cmocka_unit_test(without_training_nodes_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
