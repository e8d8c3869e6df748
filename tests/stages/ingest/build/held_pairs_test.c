/* Tests links between the same two nodes, both ways or at several times: which are held out
 * together, and how each is counted. */
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/edge_splits.h"

#include "tests/stages/ingest/build/builder_fixture.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 80, MOST = 4000 };

static int64_t source[MOST], target[MOST];
static uint16_t type[MOST];
static double when[MOST];
static size_t count;

static struct dataset_schema schema;
static struct dataset_summary summary;
static uint32_t rows[NODES][NODES];                 /* [source][target] stored edges */
static uint32_t held[HELD_OUT_COUNT][NODES][NODES]; /* [split][source][target] examples */

static void add(int64_t a, int64_t b, uint16_t relation, double time)
{
    must(count < MOST);
    source[count] = a;
    target[count] = b;
    type[count] = relation;
    when[count++] = time;
}

static void choose(const char *split)
{
    fixture.settings.ingest.task = TASK_LINK_PREDICTION;
    fixture.settings.ingest.hold_out_reverse = HOLD_OUT_REVERSE_AUTO;
    fixture.settings.ingest.relations = false;
    fixture.settings.ingest.duplicates = EDGES_REMOVE;
    (void)snprintf(fixture.settings.ingest.edge_split, sizeof fixture.settings.ingest.edge_split,
                   "%s", split);
    count = 0;
}

static void read_rows(const char *id)
{
    struct error err = {0};
    memset(rows, 0, sizeof rows);
    for (uint64_t c = 0; c < schema.edge_chunk_count; c++) {
        struct edge_chunk chunk;
        assert_ok(edge_chunk_get(fixture.store, id, (int64_t)c, &chunk, &err), &err);
        for (uint32_t row = 0; row < chunk.node_count; row++)
            for (uint64_t e = chunk.row_start[row]; e < chunk.row_start[row + 1]; e++)
                rows[chunk.neighbor[e]][chunk.first_node + row]++;
        store_release_record(&chunk.view);
    }
}

static void read_held(const char *id)
{
    struct error err = {0};
    struct edge_splits splits;
    memset(held, 0, sizeof held);
    assert_ok(edge_splits_get(fixture.store, key_dataset(id, "edge_splits").text, id, NODES,
                              &splits, &err),
              &err);
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits.count[s]; i++)
            held[s][splits.source[s][i]][splits.target[s][i]]++;
    store_release_record(&splits.view);
}

/* Makes the dataset of the collected edges and reads it back, the schema from the store. */
static void make(const struct edge_type *relation, uint32_t relations, bool with_times)
{
    static int number;
    char id[32];
    struct error err = {0};
    const struct node_type node = {.name = "n", .node_count = NODES};
    struct edge_piece piece = {
        .where = "edges.csv", .first_line = 2, .count = count, .source = source, .target = target};
    (void)snprintf(id, sizeof id, "d-%d", number++);
    fixture.settings.ingest.relations = relation != NULL;
    fixture.summary = &summary;
    dataset_summary_release(&summary);
    struct dataset_builder *builder = start_nodes(id, NODES);
    if (relation) {
        assert_ok(dataset_builder_set_types(builder, &node, 1, relation, relations, &err), &err);
        piece.columns.width.of[EDGE_TYPE] = 1;
        piece.columns.data[EDGE_TYPE] = type;
    }
    if (with_times) {
        piece.columns.width.of[EDGE_TIME] = 1;
        piece.columns.data[EDGE_TIME] = when;
    }
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    assert_ok(dataset_schema_get(fixture.store, id, &schema, &err), &err);
    read_rows(id);
    read_held(id);
    fixture.summary = NULL;
}

static uint32_t held_of(int64_t a, int64_t b)
{
    return held[0][a][b] + held[1][a][b];
}

static uint64_t held_count(void)
{
    return (uint64_t)schema.valid_count + schema.test_count;
}

/* Makes 400 distinct pairs, of which `of_ten` in ten have an edge back of relation `back`. */
static void add_pairs(int of_ten, uint16_t back)
{
    for (int64_t i = 0; i < 400; i++) {
        const int64_t a = i % NODES, b = (a + 1 + i / NODES * 7) % NODES;
        add(a, b, 0, (double)i);
        if (i * 7 % 10 < of_ten)
            add(b, a, back, (double)i + 1000);
    }
}

/* Returns how many held-out edges have their reverse in training. */
static int leaks(void)
{
    int found = 0;
    for (size_t i = 0; i < count; i++)
        found += held_of(source[i], target[i]) && rows[target[i]][source[i]];
    return found;
}

static void expect_together(bool together)
{
    assert_int_equal(schema.pairs_together, together);
    assert_true(held_count() > 40);
    if (together)
        assert_int_equal(leaks(), 0);
    else
        assert_true(leaks() > 5);
    for (size_t i = 0; i < count; i++) /* each edge is in one place */
        assert_int_equal(held_of(source[i], target[i]) + rows[source[i]][target[i]], 1);
}

static void edges_back_are_held_out_with_the_edge(void **state)
{
    (void)state;
    static const char *const splits[] = {"random 70/10/20", "leave_one_out"};
    for (int split = 0; split < 2; split++)
        for (int of_ten = 3; of_ten <= 10; of_ten += 7) {
            choose(splits[split]);
            add_pairs(of_ten, 0);
            make(NULL, 0, false);
            assert_true(summary.back.is_known);
            expect_together(of_ten == 10);
            fixture.settings.ingest.hold_out_reverse = HOLD_OUT_REVERSE_ALWAYS;
            make(NULL, 0, false);
            expect_together(true);
            fixture.settings.ingest.hold_out_reverse = HOLD_OUT_REVERSE_NEVER;
            make(NULL, 0, false);
            expect_together(false);
            assert_int_equal(summary.overlap.back, leaks());
            assert_int_equal(summary.overlap.same, 0);
        }
}

