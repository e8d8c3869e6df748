#include "stages/partition/layout/neighbor_walk.h"

#include "tests/support/random_edges.h"
#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum { NODES = 60, EDGES = 400 };

static uint32_t source_node[EDGES], target_node[EDGES];

/* linked[a][b]: the number of edges from a to b that were found, less the number in the graph. */
struct found {
    int source[NODES][NODES], target[NODES][NODES];
    uint32_t next;
    int blocks;
};

static enum error_code find(void *context, const struct neighbor_block *block, struct error *err)
{
    struct found *found = context;
    (void)err;
    assert_int_equal(block->first_node, found->next);
    for (uint32_t row = 0; row < block->node_count; row++) {
        const uint32_t node = block->first_node + row;
        for (uint64_t e = block->source_start[row]; e < block->source_start[row + 1]; e++)
            found->source[block->source[e]][node]++;
        for (uint64_t e = block->target_start[row]; e < block->target_start[row + 1]; e++)
            found->target[node][block->target[e - block->target_start[0]]]++;
    }
    found->next += block->node_count;
    found->blocks++;
    return ERROR_NONE;
}

static struct dataset_schema make_dataset(struct store *store)
{
    struct error err = {0};
    struct dataset_schema schema;
    random_edges_fill(5, NODES, EDGES, source_node, target_node);
    const struct small_dataset dataset = {.id = "walk-1",
                                          .name = "walk",
                                          .node_count = NODES,
                                          .edge_count = EDGES,
                                          .source = source_node,
                                          .target = target_node,
                                          .nodes_per_chunk = 9};
    small_dataset_write(store, &dataset);
    assert_ok(dataset_schema_get(store, "walk-1", &schema, &err), &err);
    return schema;
}

static void check(struct neighbor_walk *walk)
{
    static struct found found;
    struct error err = {0};
    found = (struct found){.next = 0};
    assert_ok(neighbor_walk_pass(walk, find, &found, &err), &err);
    assert_int_equal(found.next, NODES);
    assert_int_equal(found.blocks, (NODES + 8) / 9);
    for (uint32_t e = 0; e < EDGES; e++) {
        found.source[source_node[e]][target_node[e]]--;
        found.target[source_node[e]][target_node[e]]--;
    }
    for (int a = 0; a < NODES; a++)
        for (int b = 0; b < NODES; b++) {
            assert_int_equal(found.source[a][b], 0);
            assert_int_equal(found.target[a][b], 0);
        }
}

static void both_ends_of_every_edge_are_met_within_any_budget(void **state)
{
    struct temp_store *t = *state;
    const struct dataset_schema schema = make_dataset(t->store);
    /* Budgets: all at once; windows of half of the nodes, of some, of one. */
    static const uint64_t budgets[] = {1 << 20, 1600, 800, 400};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        struct neighbor_walk walk;
        assert_ok(neighbor_walk_open(&walk, t->store, &schema, budgets[b], &t->err), &t->err);
        assert_int_equal(walk.file >= 0, b > 0);
        check(&walk);
        check(&walk);
        neighbor_walk_close(&walk);
    }
}

static void a_block_that_exceeds_the_budget_is_named(void **state)
{
    struct temp_store *t = *state;
    const struct dataset_schema schema = make_dataset(t->store);
    struct neighbor_walk walk;
    assert_fails(neighbor_walk_open(&walk, t->store, &schema, 8, &t->err), ERROR_NO_MEMORY,
                 "the edges from nodes 0 to 0 take", &t->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(both_ends_of_every_edge_are_met_within_any_budget),
        test_with_store(a_block_that_exceeds_the_budget_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
