#include "common/base/memory.h"
#include "stages/partition/layout/part_rows.h"
#include "stages/partition/layout/renumbering.h"
#include "store/objects/keys.h"

#include "tests/support/edge_values.h"
#include "tests/support/random_edges.h"
#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { NODES = 60, EDGES = 400, PARTS = 7 };

static uint32_t source_node[EDGES], target_node[EDGES], in_degree[NODES], part_of[NODES];
static float weight[EDGES];
static int64_t edge_time[EDGES];
static uint16_t edge_type[EDGES];

/* Makes a directed graph with repeats, weights, times and types, in seven parts in the order of the
 * dataset. */
static void make_dataset(struct store *store, struct dataset_schema *schema,
                         struct renumbering *renumbering)
{
    struct error err = {0};
    random_edges_fill(11, NODES, EDGES, source_node, target_node);
    memset(in_degree, 0, sizeof in_degree);
    for (uint32_t e = 0; e < EDGES; e++) {
        in_degree[target_node[e]]++;
        weight[e] = (float)e;
        edge_time[e] = e - 25;
        edge_type[e] = e % 2;
    }
    for (uint32_t v = 0; v < NODES; v++)
        part_of[v] = v * 5 % PARTS;
    const struct small_dataset dataset = {.id = "rows-1",
                                          .name = "rows",
                                          .node_count = NODES,
                                          .edge_count = EDGES,
                                          .source = source_node,
                                          .target = target_node,
                                          .columns = edge_values(weight, edge_time, edge_type),
                                          .nodes_per_chunk = 9};
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, "rows-1", schema, &err), &err);
    assert_ok(renumbering_init(renumbering, part_of, NODES, PARTS, &err), &err);
}

/* Checks that each edge of the dataset is once in the row of its target, with its columns. */
static void check_part(const struct topology_arrays *part, const struct numbering *numbering,
                       bool *found)
{
    const float *part_weight = part->columns.data[EDGE_WEIGHT];
    const int64_t *part_time = part->columns.data[EDGE_TIME];
    const uint16_t *part_type = part->columns.data[EDGE_TYPE];
    assert_int_equal(part->row_start[0], 0);
    assert_int_equal(part->row_start[part->node_count], part->edge_count);
    for (uint32_t row = 0; row < part->node_count; row++)
        for (uint64_t i = part->row_start[row]; i < part->row_start[row + 1]; i++) {
            const uint32_t e = (uint32_t)part_weight[i];
            assert_false(found[e]);
            found[e] = true;
            assert_int_equal(numbering->to_dataset[part->neighbor[i]], source_node[e]);
            assert_int_equal(numbering->to_dataset[part->first_node + row], target_node[e]);
            assert_true(part_time[i] == edge_time[e]);
            assert_int_equal(part_type[i], edge_type[e]);
            if (i == part->row_start[row])
                continue;
            assert_true(part->neighbor[i - 1] <= part->neighbor[i]);
            if (part->neighbor[i - 1] == part->neighbor[i]) /* repeats keep their order */
                assert_true(part_weight[i - 1] < part_weight[i]);
        }
}

static enum error_code sort_all(struct part_rows *rows, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < rows->part_count && rc == ERROR_NONE; i++)
        rc = part_rows_sort(rows, rows->first_part + i, err);
    return rc;
}

static void every_budget_gathers_each_edge_once_with_what_belongs_to_it(void **state)
{
    struct temp_store *t = *state;
    struct dataset_schema schema;
    struct renumbering renumbering;
    make_dataset(t->store, &schema, &renumbering);
    const struct numbering numbering = renumbering_view(&renumbering);
    static const uint64_t budgets[] = {2000, 3000, 6000, 1 << 20};
    for (size_t b = 0; b < 4; b++) {
        const struct part_rows_source source = {.store = t->store,
                                                .schema = &schema,
                                                .numbering = &numbering,
                                                .in_degree = in_degree,
                                                .budget_bytes = budgets[b]};
        bool found[EDGES] = {false};
        int groups = 0;
        for (int p = 0; p < PARTS; groups++) {
            struct part_rows rows;
            assert_ok(part_rows_gather(&source, p, &rows, &t->err), &t->err);
            assert_ok(sort_all(&rows, &t->err), &t->err);
            for (int i = 0; i < rows.part_count; i++, p++) {
                const struct topology_arrays part = part_rows_arrays(&rows, p);
                assert_int_equal(part.first_node, numbering.book[p]);
                check_part(&part, &numbering, found);
            }
            part_rows_release(&rows);
        }
        for (uint32_t e = 0; e < EDGES; e++)
            assert_true(found[e]);
        assert_int_equal(groups == 1, budgets[b] == 1 << 20);
    }
    renumbering_release(&renumbering);
}

