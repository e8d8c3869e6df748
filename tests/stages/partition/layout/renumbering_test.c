#include "common/base/memory.h"
#include "stages/partition/layout/renumbering.h"

#include "tests/support/random_edges.h"
#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { NODES = 90, EDGES = 500, PARTS = 5 };

static void parts_own_ranges_in_dataset_order_at_first(void **state)
{
    (void)state;
    static const uint32_t part[] = {2, 0, 2, 0, 3};
    static const uint32_t book[] = {0, 2, 2, 4, 5}, back[] = {1, 3, 0, 2, 4},
                          to[] = {2, 0, 3, 1, 4};
    struct error err = {0};
    struct renumbering r;
    assert_ok(renumbering_init(&r, part, 5, 4, &err), &err);
    assert_memory_equal(r.book, book, sizeof book);
    assert_memory_equal(r.to_dataset, back, sizeof back);
    assert_memory_equal(r.to_partition, to, sizeof to);
    renumbering_release(&r);
}

static void breadth_first_goes_from_hubs_along_in_edges(void **state)
{
    (void)state;
    /* Nodes 10 .. 15: the row of 12 is the longest and has 11, 14 and nodes outside; 14 has 10; 13
     * and 15 remain. */
    static const uint64_t row_start[] = {0, 0, 1, 5, 5, 7, 8};
    static const uint32_t neighbor[] = {12, 3, 11, 14, 40, 9, 10, 15};
    static const uint32_t expected[] = {2, 1, 4, 0, 5, 3};
    const struct topology_arrays part = {.first_node = 10,
                                         .node_count = 6,
                                         .edge_count = 8,
                                         .row_start = row_start,
                                         .neighbor = neighbor};
    struct error err = {0};
    uint32_t order[6];
    assert_ok(breadth_first_order(&part, order, &err), &err);
    assert_memory_equal(order, expected, sizeof order);
}

static void make_dataset(struct store *store, struct dataset_schema *schema, uint32_t *in_degree)
{
    static uint32_t source[EDGES], target[EDGES];
    struct error err = {0};
    random_edges_fill(5, NODES, EDGES, source, target);
    memset(in_degree, 0, NODES * sizeof *in_degree);
    for (uint32_t e = 0; e < EDGES; e++)
        in_degree[target[e]]++;
    const struct small_dataset dataset = {.id = "order-1",
                                          .name = "order",
                                          .node_count = NODES,
                                          .edge_count = EDGES,
                                          .source = source,
                                          .target = target,
                                          .nodes_per_chunk = 20};
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, "order-1", schema, &err), &err);
}

static void ordering_keeps_parts_and_does_not_depend_on_the_budget(void **state)
{
    struct temp_store *t = *state;
    static uint32_t in_degree[NODES], part[NODES], first[NODES];
    struct dataset_schema schema;
    make_dataset(t->store, &schema, in_degree);
    for (uint32_t v = 0; v < NODES; v++)
        part[v] = v % PARTS;
    static const uint64_t budgets[] = {1 << 20, 1500, 1000};
    for (size_t b = 0; b < 3; b++) {
        struct renumbering r;
        assert_ok(renumbering_init(&r, part, NODES, PARTS, &t->err), &t->err);
        const struct numbering numbering = renumbering_view(&r);
        const struct part_rows_source source = {.store = t->store,
                                                .schema = &schema,
                                                .numbering = &numbering,
                                                .in_degree = in_degree,
                                                .bare = true,
                                                .budget_bytes = budgets[b]};
        assert_ok(renumbering_order(&r, &source, &t->err), &t->err);
        for (uint32_t v = 0; v < NODES; v++) {
            assert_int_equal(r.to_dataset[r.to_partition[v]], v);
            assert_in_range(r.to_partition[v], r.book[part[v]], r.book[part[v] + 1] - 1);
        }
        if (b == 0)
            memcpy(first, r.to_dataset, sizeof first);
        assert_memory_equal(r.to_dataset, first, sizeof first);
        for (int p = 0; p < PARTS; p++) /* the hub of a part comes first */
            for (uint32_t i = r.book[p]; i < r.book[p + 1]; i++)
                assert_true(in_degree[r.to_dataset[i]] <= in_degree[r.to_dataset[r.book[p]]]);
        renumbering_release(&r);
    }
}

static void no_memory_is_reported_and_nothing_leaks(void **state)
{
    struct temp_store *t = *state;
    static uint32_t in_degree[NODES], part[NODES];
    struct dataset_schema schema;
    make_dataset(t->store, &schema, in_degree);
    const long before = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc == ERROR_NO_MEMORY; n++) {
        struct renumbering r;
        memory_fail_after(n);
        rc = renumbering_init(&r, part, NODES, 1, &t->err);
        const struct numbering numbering = renumbering_view(&r);
        const struct part_rows_source source = {.store = t->store,
                                                .schema = &schema,
                                                .numbering = &numbering,
                                                .in_degree = in_degree,
                                                .bare = true,
                                                .budget_bytes = 1 << 20};
        if (rc == ERROR_NONE)
            rc = renumbering_order(&r, &source, &t->err);
        renumbering_release(&r);
        assert_int_equal(memory_live_blocks(), before);
    }
    memory_fail_after(-1);
    assert_ok(rc, &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_own_ranges_in_dataset_order_at_first),
        cmocka_unit_test(breadth_first_goes_from_hubs_along_in_edges),
        test_with_store(ordering_keeps_parts_and_does_not_depend_on_the_budget),
        test_with_store(no_memory_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
