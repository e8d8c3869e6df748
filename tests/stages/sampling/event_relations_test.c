/* Tests that held-out edges stand beside those of training in the rows of their relation and of its
 * declared reverse, and that an error names what is wrong. */
#include "stages/sampling/rows/event_history.h"
#include "stages/sampling/rows/graph_row.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"
#include "tests/support/typed_dataset.h"

#include <string.h>

enum { WRITES, CITES, IN, REV_WRITES };
enum { HELD = 3 };

static struct typed_edges edges;
static const uint32_t valid_source[HELD] = {5, 70, 5}, valid_target[HELD] = {61, 90, 61};
static const uint16_t valid_type[HELD] = {WRITES, CITES, WRITES};
static const int64_t valid_time[HELD] = {1000, 1001, 1002};
static const uint32_t test_source[1] = {99}, test_target[1] = {TYPED_NODES - 1};
static const uint16_t test_type[1] = {IN};
static const int64_t test_time[1] = {1003};
static const float weight[HELD] = {0.5F, 0.25F, 2};

struct fixture {
    struct partition_book book;
    struct topology topology;
    struct edge_splits splits;
};

static void open_fixture(struct fixture *f, struct temp_store *t)
{
    typed_edges_fill(&edges);
    typed_topology_write(t->store, "p", &edges);
    *f = (struct fixture){.book = typed_book("p")};
    assert_ok(topology_open(t->store, &f->book, &f->topology, &t->err), &t->err);
    assert_ok(topology_open_parts(&f->topology, NULL, &t->err), &t->err);
    f->splits = (struct edge_splits){.count = {HELD, 1},
                                     .source = {valid_source, test_source},
                                     .target = {valid_target, test_target},
                                     .type = {valid_type, test_type},
                                     .is_timed = true,
                                     .time = {{.word = valid_time}, {.word = test_time}},
                                     .has_weights = true,
                                     .weight = {weight, weight}};
    memcpy(f->splits.view.key, "splits", sizeof "splits");
}

/* Counts the edges of a row from `source` at `time`, of which there is one at most. */
static uint32_t count(const struct topology *topology, uint32_t relation, uint32_t source,
                      uint32_t target, int64_t time)
{
    struct error err = {0};
    struct graph_row row;
    uint32_t found = 0;
    assert_ok(graph_row_of_relation(topology, relation, target, &row, &err), &err);
    for (uint32_t k = 0; k < row.length; k++) {
        uint32_t node = 0;
        assert_ok(graph_row_neighbor(topology, &row, k, &node, &err), &err);
        found += node == source && graph_row_time(topology, &row, k) == time;
    }
    return found;
}

static void held_out_edges_stand_in_their_relation_and_its_reverse(void **state)
{
    struct temp_store *t = *state;
    struct fixture f;
    struct joined_topology joined;
    open_fixture(&f, t);
    assert_ok(event_history_join(t->store, &f.book, &f.topology, &f.splits, &joined, &t->err),
              &t->err);
    assert_int_equal(topology_relations(&joined.topology), TYPED_RELATIONS);
    assert_int_equal(joined.topology.edge_count, TYPED_EDGES + 6); /* two have reverses */
    for (uint32_t i = 0; i < HELD; i++) {
        const uint32_t s = valid_source[i], d = valid_target[i];
        assert_int_equal(count(&joined.topology, valid_type[i], s, d, valid_time[i]), 1);
        if (valid_type[i] == WRITES)
            assert_int_equal(count(&joined.topology, REV_WRITES, d, s, valid_time[i]), 1);
    }
    assert_int_equal(count(&joined.topology, CITES, 90, 70, 1001), 0);
    assert_int_equal(count(&joined.topology, IN, 99, TYPED_NODES - 1, 1003), 1);
    for (uint32_t e = 0; e < TYPED_EDGES; e++)
        assert_true(count(&joined.topology, edges.relation[e], edges.source[e], edges.target[e],
                          edges.time[e]) == 1);
    joined_topology_close(&joined);
    topology_close(&f.topology);
}

static void wrong_edges_are_named(void **state)
{
    static const uint16_t unknown[HELD] = {WRITES, TYPED_RELATIONS, WRITES};
    static const uint16_t other[HELD] = {WRITES, IN, WRITES};
    struct temp_store *t = *state;
    struct fixture f;
    struct joined_topology joined;
    open_fixture(&f, t);
    f.splits.type[HELD_OUT_VALID] = unknown;
    assert_fails(event_history_join(t->store, &f.book, &f.topology, &f.splits, &joined, &t->err),
                 ERROR_CORRUPT, "splits: valid edge 1 is of relation 4, expected one of 4",
                 &t->err);
    f.splits.type[HELD_OUT_VALID] = other;
    assert_fails(event_history_join(t->store, &f.book, &f.topology, &f.splits, &joined, &t->err),
                 ERROR_CORRUPT, "to 90: expected a node that relation 2 ends in", &t->err);
    f.splits.type[HELD_OUT_VALID] = f.splits.type[HELD_OUT_TEST] = NULL;
    assert_fails(event_history_join(t->store, &f.book, &f.topology, &f.splits, &joined, &t->err),
                 ERROR_CORRUPT, "a topology with the same types", &t->err);
    topology_close(&f.topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(held_out_edges_stand_in_their_relation_and_its_reverse),
        test_with_store(wrong_edges_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
