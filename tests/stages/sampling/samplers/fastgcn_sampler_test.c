/* Tests that FastGCN draws with the paper's chances, and that the sums of a layer are unbiased at
 * every node. */
#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { DRAWS = 30000 };

static void chances_are_squared_norms_of_columns(void **state)
{
    (void)state;
    struct sampler_fixture f;
    double norm[FIXTURE_NODES] = {0}, all = 0;
    uint32_t seen[FIXTURE_NODES] = {0};
    sampler_fixture_open(&f);
    (void)sampler_fixture_request(&f, sampler_of(SAMPLER_FASTGCN), 0);
    for (uint32_t v = 0; v < FIXTURE_NODES; v++)
        for (uint32_t u = 0; u < FIXTURE_NODES; u++)
            if (f.linked[v][u])
                norm[u] += 1.0 / ((f.degree[v] + 1.0) * (f.degree[u] + 1.0));
    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
        all += norm[u];
    for (uint32_t u = 0; u < FIXTURE_NODES; u++) {
        norm[u] /= all;
        assert_true(fabs(f.chances->chance[u] - norm[u]) < 1e-12);
    }
    const struct random_stream stream =
        random_stream_of(random_graph_seed(23), RANDOM_SUBGRAPH, 0, 0, 0);
    for (uint32_t i = 0; i < DRAWS; i++)
        seen[node_chances_draw(f.chances, &stream, i)]++;
    chi_square_check(seen, norm, FIXTURE_NODES);
    sampler_fixture_close(&f);
}

static void sums_over_neighbours_are_unbiased(void **state)
{
    (void)state;
    struct sampler_fixture f;
    struct estimate seeds[3] = {{0}}, second[3] = {{0}};
    struct error err = {0};
    sampler_fixture_open(&f);
    for (uint32_t i = 0; i < DRAWS; i++) {
        const struct neighbor_request request =
            sampler_fixture_request(&f, sampler_of(SAMPLER_FASTGCN), i);
        struct mini_batch batch;
        assert_ok(sampler_of(SAMPLER_FASTGCN)->draw(f.sampler, &request, &batch, &err), &err);
        assert_int_equal(batch.form, BATCH_LAYERED);
        for (uint32_t s = 0; s < 3; s++) {
            estimate_add(&seeds[s], sum_of_row(&f, &batch, s));
            assert_int_equal(batch.degree[s], f.degree[batch.node[s]]);
        }
        /* The first layer draws for all nodes so far, so the seeds are destinations again. */
        const struct message_block block = mini_batch_block(&batch, 0);
        assert_int_equal(block.destination_count, batch.hop_end[1]);
        for (uint32_t s = 0; s < 3; s++) {
            double sum = 0;
            for (uint32_t e = block.row_start[s]; e < block.row_start[s + 1]; e++)
                sum += (double)block.edge_factor[e] * f.x[batch.node[block.neighbor[e]]];
            estimate_add(&second[s], sum);
        }
    }
    for (uint32_t s = 0; s < 3; s++) {
        estimate_check(&seeds[s], f.sum[f.train[s]], 0, "seed", s);
        estimate_check(&second[s], f.sum[f.train[s]], 0, "seed in the first layer", s);
    }
    sampler_fixture_close(&f);
}

static void all_neighbours_stand_for_themselves(void **state)
{
    (void)state;
    static const int64_t all[] = {FANOUT_ALL, FANOUT_ALL};
    struct sampler_fixture f;
    struct error err = {0};
    struct mini_batch batch;
    sampler_fixture_open(&f);
    struct neighbor_request request = sampler_fixture_request(&f, sampler_of(SAMPLER_FASTGCN), 0);
    request.fanout = all;
    assert_ok(sampler_of(SAMPLER_FASTGCN)->draw(f.sampler, &request, &batch, &err), &err);
    for (uint32_t s = 0; s < 3; s++)
        assert_true(fabs(sum_of_row(&f, &batch, s) - f.sum[f.train[s]]) < 1e-9);
    sampler_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances_are_squared_norms_of_columns),
        cmocka_unit_test(sums_over_neighbours_are_unbiased),
        cmocka_unit_test(all_neighbours_stand_for_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
