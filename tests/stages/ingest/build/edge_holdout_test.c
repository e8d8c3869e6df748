/* Tests which edges are held out, for every kind of split: builds the dataset and compares the
 * records. */
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/edge_splits.h"

#include "tests/stages/ingest/build/builder_fixture.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 200, EDGES = 3000 };

struct made { /* what the records of a dataset have */
    struct dataset_schema schema;
    uint8_t is_row[NODES][NODES];                  /* [target][source]: stored edges */
    uint8_t is_held[HELD_OUT_COUNT][NODES][NODES]; /* [split][source][target] */
    uint64_t count[HELD_OUT_COUNT];
};

static int64_t source[EDGES], target[EDGES];
static int64_t when[EDGES];

/* Draws distinct pairs without loops, each in one direction only. */
static void draw_edges(void)
{
    static uint8_t taken[NODES][NODES];
    const struct random_stream stream = random_stream_of(7, RANDOM_GENERATOR, 0, 0, 0);
    memset(taken, 0, sizeof taken);
    for (uint32_t i = 0, item = 0; i < EDGES; item++) {
        uint32_t word[4];
        random_block(&stream, item, 0, word);
        const uint32_t a = word[0] % NODES, b = word[1] % NODES;
        if (a == b || taken[a][b] || taken[b][a])
            continue;
        taken[a][b] = 1;
        source[i] = a;
        target[i] = b;
        when[i++] = (int64_t)(word[2] % 1000) - 500;
    }
}

static void choose(const char *split, bool undirected, uint64_t seed)
{
    fixture.settings.ingest.task = TASK_LINK_PREDICTION;
    fixture.settings.ingest.direction = undirected ? DIRECTION_UNDIRECTED : DIRECTION_AS_GIVEN;
    fixture.settings.seed = (int64_t)seed;
    (void)snprintf(fixture.settings.ingest.edge_split, sizeof fixture.settings.ingest.edge_split,
                   "%s", split);
}

static struct dataset_builder *push(const char *id, size_t count, bool with_times)
{
    struct error err = {0};
    struct edge_piece piece = {
        .where = "edges.csv", .first_line = 2, .count = count, .source = source, .target = target};
    struct dataset_builder *builder = start_nodes(id, NODES);
    if (with_times) {
        piece.columns.width.of[EDGE_TIME] = 1;
        piece.columns.data[EDGE_TIME] = when;
    }
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    return builder;
}

static void read_back(const char *id, struct made *made)
{
    struct error err = {0};
    struct edge_splits splits;
    for (uint64_t c = 0; c < made->schema.edge_chunk_count; c++) {
        struct edge_chunk chunk;
        assert_ok(edge_chunk_get(fixture.store, id, (int64_t)c, &chunk, &err), &err);
        for (uint32_t row = 0; row < chunk.node_count; row++)
            for (uint64_t e = chunk.row_start[row]; e < chunk.row_start[row + 1]; e++)
                made->is_row[chunk.first_node + row][chunk.neighbor[e]]++;
        store_release_record(&chunk.view);
    }
    assert_ok(edge_splits_get(fixture.store, key_dataset(id, "edge_splits").text, id, NODES,
                              &splits, &err),
              &err);
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < splits.count[s]; i++)
            made->is_held[s][splits.source[s][i]][splits.target[s][i]]++;
    memcpy(made->count, splits.count, sizeof made->count);
    store_release_record(&splits.view);
    assert_int_equal(made->schema.valid_count, made->count[HELD_OUT_VALID]);
    assert_int_equal(made->schema.test_count, made->count[HELD_OUT_TEST]);
    assert_int_equal(made->schema.train_count, 0);
    assert_int_equal(made->schema.task, TASK_LINK_PREDICTION);
}

static struct made *make(const char *id, bool with_times)
{
    static struct made made;
    struct error err = {0};
    memset(&made, 0, sizeof made);
    assert_ok(dataset_builder_finish(push(id, EDGES, with_times), &made.schema, &err), &err);
    read_back(id, &made);
    return &made;
}

/* Returns 0 if the edge stays, 1 for validation, 2 for test; -1 if it is in several places, or in
 * none. */
