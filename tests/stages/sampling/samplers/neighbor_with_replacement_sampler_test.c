/* Tests draws with replacement: all sequences of draws are equally likely, and short rows are kept
 * whole. */
#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { DRAWS = 60000, FANOUT = 2 };

static enum error_code draw(struct sampler_fixture *f, uint32_t round, int64_t fanout,
                            struct mini_batch *batch, struct error *err)
{
    struct neighbor_request request =
        sampler_fixture_request(f, sampler_of(SAMPLER_NEIGHBOR_WITH_REPLACEMENT), round);
    request.hop_count = 1;
    request.fanout = &fanout;
    return sampler_of(SAMPLER_NEIGHBOR_WITH_REPLACEMENT)->draw(f->sampler, &request, batch, err);
}

/* Two draws from a row of n neighbours give one given neighbour twice with chance 1 / n^2, and a
 * given pair of different ones with 2 / n^2. */
static void pairs_of_draws_are_as_likely_as_they_should(void **state)
{
    (void)state;
    struct sampler_fixture f;
    struct error err = {0};
    struct mini_batch batch;
    static uint32_t seen[FIXTURE_NODES * FIXTURE_NODES];
    static double chance[FIXTURE_NODES * FIXTURE_NODES];
    sampler_fixture_open(&f);
    const uint32_t seed = f.train[0];
    const double n = f.degree[seed];
    for (uint32_t i = 0; i < DRAWS; i++) {
        assert_ok(draw(&f, i, FANOUT, &batch, &err), &err);
        assert_int_equal(batch.row_start[1], FANOUT);
        const uint32_t a = batch.node[batch.neighbor[0]], b = batch.node[batch.neighbor[1]];
        assert_true(a <= b); /* in the order of the row */
        seen[a * FIXTURE_NODES + b]++;
    }
    for (uint32_t a = 0; a < FIXTURE_NODES; a++)
        for (uint32_t b = a; b < FIXTURE_NODES; b++)
            if (f.linked[seed][a] && f.linked[seed][b])
                chance[a * FIXTURE_NODES + b] = (a == b ? 1 : 2) / (n * n);
    chi_square_check(seen, chance, FIXTURE_NODES * FIXTURE_NODES);
    sampler_fixture_close(&f);
}

static void means_are_unbiased_and_short_rows_whole(void **state)
{
    (void)state;
    struct sampler_fixture f;
    struct error err = {0};
    struct mini_batch batch;
    struct estimate mean[3] = {{0}};
    sampler_fixture_open(&f);
    for (uint32_t i = 0; i < DRAWS; i++) {
        assert_ok(draw(&f, i, 3, &batch, &err), &err);
        for (uint32_t s = 0; s < 3; s++)
            estimate_add(&mean[s],
                         sum_of_row(&f, &batch, s) / (batch.row_start[s + 1] - batch.row_start[s]));
    }
    for (uint32_t s = 0; s < 3; s++)
        estimate_check(&mean[s], f.sum[f.train[s]] / f.degree[f.train[s]], 0, "seed", s);
    assert_ok(draw(&f, 0, FIXTURE_NODES, &batch, &err), &err);
    for (uint32_t s = 0; s < 3; s++)
        assert_true(fabs(sum_of_row(&f, &batch, s) - f.sum[f.train[s]]) < 1e-9);
    sampler_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_draws_are_as_likely_as_they_should),
        cmocka_unit_test(means_are_unbiased_and_short_rows_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
