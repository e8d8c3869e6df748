/* Tests ShaDow: the subgraph of each seed against a plain search, and its draws by chi-square. */
#include "tests/stages/sampling/samplers/sampler_fixture.h"

enum { DRAWS = 30000, ROOT = 0 };

static struct mini_batch draw(struct sampler_fixture *f, uint32_t round, uint32_t depth,
                              int64_t num_neighbors)
{
    struct error err = {0};
    struct mini_batch batch = {0};
    struct neighbor_request request = sampler_fixture_request(f, sampler_of(SAMPLER_SHADOW), round);
    const struct sampler_options options = {.depth = depth, .num_neighbors = num_neighbors};
    request.options = &options;
    request.wants_degree = true;
    assert_ok(sampler_of(SAMPLER_SHADOW)->draw(f->sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.form, BATCH_SUBGRAPH);
    assert_int_equal(batch.seed_count, 3);
    return batch;
}

/* Checks the subgraph of each seed: no node twice, and exactly the graph's edges among its
 * nodes. */
static void check_induced(const struct sampler_fixture *f, const struct mini_batch *batch)
{
    for (uint32_t i = 0; i < batch->node_count; i++) {
        uint32_t expected = 0;
        for (uint32_t k = 0; k < batch->node_count; k++) {
            if (batch->seed_of[k] != batch->seed_of[i])
                continue;
            assert_true(k == i || batch->node[k] != batch->node[i]);
            expected += f->linked[batch->node[i]][batch->node[k]];
        }
        assert_int_equal(batch->row_start[i + 1] - batch->row_start[i], expected);
        assert_int_equal(batch->degree[i], expected);
        for (uint32_t e = batch->row_start[i]; e < batch->row_start[i + 1]; e++) {
            assert_int_equal(batch->seed_of[batch->neighbor[e]], batch->seed_of[i]);
            assert_true(f->linked[batch->node[i]][batch->node[batch->neighbor[e]]]);
        }
    }
}

static void without_a_bound_it_is_all_within_reach(void **state)
{
    (void)state;
    struct sampler_fixture f;
    sampler_fixture_open(&f);
    for (uint32_t depth = 1; depth <= 3; depth++) {
        const struct mini_batch batch = draw(&f, 0, depth, FANOUT_ALL);
        check_induced(&f, &batch);
        for (uint32_t s = 0; s < 3; s++) {
            bool reached[FIXTURE_NODES] = {false};
            uint32_t count = 0, found = 0;
            assert_int_equal(batch.node[s], f.train[s]);
            reached[f.train[s]] = true;
            for (uint32_t hop = 0; hop < depth; hop++) {
                bool next[FIXTURE_NODES];
                memcpy(next, reached, sizeof next);
                for (uint32_t v = 0; v < FIXTURE_NODES; v++)
                    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
                        next[u] |= reached[v] && f.linked[v][u];
                memcpy(reached, next, sizeof reached);
            }
            for (uint32_t v = 0; v < FIXTURE_NODES; v++)
                count += reached[v];
            for (uint32_t i = 0; i < batch.node_count; i++)
                if (batch.seed_of[i] == s) {
                    assert_true(reached[batch.node[i]]);
                    found++;
                }
            assert_int_equal(found, count);
        }
    }
    sampler_fixture_close(&f);
}

static void the_nodes_of_a_hop_are_as_likely_as_each_other(void **state)
{
    (void)state;
    struct sampler_fixture f;
    uint32_t seen[FIXTURE_NODES] = {0}, same = 0;
    double chance[FIXTURE_NODES] = {0};
    const struct sampler_options one = {.depth = 1, .num_neighbors = 1};
    sampler_fixture_open(&f);
    for (uint32_t i = 0; i < DRAWS; i++) {
        const struct mini_batch batch = draw(&f, i, 1, 1);
        check_induced(&f, &batch);
        assert_int_equal(batch.node_count, 6); /* each seed and one neighbour */
        seen[batch.node[3]]++;
    }
    for (uint32_t u = 0; u < FIXTURE_NODES; u++)
        chance[u] = f.linked[f.train[ROOT]][u] / (double)f.degree[f.train[ROOT]];
    chi_square_check(seen, chance, FIXTURE_NODES);
    /* The draws of two seeds at the same node are independent. */
    for (uint32_t i = 0; i < 2000; i++) {
        const uint32_t twice[] = {f.train[0], f.train[0]};
        struct neighbor_request request =
            sampler_fixture_request(&f, sampler_of(SAMPLER_SHADOW), i);
        struct mini_batch batch;
        struct error err = {0};
        request.seed_node = twice;
        request.seed_count = 2;
        request.options = &one;
        assert_ok(sampler_of(SAMPLER_SHADOW)->draw(f.sampler, &request, &batch, &err), &err);
        same += batch.node[2] == batch.node[3];
    }
    const double likely = 2000.0 / f.degree[f.train[0]];
    assert_true(fabs(same - likely) < 6 * sqrt(likely));
    sampler_fixture_close(&f);
}

static void bounds_hold(void **state)
{
    (void)state;
    struct sampler_fixture f;
    sampler_fixture_open(&f);
    for (uint32_t i = 0; i < 300; i++) {
        const struct mini_batch batch = draw(&f, i, 2, 2);
        uint32_t nodes[3] = {0};
        check_induced(&f, &batch);
        for (uint32_t k = 0; k < batch.node_count; k++)
            nodes[batch.seed_of[k]]++;
        for (uint32_t s = 0; s < 3; s++)
            assert_true(nodes[s] >= 2 && nodes[s] <= 1 + 2 + 4);
    }
    sampler_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_bound_it_is_all_within_reach),
        cmocka_unit_test(the_nodes_of_a_hop_are_as_likely_as_each_other),
        cmocka_unit_test(bounds_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
