/* The quality of parts by what was read, for four nodes whose numbers can be counted by hand. */
#include "stages/partition/check/load_quality.h"

#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static void edges_count_as_often_as_they_were_sampled(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t source[] = {0, 0, 1, 3}, target[] = {1, 2, 2, 2};
    /* One edge ends at node 1 and was sampled 100 times; three end at node 2 and were sampled 10
     * times each. */
    uint32_t reads[] = {4, 1, 3, 0};
    uint32_t edge_cost[] = {LOAD_LEAST, LOAD_LEAST + 100, LOAD_LEAST + 10, LOAD_LEAST};
    const struct measured_loads loads = {.load = reads, .edge_cost = edge_cost, .load_sum = 8};
    static const struct {
        uint32_t part[4];
        double cut_share;
        uint64_t least, most;
        double efficiency;
    } cases[] = {
        {{0, 0, 1, 1}, 20.0 / 130, 3, 5, 0.8},  /* cut: 0 -> 2, 1 -> 2 */
        {{0, 1, 1, 0}, 120.0 / 130, 4, 4, 1.0}, /* cut: 0 -> 1, 0 -> 2, 3 -> 2 */
        {{0, 0, 0, 1}, 10.0 / 130, 0, 8, 0.5},
    };
    struct dataset_schema schema;
    const struct small_dataset dataset = {.id = "four-1",
                                          .name = "four",
                                          .node_count = 4,
                                          .edge_count = 4,
                                          .source = source,
                                          .target = target,
                                          .nodes_per_chunk = 2};
    small_dataset_write(t->store, &dataset);
    assert_ok(dataset_schema_get(t->store, "four-1", &schema, &t->err), &t->err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct load_quality found;
        assert_ok(
            load_quality_measure(t->store, &schema, &loads, cases[i].part, 2, &found, &t->err),
            &t->err);
        assert_float_equal(found.cut_share, cases[i].cut_share, 1e-12);
        assert_int_equal(found.reads.least, cases[i].least);
        assert_int_equal(found.reads.most, cases[i].most);
        assert_float_equal(found.efficiency, cases[i].efficiency, 1e-12);
    }
    for (int v = 0; v < 4; v++)
        edge_cost[v] = LOAD_LEAST; /* nothing was sampled */
    struct load_quality found;
    assert_ok(load_quality_measure(t->store, &schema, &loads, cases[0].part, 2, &found, &t->err),
              &t->err);
    assert_true(found.cut_share == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(edges_count_as_often_as_they_were_sampled, temp_store_setup,
                                        temp_store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
