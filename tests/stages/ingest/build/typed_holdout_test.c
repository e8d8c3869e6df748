/* Tests which edges of a graph with relations are held out: the reverse of an edge goes where the
 * edge goes, and is not listed. */
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/edge_splits.h"

#include "tests/stages/ingest/build/builder_fixture.h"

#include <stdio.h>
#include <string.h>

enum {
    AUTHORS = 40,
    PAPERS = 60,
    NODES = AUTHORS + PAPERS,
    EDGES = 1500,
    WRITES = 0,
    CITES,
    GIVEN
};

static const struct node_type node_types[] = {{"author", 0, AUTHORS, 0},
                                              {"paper", AUTHORS, PAPERS, 0}};
static const struct edge_type edge_types[] = {{"writes", 0, 0, 1}, {"cites", 0, 1, 1}};
/* The input itself has the reverse relation. */
static const struct edge_type with_reverse[] = {{"writes", 0, 0, 1}, {"rev_writes", 0, 1, 0}};

static int64_t source[EDGES], target[EDGES];
static uint16_t type[EDGES];
static int64_t when[EDGES];

/* Draws distinct edges without loops. */
static void draw_edges(void)
{
    static uint8_t taken[GIVEN][NODES][NODES];
    const struct random_stream stream = random_stream_of(9, RANDOM_GENERATOR, 0, 0, 0);
    memset(taken, 0, sizeof taken);
    for (uint32_t i = 0, item = 0; i < EDGES; item++) {
        uint32_t word[4];
        random_block(&stream, item, 0, word);
        const uint16_t r = word[0] % GIVEN;
        const uint32_t from = r == WRITES ? word[1] % AUTHORS : AUTHORS + word[1] % PAPERS;
        const uint32_t to = AUTHORS + word[2] % PAPERS;
        if (from == to || taken[r][from][to]++)
            continue;
        source[i] = from;
        target[i] = to;
        type[i] = r;
        when[i++] = (int64_t)(word[3] % 1000);
    }
}

static struct dataset_builder *start_links(const char *id, const char *split,
                                           const struct edge_type *relations, bool adds_reverses)
{
    struct error err = {0};
    fixture.settings.ingest.task = TASK_LINK_PREDICTION;
    fixture.settings.ingest.relations = true;
    fixture.settings.ingest.add_reverse = adds_reverses;
    (void)snprintf(fixture.settings.ingest.edge_split, sizeof fixture.settings.ingest.edge_split,
                   "%s", split);
    struct dataset_builder *builder = start_nodes(id, NODES);
    assert_ok(dataset_builder_set_types(builder, node_types, 2, relations, 2, &err), &err);
    return builder;
}

static enum error_code add(struct dataset_builder *builder, size_t count, struct error *err)
{
    const struct edge_piece piece = {.where = "edges.csv",
                                     .first_line = 2,
                                     .count = count,
                                     .source = source,
                                     .target = target,
                                     .columns = {{{[EDGE_TYPE] = 1, [EDGE_TIME] = 1}},
                                                 {[EDGE_TYPE] = type, [EDGE_TIME] = when}}};
    return dataset_builder_add_edges(builder, &piece, err);
}

/* Edges of relation [type][source][target] in rows, and in lists. */
static uint8_t is_row[2 * GIVEN][NODES][NODES], is_held[2 * GIVEN][NODES][NODES];

static void read_back(const char *id, const struct dataset_schema *schema)
{
    struct error err = {0};
    struct edge_splits splits;
    memset(is_row, 0, sizeof is_row);
    memset(is_held, 0, sizeof is_held);
    for (uint64_t c = 0; c < schema->edge_chunk_count; c++) {
        struct edge_chunk chunk;
        assert_ok(edge_chunk_get(fixture.store, id, (int64_t)c, &chunk, &err), &err);
        const uint16_t *of = chunk.columns.data[EDGE_TYPE];
        for (uint32_t row = 0; row < chunk.node_count; row++)
            for (uint64_t e = chunk.row_start[row]; e < chunk.row_start[row + 1]; e++)
                is_row[of[e]][chunk.neighbor[e]][chunk.first_node + row]++;
        store_release_record(&chunk.view);
    }
    assert_ok(edge_splits_get(fixture.store, key_dataset(id, "edge_splits").text, id, NODES,
                              &splits, &err),
              &err);
    assert_false(splits.undirected);
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        assert_true(splits.count[s] > 0);
        for (uint64_t i = 0; i < splits.count[s]; i++)
            is_held[splits.type[s][i]][splits.source[s][i]][splits.target[s][i]]++;
    }
    assert_int_equal(schema->valid_count, splits.count[HELD_OUT_VALID]);
    assert_int_equal(schema->test_count, splits.count[HELD_OUT_TEST]);
    store_release_record(&splits.view);
}

