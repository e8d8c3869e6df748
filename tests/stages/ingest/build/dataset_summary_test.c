/* Tests the summary of a dataset, and which slips it finds. */
#include "common/base/memory.h"
#include "stages/ingest/build/dataset_summary.h"

#include "tests/stages/ingest/build/builder_fixture.h"

#include <stdio.h>

static char lines[8192], warnings[8192];

static void take_line(void *context, bool is_warning, const char *line)
{
    char *out = is_warning ? warnings : lines;
    const size_t at = strlen(out);
    (void)context;
    (void)snprintf(out + at, sizeof lines - at, "%s\n", line);
}

struct graph {
    enum stated_direction stated;
    const int64_t (*edge)[2];
    size_t edge_count;
    const int32_t *label; /* [node_count] */
    uint64_t node_count;
    const int64_t *train, *valid; /* ended by -1; NULL: none */
    const float *features;        /* [node_count] or NULL */
};

static void set_split(struct dataset_builder *builder, enum split split, const int64_t *node)
{
    struct error err = {0};
    uint64_t count = 0;
    while (node && node[count] >= 0)
        count++;
    if (count)
        assert_ok(dataset_builder_set_split(builder, split, "s", 1, node, count, &err), &err);
}

/* Builds the graph and fills `lines` and `warnings`. */
static struct dataset_schema build(const struct graph *graph)
{
    static int run;
    struct dataset_summary summary = {0};
    struct dataset_schema schema;
    struct error err = {0};
    char id[32];
    lines[0] = warnings[0] = '\0';
    (void)snprintf(id, sizeof id, "g-%d", run++);
    const struct dataset_builder_config config = {.store = fixture.store,
                                                  .settings = &fixture.settings,
                                                  .dataset_id = id,
                                                  .name = "test",
                                                  .summary = &summary,
                                                  .memory_bytes = ROOMY};
    dataset_builder_free(fixture.builder);
    fixture.builder = NULL;
    assert_ok(dataset_builder_new(&config, &fixture.builder, &err), &err);
    struct dataset_builder *builder = fixture.builder;
    assert_ok(dataset_builder_set_nodes(builder, graph->node_count, graph->stated, &err), &err);
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct edge_piece piece = {.where = "e",
                                         .first_line = (int64_t)i,
                                         .count = 1,
                                         .source = &graph->edge[i][0],
                                         .target = &graph->edge[i][1]};
        assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    }
    const struct label_rows labels = {TASK_SINGLE_LABEL, 1, graph->node_count, graph->label};
    assert_ok(dataset_builder_set_labels(builder, "l", 1, &labels, &err), &err);
    set_split(builder, SPLIT_TRAIN, graph->train);
    set_split(builder, SPLIT_VALID, graph->valid);
    if (graph->features)
        assert_ok(
            dataset_builder_add_features(builder, "f", graph->features, graph->node_count, 1, &err),
            &err);
    assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
    dataset_summary_lines(&summary, &schema, &fixture.settings, take_line, NULL);
    dataset_summary_release(&summary);
    return schema;
}

static const int64_t path_edges[][2] = {{0, 1}, {1, 2}, {2, 2}, {0, 1}};
static const int32_t two_labels[] = {0, 1, 0, -1};
static const int64_t first_two[] = {0, 1, -1}, third[] = {2, -1};
static const float ones[] = {1, 0, 1, 1};

static struct graph plain(void)
{
    return (struct graph){.stated = STATED_DIRECTED,
                          .edge = path_edges,
                          .edge_count = 4,
                          .label = two_labels,
                          .node_count = 4,
                          .train = first_two,
                          .valid = third,
                          .features = ones};
}

static void counts_are_said_and_nothing_is_warned_of(void **state)
{
    (void)state;
    struct graph graph = plain();
    (void)build(&graph);
    assert_string_equal(warnings, "");
    assert_string_equal(
        lines,
        "graph: 4 nodes (1 without an edge to another), 3 edges stored one way (directed) out of 4 "
        "in the input; 1 self loops, 0 removed; 1 repeated edges removed\n"
        "features: 1 columns, as given; 25.0 % are zero\n"
        "labels: 3 nodes with one of 2 classes (0: 2, 1: 1)\n"
        "splits: 2 train, 1 valid, 0 test\n");
}