/* Makes two relations that are each other's reverse under names that do not say so, one relation
 * that is listed both ways, and one that is neither. */
static void reverse_relations_are_found_by_content(void **state)
{
    (void)state;
    static const struct edge_type pair[] = {{"buys", 0, 0, 0}, {"bought_by", 0, 0, 0}};
    static const struct edge_type named[] = {{"buys", 0, 0, 0}, {"rev_buys", 0, 0, 0}};
    struct relation_reverses reverses;
    choose("random 70/10/20");
    add_pairs(9, 1);
    make(pair, 2, false);
    expect_together(true);
    dataset_reverses(&schema, &reverses);
    assert_int_equal(reverses.reverse[0], 1);
    assert_int_equal(reverses.reverse[1], 0);
    assert_true(relation_is_forward(&reverses, 1)); /* its edges are examples, too */
    choose("random 70/10/20");
    add_pairs(10, 0);
    make(pair, 1, false);
    expect_together(true);
    choose("random 70/10/20");
    add_pairs(3, 1);
    make(pair, 2, false);
    expect_together(true); /* most edges of the second relation have an edge back */
    choose("random 70/10/20");
    add_pairs(10, 1);
    make(named, 2, false);
    /* the reverse is held out with its edge, and is not listed */
    assert_false(schema.pairs_together);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(type[i]                      ? held_of(source[i], target[i])
                         : rows[source[i]][target[i]] ? held_of(source[i], target[i])
                                                      : 0,
                         0);
}

/* Makes each pair five times, the last three of them after the end of training. */
static void add_repeats(void)
{
    for (int64_t k = 0; k < 5; k++)
        for (int64_t i = 0; i < 60; i++)
            add(i, (i + 9) % NODES, 0, (double)(k * 60 + i));
}

static void repeated_interactions_are_examples_where_they_are_kept(void **state)
{
    (void)state;
    static const char *const splits[] = {"time 40/20/40", "random 50/25/25"};
    for (int split = 0; split < 2; split++) {
        choose(splits[split]);
        add_repeats();
        make(NULL, 0, true);
        uint64_t pairs = 0, edges = 0;
        for (size_t i = 0; i < count; i++)
            edges += split ? held_of(source[i], target[i]) > 0 : when[i] >= 120;
        for (int s = 0; s < HELD_OUT_COUNT; s++)
            for (int64_t a = 0; a < NODES; a++)
                pairs += held[s][a][(a + 9) % NODES] > 0;
        assert_int_equal(held_count(), pairs);
        assert_int_equal(summary.merged_repeats, edges - pairs);
        fixture.settings.ingest.duplicates = EDGES_KEEP;
        make(NULL, 0, true);
        assert_int_equal(held_count(), edges);
        assert_int_equal(summary.merged_repeats, 0);
        assert_int_equal(schema.edge_count + held_count(), count);
        if (split == 0) { /* all of them repeat a training edge */
            assert_int_equal(held_count(), 180);
            assert_int_equal(summary.overlap.same, 180);
        }
    }
}

/* Makes edges of node `from` in the order of time. */
static void add_list(int64_t from, const char *targets)
{
    for (int i = 0; targets[i]; i++)
        add(from, 40 + targets[i] - 'a', 0, i);
}

static int split_of(int64_t from, int to)
{
    const int64_t b = 40 + to - 'a';
    return held[HELD_OUT_TEST][from][b] ? 2 : held[HELD_OUT_VALID][from][b] ? 1 : 0;
}

static void leaving_one_out_holds_out_whole_pairs(void **state)
{
    (void)state;
    static const struct {
        const char *targets;
        char test, valid; /* 0: none */
    } cases[] = {
        {"abcd", 'd', 'c'}, {"abcda", 'd', 'c'}, {"abcdd", 'd', 'c'}, {"abcab", 0, 0},
        {"abacb", 'c', 0},  {"aab", 'b', 0},     {"abb", 'b', 0},     {"ab", 0, 0},
        {"abcb", 'c', 'b'}, {"aaaab", 'b', 0},
    };
    for (int keeps = 0; keeps < 2; keeps++) {
        choose("leave_one_out");
        fixture.settings.ingest.duplicates = keeps ? EDGES_KEEP : EDGES_REMOVE;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            add_list((int64_t)i, cases[i].targets);
        make(NULL, 0, true);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (int to = 'a'; to <= 'd'; to++) {
                const int wanted = to == cases[i].test ? 2 : to == cases[i].valid ? 1 : 0;
                assert_int_equal(split_of((int64_t)i, to), wanted);
                assert_true(!wanted || !rows[i][40 + to - 'a']);
            }
        assert_int_equal(held[HELD_OUT_TEST][2]['d' - 'a' + 40], keeps ? 2 : 1);
        assert_int_equal(summary.passed_sources, 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_held)

static int close_held(void **state)
{
    dataset_summary_release(&summary);
    return close_fixture(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(edges_back_are_held_out_with_the_edge),
        TEST(reverse_relations_are_found_by_content),
        TEST(repeated_interactions_are_examples_where_they_are_kept),
        TEST(leaving_one_out_holds_out_whole_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