static int place_of(const struct made *made, int64_t a, int64_t b, bool undirected)
{
    const int stays = made->is_row[b][a] + (undirected ? made->is_row[a][b] : 0);
    int place = -1, places = 0;
    if (stays == (undirected ? 2 : 1)) {
        place = 0;
        places++;
    } else if (stays) {
        return -1;
    }
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        if (made->is_held[s][a][b] + (undirected ? made->is_held[s][b][a] : 0)) {
            place = 1 + s;
            places += made->is_held[s][a][b] + (undirected ? made->is_held[s][b][a] : 0);
        }
    return places == 1 ? place : -1;
}

/* Every edge is in one place together with its reverse; the counts are near the shares; another
 * seed draws other edges. */
static void a_random_split_takes_both_ways(void **state)
{
    (void)state;
    static int first[EDGES];
    int differ = 0;
    draw_edges();
    for (int undirected = 0; undirected < 2; undirected++)
        for (uint64_t seed = 1; seed < 3; seed++) {
            char id[32];
            double count[3] = {0};
            (void)snprintf(id, sizeof id, "r-%d-%d", undirected, (int)seed);
            choose("random 70/10/20", undirected, seed);
            const struct made *made = make(id, false);
            for (int i = 0; i < EDGES; i++) {
                const int place = place_of(made, source[i], target[i], undirected);
                assert_true(place >= 0);
                count[place]++;
                differ += seed == 2 && first[i] != place;
                first[i] = place;
            }
            assert_in_range(count[0], 0.66 * EDGES, 0.74 * EDGES);
            assert_in_range(count[1], 0.08 * EDGES, 0.12 * EDGES);
            assert_in_range(count[2], 0.17 * EDGES, 0.23 * EDGES);
            assert_int_equal(made->schema.edge_count, count[0] * (undirected ? 2 : 1));
        }
    assert_true(differ > EDGES / 4);
}

