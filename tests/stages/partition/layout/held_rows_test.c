/* Rows of the parts of a vertex cut: each edge is once in the part that it was given, in order,
 * with its columns. */
#include "common/base/memory.h"
#include "stages/partition/layout/held_rows.h"
#include "stages/partition/layout/renumbering.h"

#include "tests/support/edge_values.h"
#include "tests/support/random_edges.h"
#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"
#include "tests/support/typed_dataset.h"

enum { NODES = 60, EDGES = 400, PARTS = 7 };

static uint32_t source_node[EDGES], target_node[EDGES], master[NODES];
static float weight[EDGES];
static uint16_t edge_part[EDGES]; /* in the order of the dataset's rows */

/* Makes a directed graph with repeats. The weight of an edge is its number. Part 3 gets no edge. */
static void make_dataset(struct store *store, struct dataset_schema *schema,
                         struct renumbering *renumbering)
{
    struct error err = {0};
    random_edges_fill(11, NODES, EDGES, source_node, target_node);
    for (uint32_t e = 0; e < EDGES; e++) {
        weight[e] = (float)e;
        edge_part[e] = (uint16_t)(e * 31 % PARTS == 3 ? 4 : e * 31 % PARTS);
    }
    for (uint32_t v = 0; v < NODES; v++)
        master[v] = v * 5 % PARTS;
    const struct small_dataset dataset = {.id = "held-1",
                                          .name = "held",
                                          .node_count = NODES,
                                          .edge_count = EDGES,
                                          .source = source_node,
                                          .target = target_node,
                                          .columns = edge_values(weight, NULL, NULL),
                                          .nodes_per_chunk = 9};
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, "held-1", schema, &err), &err);
    assert_ok(renumbering_init(renumbering, master, NODES, PARTS, &err), &err);
}

static void check_rows(const struct topology_held *held, const struct numbering *numbering,
                       bool *found)
{
    const float *of = held->columns.data[EDGE_WEIGHT];
    for (uint32_t row = 0; row < held->row_count; row++) {
        assert_true(row == 0 || held->row_node[row] > held->row_node[row - 1]);
        assert_true(held->row_start[row] < held->row_start[row + 1]);
        for (uint64_t i = held->row_start[row]; i < held->row_start[row + 1]; i++) {
            const uint32_t e = (uint32_t)of[i];
            assert_false(found[e]);
            found[e] = true;
            assert_int_equal(numbering->to_dataset[held->neighbor[i]], source_node[e]);
            assert_int_equal(numbering->to_dataset[held->row_node[row]], target_node[e]);
            if (i == held->row_start[row])
                continue;
            assert_true(held->neighbor[i - 1] <= held->neighbor[i]);
            if (held->neighbor[i - 1] == held->neighbor[i])
                assert_true(of[i - 1] < of[i]);
        }
    }
}

static void each_edge_is_in_its_part_once(void **state)
{
    struct temp_store *t = *state;
    struct dataset_schema schema;
    struct renumbering renumbering;
    bool found[EDGES] = {false};
    make_dataset(t->store, &schema, &renumbering);
    const struct numbering numbering = renumbering_view(&renumbering);
    for (int bare = 0; bare < 2; bare++)
        for (int p = 0; p < PARTS; p++) {
            const struct held_rows_source source = {.store = t->store,
                                                    .schema = &schema,
                                                    .numbering = &numbering,
                                                    .edge_part = edge_part,
                                                    .bare = bare,
                                                    .budget_bytes = 1 << 20};
            struct held_rows rows;
            uint64_t expected = 0;
            for (uint32_t e = 0; e < EDGES; e++)
                expected += edge_part[e] == p;
            assert_ok(held_rows_gather(&source, p, &rows, &t->err), &t->err);
            const struct topology_held held = rows.relation[0];
            assert_int_equal(rows.relation_count, 1);
            assert_int_equal(held.edge_count, expected);
            assert_int_equal(held.row_start[held.row_count], expected);
            assert_int_equal(held.columns.width.of[EDGE_WEIGHT], !bare);
            if (!bare)
                check_rows(&held, &numbering, found);
            held_rows_release(&rows);
        }
    for (uint32_t e = 0; e < EDGES; e++)
        assert_true(found[e]);
    renumbering_release(&renumbering);
}

