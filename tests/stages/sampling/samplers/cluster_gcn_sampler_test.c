/* Tests that a batch of clusters has exactly their nodes and all edges among them. */
#include "tests/stages/sampling/samplers/sampler_fixture.h"

static const uint32_t book[] = {0, 9, 20, FIXTURE_NODES};

static bool is_in(uint32_t node, const uint32_t *cluster, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        if (node >= book[cluster[c]] && node < book[cluster[c] + 1])
            return true;
    return false;
}

static void a_batch_is_its_clusters_with_all_edges_among_them(void **state)
{
    (void)state;
    static const uint32_t clusters[][2] = {{1, 0}, {2, 0}, {0, 2}};
    static const uint32_t count[] = {1, 2, 2};
    const struct sampler *sampler = sampler_of(SAMPLER_CLUSTER_GCN);
    struct sampler_fixture f;
    struct error err = {0};
    sampler_fixture_open_parts(&f, book, 3);
    for (int i = 0; i < 3; i++) {
        struct neighbor_request request = sampler_fixture_request(&f, sampler, 0);
        struct mini_batch batch;
        uint32_t nodes = 0;
        request.part = clusters[i];
        request.part_count = count[i];
        request.wants_degree = request.wants_weight_sum = true;
        request.edge_columns = 1U << EDGE_WEIGHT;
        assert_ok(sampler->draw(f.sampler, &request, &batch, &err), &err);
        assert_int_equal(batch.form, BATCH_SUBGRAPH);
        assert_null(batch.edge_factor);
        for (uint32_t v = 0; v < FIXTURE_NODES; v++)
            nodes += is_in(v, clusters[i], count[i]);
        assert_int_equal(batch.node_count, nodes);
        for (uint32_t k = 0; k < nodes; k++) {
            const uint32_t v = batch.node[k];
            uint32_t expected = 0;
            double weights = 1;
            assert_true(is_in(v, clusters[i], count[i]));
            assert_int_equal(k < batch.seed_count, f.is_training[0] >> v & 1);
            for (uint32_t u = 0; u < FIXTURE_NODES; u++)
                if (f.linked[v][u] && is_in(u, clusters[i], count[i])) {
                    expected++;
                    weights += 1 + (u + v) % 5;
                }
            assert_int_equal(batch.row_start[k + 1] - batch.row_start[k], expected);
            assert_int_equal(batch.degree[k], expected); /* degrees are those of the batch */
            assert_true(fabs((double)batch.weight_sum[k] - weights) < 1e-5);
            for (uint32_t e = batch.row_start[k]; e < batch.row_start[k + 1]; e++) {
                const uint32_t u = batch.node[batch.neighbor[e]];
                assert_true(f.linked[v][u]);
                assert_true(((const float *)batch.columns.data[EDGE_WEIGHT])[e] ==
                            1 + (float)((u + v) % 5));
            }
        }
    }
    sampler_fixture_close(&f);
}

static void clusters_without_training_nodes_teach_nothing(void **state)
{
    (void)state;
    static const uint64_t none[1] = {0};
    static const uint32_t cluster[] = {1};
    const struct sampler *sampler = sampler_of(SAMPLER_CLUSTER_GCN);
    struct sampler_fixture f;
    struct mini_batch batch;
    struct error err = {0};
    sampler_fixture_open_parts(&f, book, 3);
    struct neighbor_request request = sampler_fixture_request(&f, sampler, 0);
    request.part = cluster;
    request.part_count = 1;
    assert_ok(sampler->draw(f.sampler, &request, &batch, &err), &err);
    assert_null(batch.seed_weight);
    request.graph.is_training = none;
    assert_ok(sampler->draw(f.sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.seed_count, 1);
    assert_true(batch.seed_weight[0] == 0);
    assert_int_equal(batch.node_count, book[2] - book[1]);
    sampler_fixture_close(&f);
}

static void clusters_without_nodes_teach_nothing(void **state)
{
    (void)state;
    static const uint32_t with_empty[] = {0, 9, 9, FIXTURE_NODES}, cluster[] = {1};
    const struct sampler *sampler = sampler_of(SAMPLER_CLUSTER_GCN);
    struct sampler_fixture f;
    struct mini_batch batch;
    struct error err = {0};
    sampler_fixture_open_parts(&f, with_empty, 3);
    struct neighbor_request request = sampler_fixture_request(&f, sampler, 0);
    request.part = cluster;
    request.part_count = 1;
    assert_ok(sampler->draw(f.sampler, &request, &batch, &err), &err);
    assert_int_equal(batch.seed_count, 1);
    assert_int_equal(batch.node_count, 1);
    assert_true(batch.seed_weight[0] == 0);
    sampler_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_its_clusters_with_all_edges_among_them),
        cmocka_unit_test(clusters_without_training_nodes_teach_nothing),
        cmocka_unit_test(clusters_without_nodes_teach_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
