/* Tests LADIES: nodes are chosen by the paper's chances, sums are consistent, and no draw is
 * wasted. */
#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { DRAWS = 30000 };

static enum error_code draw(struct sampler_fixture *f, uint32_t round, const int64_t *fanout,
                            struct mini_batch *batch, struct error *err)
{
    struct neighbor_request request = sampler_fixture_request(f, sampler_of(SAMPLER_LADIES), round);
    request.fanout = fanout;
    return sampler_of(SAMPLER_LADIES)->draw(f->sampler, &request, batch, err);
}

/* Computes the chance of each candidate in one draw: the squared entries of its column in the rows
 * of the seeds. */
static void chances_of(const struct sampler_fixture *f, double *chance)
{
    double all = 0;
    memset(chance, 0, FIXTURE_NODES * sizeof *chance);
    for (uint32_t s = 0; s < 3; s++)
        for (uint32_t u = 0; u < FIXTURE_NODES; u++)
            if (f->linked[f->train[s]][u]) {
                const double entry = 1 / (f->degree[f->train[s]] + 1.0);
                chance[u] += entry * entry;
                all += entry * entry;
            }
    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
        chance[u] /= all;
}

static void neighbours_are_there_as_often_as_importance_says(void **state)
{
    (void)state;
    static const int64_t fanout[] = {4, 4};
    struct sampler_fixture f;
    struct error err = {0};
    struct mini_batch batch;
    double chance[FIXTURE_NODES];
    struct estimate there[FIXTURE_NODES] = {{0}};
    sampler_fixture_open(&f);
    chances_of(&f, chance);
    for (uint32_t i = 0; i < DRAWS; i++) {
        bool is_there[FIXTURE_NODES] = {false};
        assert_ok(draw(&f, i, fanout, &batch, &err), &err);
        const struct message_block block = mini_batch_block(&batch, 1);
        for (uint32_t e = block.row_start[0]; e < block.row_start[3]; e++)
            is_there[batch.node[block.neighbor[e]]] = true;
        for (uint32_t u = 0; u < FIXTURE_NODES; u++)
            estimate_add(&there[u], is_there[u]);
    }
    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
        estimate_check(&there[u], 1 - pow(1 - chance[u], 4), 0, "node", u);
    sampler_fixture_close(&f);
}

/* Normalised rows have a bias that shrinks with the number of draws. */
static void means_over_neighbours_come_close(void **state)
{
    (void)state;
    static const int64_t fanout[] = {11, 11};
    struct sampler_fixture f;
    struct error err = {0};
    struct mini_batch batch;
    struct estimate mean[3] = {{0}};
    sampler_fixture_open(&f);
    for (uint32_t i = 0; i < DRAWS; i++) {
        assert_ok(draw(&f, i, fanout, &batch, &err), &err);
        const struct message_block block = mini_batch_block(&batch, 1);
        for (uint32_t s = 0; s < 3; s++) {
            double factors = 0;
            for (uint32_t e = block.row_start[s]; e < block.row_start[s + 1]; e++)
                factors += (double)block.edge_factor[e];
            if (block.row_start[s] == block.row_start[s + 1])
                continue;
            assert_true(fabs(factors - f.degree[f.train[s]]) < 1e-4);
            estimate_add(&mean[s], sum_of_row(&f, &batch, s) / f.degree[f.train[s]]);
        }
    }
    for (uint32_t s = 0; s < 3; s++)
        estimate_check(&mean[s], f.sum[f.train[s]] / f.degree[f.train[s]], 0.03, "seed", s);
    sampler_fixture_close(&f);
}

static void few_candidates_are_all_taken(void **state)
{
    (void)state;
    static const int64_t many[] = {FIXTURE_NODES, FIXTURE_NODES}, all[] = {FANOUT_ALL, FANOUT_ALL};
    struct sampler_fixture f;
    struct error err = {0};
    struct mini_batch batch;
    sampler_fixture_open(&f);
    for (int i = 0; i < 2; i++) {
        assert_ok(draw(&f, 0, i ? all : many, &batch, &err), &err);
        for (uint32_t s = 0; s < 3; s++)
            assert_true(fabs(sum_of_row(&f, &batch, s) - f.sum[f.train[s]]) < 1e-6);
    }
    sampler_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_there_as_often_as_importance_says),
        cmocka_unit_test(means_over_neighbours_come_close),
        cmocka_unit_test(few_candidates_are_all_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
