/* Tests how the builder stores node types and relations that stay apart, and how it refuses bad
 * ones. */
#include "stages/ingest/build/nodes/declared_types.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"

#include "tests/stages/ingest/build/builder_fixture.h"

#include <stdio.h>

static const struct node_type author_paper[] = {{"author", 0, 2, 0}, {"paper", 2, 3, 0}};
static const struct edge_type writes_cites[] = {{"writes", 0, 0, 1}, {"cites", 0, 1, 1}};

static struct dataset_builder *start_typed(const char *id)
{
    struct error err = {0};
    struct dataset_builder *builder = start_nodes(id, 5);
    assert_ok(dataset_builder_set_types(builder, author_paper, 2, writes_cites, 2, &err), &err);
    return builder;
}

static enum error_code add(struct dataset_builder *builder, const int64_t *source,
                           const int64_t *target, const uint16_t *type, size_t count,
                           struct error *err)
{
    const struct edge_piece piece = {
        .where = "edges.csv",
        .first_line = 2,
        .count = count,
        .source = source,
        .target = target,
        .columns = {{{[EDGE_TYPE] = type ? 1 : 0}}, {[EDGE_TYPE] = type}}};
    return dataset_builder_add_edges(builder, &piece, err);
}

static void assert_row(const struct edge_chunk *chunk, uint32_t node, uint32_t count,
                       const uint32_t *neighbor, const uint16_t *type)
{
    const uint16_t *found = chunk->columns.data[EDGE_TYPE];
    const uint64_t from = chunk->row_start[node];
    assert_int_equal(chunk->row_start[node + 1] - from, count);
    assert_memory_equal(chunk->neighbor + from, neighbor, count * sizeof *neighbor);
    assert_memory_equal(found + from, type, count * sizeof *type);
}

