/* Tests GraphSAINT's node sampler: its closed-form normalisation against many draws. */
#include "stages/sampling/samplers/graphsaint.h"

#include "tests/stages/sampling/samplers/graphsaint_check.h"

static void its_normalisation_is_unbiased(void **state)
{
    (void)state;
    graphsaint_check_closed_form(SAMPLER_GRAPHSAINT_NODE);
}

static void chances_are_shares_of_edges(void **state)
{
    (void)state;
    struct sampler_fixture f;
    sampler_fixture_open(&f);
    (void)sampler_fixture_request(&f, sampler_of(SAMPLER_GRAPHSAINT_NODE), 0);
    double edges[FIXTURE_NODES] = {0}, all = 0;
    for (uint32_t v = 0; v < FIXTURE_NODES; v++)
        for (uint32_t u = 0; u < FIXTURE_NODES; u++)
            if (f.linked[v][u]) {
                edges[u]++;
                all++;
            }
    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
        assert_true(fabs(f.chances->chance[u] - edges[u] / all) < 1e-12);
    sampler_fixture_close(&f);
}

static void without_training_nodes_it_says_so(void **state)
{
    (void)state;
    graphsaint_check_without_training_nodes(SAMPLER_GRAPHSAINT_NODE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances_are_shares_of_edges),
        cmocka_unit_test(its_normalisation_is_unbiased),
        cmocka_unit_test(without_training_nodes_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