static void a_split_by_time_takes_the_last(void **state)
{
    (void)state;
    int64_t last[3] = {INT64_MIN, INT64_MIN, INT64_MIN},
            first[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
    double count[3] = {0};
    draw_edges();
    choose("time 80/10/10", true, 1);
    const struct made *made = make("time", true);
    for (int i = 0; i < EDGES; i++) {
        const int place = place_of(made, source[i], target[i], true);
        assert_true(place >= 0);
        count[place]++;
        last[place] = when[i] > last[place] ? when[i] : last[place];
        first[place] = when[i] < first[place] ? when[i] : first[place];
    }
    assert_true(last[0] < first[1] && last[1] < first[2]);
    /* Edges of one time go with the earlier ones: about 3 edges have each time. */
    assert_in_range(count[0], 0.8 * EDGES, 0.8 * EDGES + 20);
    assert_in_range(count[0] + count[1], 0.9 * EDGES, 0.9 * EDGES + 20);
}

static void leaving_one_out_takes_the_last_two_of_a_source(void **state)
{
    (void)state;
    draw_edges();
    choose("leave_one_out", false, 1);
    const struct made *made = make("one", true);
    for (int64_t node = 0; node < NODES; node++) {
        int held[3] = {0}, all = 0;
        int64_t last_kept = INT64_MIN, valid = INT64_MIN, test = INT64_MAX;
        for (int i = 0; i < EDGES; i++) {
            if (source[i] != node)
                continue;
            const int place = place_of(made, node, target[i], false);
            assert_true(place >= 0);
            all++;
            held[place]++;
            if (place == 0)
                last_kept = when[i] > last_kept ? when[i] : last_kept;
            else if (place == 1)
                valid = when[i];
            else
                test = when[i];
        }
        assert_int_equal(held[1], all >= 3);
        assert_int_equal(held[2], all >= 3);
        if (all >= 3)
            assert_true(last_kept <= valid && valid <= test);
    }
    /* Without times a draw decides; in an undirected graph both directions are held out. */
    choose("leave_one_out", true, 1);
    made = make("one-drawn", false);
    for (int i = 0; i < EDGES; i++)
        assert_true(place_of(made, source[i], target[i], true) >= 0);
    assert_true(made->count[HELD_OUT_TEST] > NODES / 2 && made->count[HELD_OUT_TEST] <= NODES);
}

/* Rows with repeated edges and loops: no edge of a held-out pair stays, each of its edges is an
 * example, and loops stay. */
static void repeated_edges_go_together(void **state)
{
    (void)state;
    static struct made made;
    struct error err = {0};
    int kept_loops = 0, copies[20][20] = {{0}};
    memset(&made, 0, sizeof made);
    for (int i = 0; i < EDGES; i++) {
        source[i] = i % 20;
        target[i] = i / 20 % 20;
        copies[source[i]][target[i]]++;
    }
    fixture.settings.ingest.duplicates = EDGES_KEEP;
    choose("random 50/25/25", true, 3);
    assert_ok(dataset_builder_finish(push("multi", EDGES, false), &made.schema, &err), &err);
    read_back("multi", &made);
    for (int a = 0; a < 20; a++)
        for (int b = 0; b <= a; b++) {
            const int held = made.is_held[0][b][a] + made.is_held[1][b][a] +
                             (a != b ? made.is_held[0][a][b] + made.is_held[1][a][b] : 0);
            assert_int_equal(held, made.is_row[a][b] ? 0 : copies[a][b] + copies[b][a]);
            kept_loops += a == b && made.is_row[a][a] > 0;
        }
    assert_int_equal(kept_loops, 20);
}

static void a_given_split_that_leaks_is_named(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    draw_edges();
    choose("given", true, 1);
    struct dataset_builder *builder = push("leak", EDGES, false);
    const struct given_edge outside = {"test.csv", 3, 0, NODES, 0};
    const struct given_edge turned = {"test.csv", 4, target[9], source[9], 0};
    assert_fails(dataset_builder_hold_out(builder, HELD_OUT_TEST, &outside, &err), ERROR_INPUT,
                 "test.csv:3: target 200 is out of range: expected a node id from 0 to", &err);
    assert_ok(dataset_builder_hold_out(builder, HELD_OUT_TEST, &turned, &err), &err);
    assert_fails(dataset_builder_finish(builder, &schema, &err), ERROR_INPUT,
                 "test.csv:4: the edge", &err);
    assert_non_null(strstr(err.message, "is also a training edge, so the split leaks"));
    bool found = true;
    assert_ok(store_has(fixture.store, key_edge_chunk("leak", 0).text, &found, &err), &err);
    assert_false(found);
}

static void a_given_split_is_kept_as_it_is(void **state)
{
    (void)state;
    static struct made made;
    struct error err = {0};
    memset(&made, 0, sizeof made);
    draw_edges();
    choose("given", true, 1);
    /* The last two edges of the list are not among the edges of the input. */
    for (int twice = 0; twice < 2; twice++) {
        struct dataset_builder *builder = push("given", EDGES - 2, false);
        const struct given_edge valid = {"v.csv", 1, source[EDGES - 1], target[EDGES - 1], 0};
        const struct given_edge test = {"t.csv", 1, target[EDGES - 2 + !twice],
                                        source[EDGES - 2 + !twice], 0};
        assert_ok(dataset_builder_hold_out(builder, HELD_OUT_VALID, &valid, &err), &err);
        assert_ok(dataset_builder_hold_out(builder, HELD_OUT_TEST, &test, &err), &err);
        if (!twice) {
            assert_fails(dataset_builder_finish(builder, &made.schema, &err), ERROR_INPUT,
                         "is that of v.csv:1: expected each held-out edge once", &err);
            continue;
        }
        assert_ok(dataset_builder_finish(builder, &made.schema, &err), &err);
        read_back("given", &made);
    }
    assert_int_equal(made.is_held[HELD_OUT_VALID][source[EDGES - 1]][target[EDGES - 1]], 1);
    assert_int_equal(made.is_held[HELD_OUT_TEST][target[EDGES - 2]][source[EDGES - 2]], 1);
    assert_int_equal(made.schema.edge_count, 2 * (EDGES - 2));
}

/* The node has an edge, although it is not a training edge. */
static void a_node_whose_edges_are_all_held_out_is_not_isolated(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    struct dataset_summary summary = {0};
    const struct given_edge held = {"v.csv", 1, 2, 3, 0}, loop = {"v.csv", 2, 4, 4, 0};
    choose("given", true, 1);
    source[0] = 0;
    target[0] = 1;
    fixture.summary = &summary;
    struct dataset_builder *builder = push("held", 1, false);
    assert_ok(dataset_builder_hold_out(builder, HELD_OUT_VALID, &held, &err), &err);
    assert_ok(dataset_builder_hold_out(builder, HELD_OUT_VALID, &loop, &err), &err);
    assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
    assert_int_equal(summary.isolated_nodes, NODES - 4);
    dataset_summary_release(&summary);
    fixture.summary = NULL;
}

/* An edge with the same ends and another type is another edge; held-out edges keep their types. */
static void types_tell_edges_apart(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    static uint16_t type[COUNT];
    static struct edge_type named[2] = {{.name = "a"}, {.name = "b"}};
    static const struct node_type node = {.name = "n", .node_count = NODES};
    struct error err = {0};
    struct dataset_schema schema;
    struct edge_splits splits;
    draw_edges();
    choose("given", false, 1);
    for (int leaks = 0; leaks < 2; leaks++) {
        const char *id = leaks ? "typed-leak" : "typed";
        struct edge_piece piece = {.where = "edges.csv",
                                   .first_line = 2,
                                   .count = COUNT,
                                   .source = source,
                                   .target = target};
        struct dataset_builder *builder = start_nodes(id, NODES);
        piece.columns.width.of[EDGE_TYPE] = 1;
        piece.columns.data[EDGE_TYPE] = type;
        assert_ok(dataset_builder_set_types(builder, &node, 1, named, 2, &err), &err);
        assert_int_equal(dataset_builder_edge_types(builder), 0);
        assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
        assert_int_equal(dataset_builder_edge_types(builder), 2);
        const struct given_edge valid = {"v.csv", 1, source[5], target[5], 1};
        const struct given_edge test = {"t.csv", 1, source[6], target[6], !leaks};
        assert_ok(dataset_builder_hold_out(builder, HELD_OUT_VALID, &valid, &err), &err);
        assert_ok(dataset_builder_hold_out(builder, HELD_OUT_TEST, &test, &err), &err);
        if (leaks) {
            assert_fails(dataset_builder_finish(builder, &schema, &err), ERROR_INPUT,
                         "t.csv:1: the edge", &err);
            continue;
        }
        assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
        assert_int_equal(schema.edge_count, COUNT);
        assert_ok(edge_splits_get(fixture.store, key_dataset(id, "edge_splits").text, id, NODES,
                                  &splits, &err),
                  &err);
        assert_int_equal(splits.type[HELD_OUT_VALID][0], 1);
        assert_int_equal(splits.type[HELD_OUT_TEST][0], 1);
        store_release_record(&splits.view);
    }
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    draw_edges();
    choose("time 80/10/10", true, 1);
    assert_fails(dataset_builder_finish(push("none", EDGES, false), &schema, &err), ERROR_INPUT,
                 "ingest.edge_split is by time, but the edges have no times", &err);
    choose("random 1/0/99", true, 1);
    assert_fails(dataset_builder_finish(push("all", 3, false), &schema, &err), ERROR_INPUT,
                 "no training edges", &err);
    static const char *const wrong[] = {"random 85/5", "random 90/5/10", "random 0/50/50",
                                        "sometimes",   "time",           "random85/5/10"};
    struct edge_split split;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        choose(wrong[i], true, 1);
        assert_fails(pipeline_edge_split(&fixture.settings, &split, &err), ERROR_INVALID,
                     "ingest.edge_split is '", &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_random_split_takes_both_ways),
        FIXTURE_TEST(a_split_by_time_takes_the_last),
        FIXTURE_TEST(leaving_one_out_takes_the_last_two_of_a_source),
        FIXTURE_TEST(repeated_edges_go_together),
        FIXTURE_TEST(a_given_split_that_leaks_is_named),
        FIXTURE_TEST(a_node_whose_edges_are_all_held_out_is_not_isolated),
        FIXTURE_TEST(a_given_split_is_kept_as_it_is),
        FIXTURE_TEST(types_tell_edges_apart),
        FIXTURE_TEST(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