/* The stored report has the same counts and warnings as the printed lines. */
static void counts_and_warnings_are_stored(void **state)
{
    (void)state;
    static const int32_t from_one[] = {1, 2, 1, -1};
    struct graph graph = plain();
    struct error err = {0};
    char *report = NULL;
    struct dataset_schema schema = build(&graph);
    assert_ok(dataset_report_get(fixture.store, schema.id, &report, &err), &err);
    assert_string_equal(report, "{\"isolated_nodes\":1,\"labelled_nodes\":3,\"class_nodes\":[2,1],"
                                "\"feature_zero_share\":0.25,\"input\":[],\"warnings\":[]}");
    memory_free(report);
    graph.label = from_one;
    schema = build(&graph);
    assert_ok(dataset_report_get(fixture.store, schema.id, &report, &err), &err);
    assert_non_null(strstr(report, "\"class_nodes\":[0,2,1]"));
    assert_non_null(strstr(report, "\"warnings\":[\"labels begin at 1"));
    memory_free(report);
    (void)snprintf(schema.id, sizeof schema.id, "as-before");
    assert_ok(dataset_schema_put(fixture.store, &schema, &err), &err);
    assert_ok(dataset_report_get(fixture.store, schema.id, &report, &err), &err);
    assert_null(report);
    assert_fails(dataset_report_get(fixture.store, "none", &report, &err), ERROR_NOT_FOUND, "none",
                 &err);
}

static void edges_listed_once_are_remarked_or_taken_both_ways(void **state)
{
    (void)state;
    struct graph graph = plain();
    graph.stated = STATED_NOTHING;
    assert_false(build(&graph).undirected);
    assert_non_null(strstr(warnings, "taken as directed (from source to target); if they go both "
                                     "ways, add a line `direction: undirected`"));
    graph.stated = STATED_ONCE_IS_BOTH;
    struct dataset_schema schema = build(&graph);
    assert_true(schema.undirected);
    assert_int_equal(schema.edge_count, 5); /* 0-1, 1-2 both ways, and the loop once */
    assert_non_null(strstr(warnings, "each was taken as undirected"));
    static const int64_t both[][2] = {{0, 1}, {1, 2}, {2, 1}};
    graph.edge = both;
    graph.edge_count = 3;
    schema = build(&graph);
    assert_false(schema.undirected);
    assert_int_equal(schema.edge_count, 3);
    assert_string_equal(warnings, "");
    fixture.settings.ingest.direction = DIRECTION_AS_GIVEN;
    graph.edge = path_edges;
    assert_false(build(&graph).undirected);
    assert_string_equal(warnings, "");
}

static void slips_are_noticed(void **state)
{
    (void)state;
    static const int32_t from_one[] = {1, 2, 1, -1}, gap[] = {0, 3, 3, -1}, same[] = {0, 0, 0, 0};
    static const int32_t stray[] = {0, 1, 1000000, 1}, late[] = {0, 1, 2, 2}, only[] = {5, 5, 5, 5};
    static const struct {
        const int32_t *label;
        const char *warning;
    } cases[] = {
        {from_one, "labels begin at 1: class 0 has no node"},
        {gap, "2 of 4 classes have no node (1, 2): is a label wrong?"},
        {same, "all labels are the same"},
        {only, "the only label is 5, so there are 6 classes"},
        {stray, "1000001 classes, because the largest label is 1000000; 3 of them have nodes"},
        {late, "1 classes have no training node (2): they cannot be learnt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graph graph = plain();
        graph.label = cases[i].label;
        (void)build(&graph);
        if (!strstr(warnings, cases[i].warning))
            fail_msg("'%s' is not in '%s'", cases[i].warning, warnings);
    }
    struct graph graph = plain();
    graph.valid = NULL;
    (void)build(&graph);
    assert_non_null(strstr(warnings, "no validation nodes"));
    graph = plain();
    graph.features = NULL;
    (void)build(&graph);
    assert_non_null(strstr(warnings, "the input has no features: degree+random were made up"));
    fixture.settings.ingest.features.choice = FEATURES_DEGREE_RANDOM; /* the settings ask for it */
    (void)build(&graph);
    assert_string_equal(warnings, "");
}

static void labels_that_are_ids_are_noticed(void **state)
{
    (void)state;
    int32_t label[12];
    for (int32_t i = 0; i < 12; i++)
        label[i] = i;
    struct graph graph = plain();
    graph.label = label;
    graph.node_count = 12;
    graph.features = NULL;
    (void)build(&graph);
    assert_non_null(strstr(warnings, "are these ids rather than labels?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(counts_are_said_and_nothing_is_warned_of),
        FIXTURE_TEST(counts_and_warnings_are_stored),
        FIXTURE_TEST(edges_listed_once_are_remarked_or_taken_both_ways),
        FIXTURE_TEST(slips_are_noticed),
        FIXTURE_TEST(labels_that_are_ids_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