/* Author 0 writes 2 and 3, author 1 writes 3; 2 cites 4 and itself; one edge is listed twice. */
static void reverses_are_relations_behind_the_others(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    struct edge_chunk chunk;
    const int64_t source[] = {0, 0, 1, 2, 2, 1}, target[] = {2, 3, 3, 4, 2, 3};
    const uint16_t type[] = {0, 0, 0, 1, 1, 0};
    fixture.settings.ingest.relations = true;
    fixture.settings.ingest.add_reverse = true;
    struct dataset_builder *builder = start_typed("reverses");
    assert_ok(add(builder, source, target, type, 6, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    assert_ok(dataset_schema_get(fixture.store, "reverses", &schema, &err), &err);
    assert_true(schema.has_relations && !schema.undirected);
    assert_int_equal(schema.edge_type_count, 4);
    assert_string_equal(schema.edge_type[2].name, "rev_writes");
    assert_int_equal(schema.edge_type[2].source_type, 1);
    assert_int_equal(schema.edge_type[2].target_type, 0);
    assert_string_equal(schema.edge_type[3].name, "rev_cites");
    assert_int_equal(schema.edge_count, 10);
    assert_int_equal(schema.removed_duplicates, 1);
    assert_int_equal(schema.self_loop_count, 2);
    const uint64_t counts[] = {3, 2, 3, 2};
    for (int r = 0; r < 4; r++)
        assert_int_equal(schema.edge_type[r].edge_count, counts[r]);
    assert_ok(edge_chunk_get(fixture.store, "reverses", 0, &chunk, &err), &err);
    assert_row(&chunk, 0, 2, (const uint32_t[]){2, 3}, (const uint16_t[]){2, 2});
    assert_row(&chunk, 1, 1, (const uint32_t[]){3}, (const uint16_t[]){2});
    assert_row(&chunk, 2, 4, (const uint32_t[]){0, 2, 2, 4}, (const uint16_t[]){0, 1, 3, 3});
    assert_row(&chunk, 3, 2, (const uint32_t[]){0, 1}, (const uint16_t[]){0, 0});
    assert_row(&chunk, 4, 1, (const uint32_t[]){2}, (const uint16_t[]){1});
    store_release_record(&chunk.view);
}

/* A graph of one relation has no column of types until there are reverses. */
static void one_relation_gets_a_reverse(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    const int64_t source[] = {0, 1}, target[] = {1, 2};
    fixture.settings.ingest.relations = true;
    fixture.settings.ingest.add_reverse = true;
    struct dataset_builder *builder = start_nodes("one", 3);
    assert_ok(add(builder, source, target, NULL, 2, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    assert_ok(dataset_schema_get(fixture.store, "one", &schema, &err), &err);
    assert_int_equal(schema.edge_type_count, 2);
    assert_string_equal(schema.edge_type[1].name, "rev_edge");
    assert_int_equal(schema.edge_type[0].edge_count, 2);
    assert_int_equal(schema.edge_type[1].edge_count, 2);
    assert_int_equal(schema.edge_width.of[EDGE_TYPE], 1);
}

static void each_type_has_features_of_its_own_width_or_none(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    struct feature_chunk chunk;
    const float rows[] = {1, 2, 3, 4, 5, 6};
    fixture.settings.ingest.relations = true;
    struct dataset_builder *builder = start_typed("widths");
    dataset_builder_select_type(builder, 1);
    assert_ok(dataset_builder_add_features(builder, "paper-feat.npy", rows, 3, 2, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    assert_ok(dataset_schema_get(fixture.store, "widths", &schema, &err), &err);
    assert_int_equal(schema.node_type[0].feature_dim, 0);
    assert_int_equal(schema.node_type[1].feature_dim, 2);
    assert_int_equal(schema.feature_chunk_count, 1);
    assert_ok(feature_chunk_get(fixture.store, "widths", 0, &chunk, &err), &err);
    assert_int_equal(chunk.first_node, 2);
    assert_memory_equal(chunk.row, rows, sizeof rows);
    store_release_record(&chunk.view);

    fixture.settings.ingest.missing_features = MISSING_DEGREE;
    builder = start_typed("made");
    dataset_builder_select_type(builder, 1);
    assert_ok(dataset_builder_add_features(builder, "paper-feat.npy", rows, 3, 2, &err), &err);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    assert_ok(dataset_schema_get(fixture.store, "made", &schema, &err), &err);
    assert_int_equal(schema.node_type[0].feature_dim, 2);
    assert_int_equal(schema.feature_chunk_count, 2);

    fixture.settings.ingest.features.choice = FEATURES_GIVEN;
    builder = start_typed("bad");
    dataset_builder_select_type(builder, 1);
    assert_ok(dataset_builder_add_features(builder, "paper-feat.npy", rows, 3, 2, &err), &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_INVALID,
                 "ingest.features is given, but nodes of type author have none: add "
                 "author-feat.npy",
                 &err);
    builder = start_typed("bad");
    assert_ok(dataset_builder_add_features(builder, "a.npy", rows, 1, 2, &err), &err);
    assert_fails(dataset_builder_add_features(builder, "a.npy", rows, 1, 3, &err), ERROR_INPUT,
                 "a.npy: row 1: expected 2 feature columns, found 3", &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_INPUT,
                 "expected 2 feature rows, one for each node of type author, found 1", &err);
}

static enum error_code learn(const int32_t *label, const int64_t *train, uint64_t train_count,
                             struct dataset_schema *schema, struct error *err)
{
    struct dataset_builder *builder = start_typed("target");
    const struct label_rows labels = {TASK_SINGLE_LABEL, 1, 5, label};
    enum error_code rc = dataset_builder_set_labels(builder, "y.csv", 1, &labels, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(builder, SPLIT_TRAIN, "train.csv", 1, train, train_count,
                                       err);
    return rc == ERROR_NONE ? dataset_builder_finish(builder, schema, err) : rc;
}

static void labels_and_splits_are_of_one_type(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema = {0};
    const int32_t papers[] = {-1, -1, 0, 1, 0}, both[] = {1, -1, 0, 1, 0};
    const int64_t train[] = {3, 2};
    fixture.settings.ingest.relations = true;
    assert_fails(learn(both, train, 2, &schema, &err), ERROR_INPUT,
                 "node 0 of type author and node 2 of type paper both have a label or a split: "
                 "expected those of one type",
                 &err);
    assert_ok(learn(papers, train, 2, &schema, &err), &err);
    assert_int_equal(schema.target_type, 1);
}

static void say_target(const char *name)
{
    (void)snprintf(fixture.settings.ingest.target_type, sizeof fixture.settings.ingest.target_type,
                   "%s", name);
}

/* Without labels nothing else shows the target type. */
static void the_type_of_labels_may_be_named(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema = {0};
    const int32_t papers[] = {-1, -1, 0, 1, 0};
    const int64_t train[] = {3, 2};
    fixture.settings.ingest.relations = true;
    say_target("author");
    assert_fails(learn(papers, train, 2, &schema, &err), ERROR_INPUT,
                 "node 2 of type paper has a label or a split, but ingest.target_type is author",
                 &err);
    say_target("venue");
    assert_fails(learn(papers, train, 2, &schema, &err), ERROR_INVALID,
                 "ingest.target_type is 'venue', expected one of the node types, such as author",
                 &err);
    say_target("paper");
    fixture.settings.ingest.task = TASK_SINGLE_LABEL;
    fixture.settings.ingest.class_count = 4;
    struct dataset_builder *builder = start_typed("unlabelled");
    assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
    assert_int_equal(schema.target_type, 1);
    assert_int_equal(schema.class_count, 4);
}

static void edges_connect_what_their_relation_does(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t author[] = {0}, paper[] = {4};
    const uint16_t writes[] = {0}, cites[] = {1}, reverse[] = {2};
    fixture.settings.ingest.relations = true;
    fixture.settings.ingest.add_reverse = true;
    assert_ok(add(start_typed("good"), author, paper, writes, 1, &err), &err);
    assert_fails(add(start_typed("bad"), author, paper, cites, 1, &err), ERROR_INPUT,
                 "edges.csv:2: source 0 of relation cites: expected a node of type paper (2 to 4), "
                 "found one of type author",
                 &err);
    assert_fails(add(start_typed("bad"), author, author, writes, 1, &err), ERROR_INPUT,
                 "edges.csv:2: target 0 of relation writes: expected a node of type paper", &err);
    assert_fails(add(start_typed("bad"), paper, author, reverse, 1, &err), ERROR_INPUT,
                 "edge type 2 is out of range: expected an edge type from 0 to 1", &err);
}

static void bad_relations_are_named(void **state)
{
    (void)state;
    struct error err = {0};
    const struct edge_type same[] = {{"e", 0, 0, 1}, {"e", 0, 0, 1}};
    const struct edge_type taken[] = {{"e", 0, 0, 1}, {"rev_e", 0, 1, 0}};
    const struct node_type twice[] = {{"a", 0, 2, 0}, {"a", 2, 3, 0}};
    fixture.settings.ingest.relations = true;
    struct dataset_builder *builder = start_nodes("bad", 5);
    assert_fails(dataset_builder_set_types(builder, author_paper, 2, same, 2, &err), ERROR_INPUT,
                 "edge types 0 and 1 are both e from author to paper", &err);
    assert_fails(dataset_builder_set_types(builder, twice, 2, same, 1, &err), ERROR_INPUT,
                 "node types 0 and 1 are both called a", &err);
    fixture.settings.ingest.add_reverse = true;
    assert_fails(dataset_builder_set_types(builder, author_paper, 2, taken, 2, &err), ERROR_INPUT,
                 "edge types 1 and 2 are both rev_e from paper to author: expected a name for "
                 "each; ingest.add_reverse takes rev_<name>",
                 &err);
    fixture.settings.ingest.add_reverse = false;
    fixture.settings.ingest.direction = DIRECTION_UNDIRECTED;
    builder = start_nodes("bad", 5);
    assert_fails(dataset_builder_set_types(builder, author_paper, 2, writes_cites, 2, &err),
                 ERROR_INVALID,
                 "edges go both ways, but those of writes go from author to paper: write "
                 "`add_reverse: true`",
                 &err);
    fixture.settings.ingest.direction = DIRECTION_REVERSED;
    assert_fails(dataset_builder_set_nodes(start("bad", ROOMY), 5, STATED_DIRECTED, &err),
                 ERROR_INVALID, "ingest.direction is reversed, but ingest.relations fixes", &err);
}

/* The refused edge comes first in a row of its reverse. */
static void a_repeated_edge_is_named_by_its_lines(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t source[] = {0, 1, 0}, target[] = {4, 3, 4};
    const uint16_t type[] = {0, 0, 0};
    fixture.settings.ingest.relations = true;
    fixture.settings.ingest.add_reverse = true;
    fixture.settings.ingest.duplicates = EDGES_REFUSE;
    struct dataset_builder *builder = start_typed("bad");
    assert_ok(add(builder, source, target, type, 3, &err), &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_INPUT,
                 "edges.csv:4: the edge between 0 and 4 repeats that of edges.csv:2", &err);
}

/* Without ingest.relations the types are only names, and all records are the same as before. */
static void types_that_are_not_told_apart_are_one(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    assert_ok(dataset_builder_finish(start_typed("plain"), NULL, &err), &err);
    assert_ok(dataset_schema_get(fixture.store, "plain", &schema, &err), &err);
    assert_false(schema.has_relations);
    assert_int_equal(schema.node_type_count, 2);
    assert_int_equal(dataset_type_count(&schema), 1);
    assert_int_equal(dataset_relation_count(&schema), 1);
    assert_int_equal(dataset_type(&schema, 0).node_count, 5);
    assert_int_equal(dataset_type_of(&schema, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(reverses_are_relations_behind_the_others),
        FIXTURE_TEST(one_relation_gets_a_reverse),
        FIXTURE_TEST(each_type_has_features_of_its_own_width_or_none),
        FIXTURE_TEST(labels_and_splits_are_of_one_type),
        FIXTURE_TEST(the_type_of_labels_may_be_named),
        FIXTURE_TEST(edges_connect_what_their_relation_does),
        FIXTURE_TEST(bad_relations_are_named),
        FIXTURE_TEST(a_repeated_edge_is_named_by_its_lines),
        FIXTURE_TEST(types_that_are_not_told_apart_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