/* The rows of relation `r`, whose edges have their number as weight. Each edge was in `part`. */
static void check_relation(const struct typed_edges *edges, const struct numbering *numbering,
                           const struct topology_held *held, uint32_t r, int part, bool *found)
{
    const float *of = held->columns.data[EDGE_WEIGHT];
    assert_int_equal(held->columns.width.of[EDGE_TYPE], 0);
    assert_int_equal(held->row_start[held->row_count], held->edge_count);
    for (uint32_t row = 0; row < held->row_count; row++) {
        assert_true(row == 0 || held->row_node[row] > held->row_node[row - 1]);
        assert_true(held->row_start[row] < held->row_start[row + 1]);
        for (uint64_t i = held->row_start[row]; i < held->row_start[row + 1]; i++) {
            const uint32_t e = (uint32_t)of[i];
            assert_false(found[e]);
            found[e] = true;
            assert_int_equal(e * 31 % PARTS, part);
            assert_int_equal(edges->relation[e], r);
            assert_int_equal(numbering->to_dataset[held->neighbor[i]], edges->source[e]);
            assert_int_equal(numbering->to_dataset[held->row_node[row]], edges->target[e]);
            assert_true(i == held->row_start[row] || held->neighbor[i - 1] <= held->neighbor[i]);
        }
    }
}

static uint64_t edges_to(const struct typed_edges *edges, uint32_t r, int part)
{
    uint64_t count = 0;
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        count += edges->relation[e] == r && edges->target[e] * 5 % PARTS == (uint32_t)part;
    return count;
}

static void each_relation_has_rows_of_its_own(void **state)
{
    static struct typed_edges edges;
    static uint16_t part_of_edge[TYPED_EDGES];
    static uint32_t part_of_node[TYPED_NODES];
    static bool found[TYPED_EDGES];
    struct temp_store *t = *state;
    struct dataset_schema schema;
    struct renumbering renumbering;
    typed_edges_fill(&edges);
    typed_dataset_write(t->store);
    assert_ok(dataset_schema_get(t->store, "typed-1", &schema, &t->err), &t->err);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        part_of_edge[e] = (uint16_t)(e * 31 % PARTS);
    for (uint32_t v = 0; v < TYPED_NODES; v++)
        part_of_node[v] = v * 5 % PARTS;
    assert_ok(renumbering_init(&renumbering, part_of_node, TYPED_NODES, PARTS, &t->err), &t->err);
    assert_ok(renumbering_by_type(&renumbering, &schema, &t->err), &t->err);
    const struct numbering numbering = renumbering_view(&renumbering);
    const struct type_ranges ranges = numbering_ranges(&numbering);
    const struct held_rows_source source = {.store = t->store,
                                            .schema = &schema,
                                            .numbering = &numbering,
                                            .edge_part = part_of_edge,
                                            .budget_bytes = 1 << 20};
    for (int p = 0; p < PARTS; p++) {
        struct held_rows rows;
        assert_ok(held_rows_gather(&source, p, &rows, &t->err), &t->err);
        assert_int_equal(rows.relation_count, TYPED_RELATIONS);
        for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
            const uint32_t type = schema.edge_type[r].target_type;
            const struct topology_held *held = &rows.relation[r];
            check_relation(&edges, &numbering, held, r, p, found);
            assert_int_equal(held->own_edge_count, edges_to(&edges, r, p));
            assert_int_equal(held->first_node, type_ranges_first(&ranges, p, type));
            assert_int_equal(held->node_count, type_ranges_count(&ranges, p, type));
        }
        held_rows_release(&rows);
    }
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        assert_true(found[e]);
    renumbering_release(&renumbering);
}

static void a_part_beyond_the_budget_is_named(void **state)
{
    struct temp_store *t = *state;
    struct dataset_schema schema;
    struct renumbering renumbering;
    struct held_rows rows;
    make_dataset(t->store, &schema, &renumbering);
    const struct numbering numbering = renumbering_view(&renumbering);
    const struct held_rows_source source = {.store = t->store,
                                            .schema = &schema,
                                            .numbering = &numbering,
                                            .edge_part = edge_part,
                                            .budget_bytes = 2000};
    assert_fails(held_rows_gather(&source, 2, &rows, &t->err), ERROR_NO_MEMORY,
                 "part 2 of a vertex cut with", &t->err);
    enum error_code rc = ERROR_NO_MEMORY;
    struct held_rows_source enough = source;
    enough.budget_bytes = 1 << 20;
    const long blocks = memory_live_blocks();
    for (int after = 0; rc != ERROR_NONE; after++) {
        memory_fail_after(after);
        rc = held_rows_gather(&enough, 2, &rows, &t->err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_true(rc == ERROR_NONE || memory_live_blocks() == blocks);
    }
    held_rows_release(&rows);
    renumbering_release(&renumbering);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(each_edge_is_in_its_part_once),
        test_with_store(each_relation_has_rows_of_its_own),
        test_with_store(a_part_beyond_the_budget_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