static void a_part_that_exceeds_the_budget_is_named(void **state)
{
    struct temp_store *t = *state;
    struct dataset_schema schema;
    struct renumbering renumbering;
    struct part_rows rows;
    make_dataset(t->store, &schema, &renumbering);
    const struct numbering numbering = renumbering_view(&renumbering);
    const struct part_rows_source source = {.store = t->store,
                                            .schema = &schema,
                                            .numbering = &numbering,
                                            .in_degree = in_degree,
                                            .budget_bytes = 100};
    assert_fails(part_rows_gather(&source, 2, &rows, &t->err), ERROR_NO_MEMORY, "part 2 with ",
                 &t->err);
    assert_non_null(strstr(t->err.message, "give more --memory or make more parts"));
    renumbering_release(&renumbering);
}

static void no_memory_is_reported_and_nothing_leaks(void **state)
{
    struct temp_store *t = *state;
    struct dataset_schema schema;
    struct renumbering renumbering;
    make_dataset(t->store, &schema, &renumbering);
    const struct numbering numbering = renumbering_view(&renumbering);
    const struct part_rows_source source = {.store = t->store,
                                            .schema = &schema,
                                            .numbering = &numbering,
                                            .in_degree = in_degree,
                                            .budget_bytes = 1 << 20};
    const long before = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    long n = 0;
    for (; rc == ERROR_NO_MEMORY; n++) {
        struct part_rows rows;
        memory_fail_after(n);
        rc = part_rows_gather(&source, 0, &rows, &t->err);
        if (rc == ERROR_NONE)
            rc = sort_all(&rows, &t->err);
        part_rows_release(&rows);
        assert_int_equal(memory_live_blocks(), before);
    }
    memory_fail_after(-1);
    assert_ok(rc, &t->err);
    assert_true(n > 9);
    renumbering_release(&renumbering);
}

static void chunks_that_do_not_add_up_are_refused(void **state)
{
    struct temp_store *t = *state;
    struct dataset_schema schema;
    struct renumbering renumbering;
    struct part_rows rows;
    make_dataset(t->store, &schema, &renumbering);
    const struct numbering numbering = renumbering_view(&renumbering);
    const struct part_rows_source source = {.store = t->store,
                                            .schema = &schema,
                                            .numbering = &numbering,
                                            .in_degree = in_degree,
                                            .budget_bytes = 1 << 20};
    schema.edge_count++;
    assert_fails(part_rows_gather(&source, 0, &rows, &t->err), ERROR_CORRUPT,
                 "the edge chunks hold 60 nodes and 400 edges, expected 60 and 401", &t->err);
    schema.edge_count--;
    schema.edge_width.of[EDGE_TIME] = 0;
    assert_fails(part_rows_gather(&source, 0, &rows, &t->err), ERROR_CORRUPT,
                 "dataset/rows-1/edges/0000000000: edge columns are not", &t->err);
    schema.edge_width.of[EDGE_TIME] = 1;
    schema.node_count = 20;
    assert_fails(part_rows_gather(&source, 0, &rows, &t->err), ERROR_CORRUPT,
                 "dataset/rows-1/edges/00000000", &t->err);
    schema.node_count = NODES;
    in_degree[9]++;
    assert_fails(part_rows_gather(&source, 0, &rows, &t->err), ERROR_CORRUPT,
                 "when they were counted", &t->err);
    in_degree[9]--;
    struct error err = {0};
    assert_ok(store_remove(t->store, key_edge_chunk("rows-1", 3).text, &err), &err);
    assert_fails(part_rows_gather(&source, 0, &rows, &t->err), ERROR_NOT_FOUND,
                 "dataset/rows-1/edges/0000000003", &t->err);
    renumbering_release(&renumbering);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(every_budget_gathers_each_edge_once_with_what_belongs_to_it),
        test_with_store(a_part_that_exceeds_the_budget_is_named),
        test_with_store(no_memory_is_reported_and_nothing_leaks),
        test_with_store(chunks_that_do_not_add_up_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