static void a_reverse_goes_where_its_edge_goes(void **state)
{
    (void)state;
    static const char *const splits[] = {"random 70/10/20", "time 70/10/20", "leave_one_out"};
    struct error err = {0};
    struct dataset_schema schema;
    draw_edges();
    for (int split = 0; split < 3; split++) {
        char id[20];
        (void)snprintf(id, sizeof id, "typed-%d", split);
        struct dataset_builder *builder = start_links(id, splits[split], edge_types, true);
        assert_ok(add(builder, EDGES, &err), &err);
        assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
        read_back(id, &schema);
        uint64_t stay = 0;
        for (int i = 0; i < EDGES; i++) {
            const int64_t s = source[i], t = target[i];
            assert_int_equal(is_row[type[i]][s][t] + is_held[type[i]][s][t], 1);
            assert_int_equal(is_row[type[i] + GIVEN][t][s], is_row[type[i]][s][t]);
            assert_int_equal(is_held[type[i] + GIVEN][t][s], 0);
            stay += is_row[type[i]][s][t];
        }
        assert_int_equal(dataset_pair_count(&schema), stay);
        assert_int_equal(schema.edge_count, 2 * stay);
    }
}

/* The same holds if the input itself has the reverses. */
static void a_reverse_of_the_input_is_one(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    draw_edges();
    uint32_t count = 0;
    for (uint32_t i = 0; i < EDGES && count < EDGES / 2; i++)
        if (type[i] == WRITES) {
            source[count] = source[i];
            target[count] = target[i];
            when[count] = when[i];
            type[count++] = WRITES;
        }
    for (uint32_t i = 0; i < count; i++) {
        source[count + i] = target[i];
        target[count + i] = source[i];
        when[count + i] = when[i];
        type[count + i] = 1;
    }
    struct dataset_builder *builder = start_links("input", "random 70/10/20", with_reverse, false);
    assert_ok(add(builder, 2 * (size_t)count, &err), &err);
    assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
    read_back("input", &schema);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(is_row[0][source[i]][target[i]] + is_held[0][source[i]][target[i]], 1);
        assert_int_equal(is_row[1][target[i]][source[i]], is_row[0][source[i]][target[i]]);
        assert_int_equal(is_held[1][target[i]][source[i]], 0);
    }
}

static enum error_code give(const struct edge_type *relations, bool adds_reverses,
                            const struct given_edge *edge, struct error *err)
{
    static int number;
    char id[24];
    draw_edges();
    (void)snprintf(id, sizeof id, "refused-%d", number++);
    struct dataset_builder *builder = start_links(id, "given", relations, adds_reverses);
    enum error_code rc = add(builder, 1, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_hold_out(builder, HELD_OUT_TEST, edge, err);
    return rc == ERROR_NONE ? dataset_builder_finish(builder, NULL, err) : rc;
}

static void given_edges_are_checked_by_relation(void **state)
{
    (void)state;
    struct error err = {0};
    const struct given_edge wrong = {"test.csv", 3, 1, 2, CITES};
    assert_fails(
        give(edge_types, true, &wrong, &err), ERROR_INPUT,
        "test.csv:3: source 1 of relation cites: expected a node of type paper, found one of "
        "type author",
        &err);
    const struct given_edge reverse = {"test.csv", 4, AUTHORS, 1, 1};
    assert_fails(
        give(with_reverse, false, &reverse, &err), ERROR_INPUT,
        "test.csv:4: relation rev_writes is the reverse of writes: expected the edge as one of "
        "writes",
        &err);
    draw_edges();
    const struct given_edge leak = {"test.csv", 5, source[0], target[0], type[0]};
    assert_fails(give(edge_types, true, &leak, &err), ERROR_INPUT, "the split leaks", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_reverse_goes_where_its_edge_goes),
        FIXTURE_TEST(a_reverse_of_the_input_is_one),
        FIXTURE_TEST(given_edges_are_checked_by_relation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
