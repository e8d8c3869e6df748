/* Compares random graphs from the builder with an obvious reference, for every policy and budget;
 * then tests bad edges. */
#include "common/numbers/random.h"
#include "stages/ingest/build/dataset_edges.h"
#include "store/objects/keys.h"
#include "store/records/dataset/edge_chunk.h"

#include "tests/stages/ingest/build/builder_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Under a sanitizer the measured peak is that of its shadow memory. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_IS_NOT_OURS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEMORY_IS_NOT_OURS
#endif
#endif

enum { NODES_MAX = 64, EDGES_MAX = 600 };

struct raw_graph {
    uint32_t node_count;
    bool undirected;
    size_t count;
    int64_t source[EDGES_MAX], target[EDGES_MAX];
    float weight[EDGES_MAX];
    int64_t time[EDGES_MAX];
    uint16_t type[EDGES_MAX];
};

struct reference_edge {
    uint32_t neighbor;
    uint16_t type;
    int64_t time;
    float weight;
    size_t input;
};

struct reference_row {
    size_t count;
    struct reference_edge edge[2 * EDGES_MAX];
};

/* ---- the reference -------------------------------------------------------------------------- */

static void random_graph(struct raw_graph *graph, uint64_t seed, bool undirected)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_GENERATOR, 0, 0, 0);
    *graph = (struct raw_graph){.node_count = 1 + random_word(&stream, 0, 0) % NODES_MAX,
                                .undirected = undirected,
                                .count = random_word(&stream, 0, 1) % EDGES_MAX};
    for (size_t i = 0; i < graph->count; i++) {
        uint32_t word[4];
        random_block(&stream, i + 1, 0, word);
        /* Few nodes, so that self loops and repeated edges are common. */
        graph->source[i] = word[0] % graph->node_count;
        graph->target[i] = word[1] % graph->node_count;
        graph->weight[i] = random_unit(word[2]);
        graph->time[i] = word[3] % 2;
        graph->type[i] = (uint16_t)(word[3] / 2 % 2);
    }
}

static int reference_order(const void *a, const void *b)
{
    const struct reference_edge *x = a, *y = b;
    if (x->neighbor != y->neighbor)
        return x->neighbor < y->neighbor ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->input < y->input ? -1 : 1;
}

static void reference_add(struct reference_row *row, const struct raw_graph *graph, size_t i,
                          int64_t neighbor, enum edge_policy duplicates)
{
    const struct reference_edge edge = {(uint32_t)neighbor, graph->type[i], graph->time[i],
                                        graph->weight[i], i};
    for (size_t e = 0; duplicates == EDGES_REMOVE && e < row->count; e++)
        if (row->edge[e].neighbor == edge.neighbor && row->edge[e].type == edge.type &&
            row->edge[e].time == edge.time)
            return;
    row->edge[row->count++] = edge;
}

/* Computes row `node` by going through all edges. */
static void reference_row(const struct raw_graph *graph, const struct pipeline_settings *settings,
                          uint32_t node, struct reference_row *row)
{
    const int64_t direction = settings->ingest.direction;
    const bool both =
        direction == DIRECTION_UNDIRECTED || (direction == DIRECTION_AUTO && graph->undirected);
    const enum edge_policy duplicates = (enum edge_policy)settings->ingest.duplicates;
    row->count = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const bool loop = graph->source[i] == graph->target[i];
        const int64_t from = direction == DIRECTION_REVERSED ? graph->target[i] : graph->source[i];
        const int64_t to = direction == DIRECTION_REVERSED ? graph->source[i] : graph->target[i];
        if (loop && settings->ingest.self_loops == EDGES_REMOVE)
            continue;
        if (to == node)
            reference_add(row, graph, i, from, duplicates);
        if (both && !loop && from == node)
            reference_add(row, graph, i, to, duplicates);
    }
    qsort(row->edge, row->count, sizeof *row->edge, reference_order);
}

/* ---- comparing ------------------------------------------------------------------------------ */

enum attributes { PLAIN = 0, WEIGHTS = 1, TIMES = 2, TYPES = 4 };

/* Removes attributes that the input does not have from the reference. */
static void drop_attributes(struct raw_graph *graph, unsigned attributes)
{
    for (size_t i = 0; i < graph->count; i++) {
        if (!(attributes & TIMES))
            graph->time[i] = 0;
        if (!(attributes & TYPES))
            graph->type[i] = 0;
    }
}

static void add_in_pieces(struct dataset_builder *builder, const struct raw_graph *graph,
                          unsigned attributes, struct error *err)
{
    enum { PIECE = 37 };
    for (size_t i = 0; i < graph->count; i += PIECE) {
        const struct edge_piece piece = {
            .where = "edges.csv",
            .first_line = (int64_t)i + 2,
            .count = graph->count - i < PIECE ? graph->count - i : PIECE,
            .source = graph->source + i,
            .target = graph->target + i,
            .columns = edge_values(attributes & WEIGHTS ? graph->weight + i : NULL,
                                   attributes & TIMES ? graph->time + i : NULL,
                                   attributes & TYPES ? graph->type + i : NULL),
        };
        assert_ok(dataset_builder_add_edges(builder, &piece, err), err);
    }
}

static void build(const char *id, const struct raw_graph *graph, unsigned attributes,
                  uint64_t memory_bytes, struct dataset_schema *schema)
{
    struct error err = {0};
    struct node_type node_type = {.name = "thing", .node_count = graph->node_count};
    struct edge_type edge_type[2] = {{.name = "likes"}, {.name = "knows"}};
    struct dataset_builder *builder = start(id, memory_bytes);
    assert_ok(dataset_builder_set_nodes(builder, graph->node_count, graph->undirected, &err), &err);
    if (attributes & TYPES)
        assert_ok(dataset_builder_set_types(builder, &node_type, 1, edge_type, 2, &err), &err);
    add_in_pieces(builder, graph, attributes, &err);
    assert_ok(dataset_builder_finish(builder, schema, &err), &err);
}

struct totals {
    uint64_t edges, loops, type[2];
};

static void compare_row(const struct edge_chunk *chunk, uint32_t node, unsigned attributes,
                        const struct reference_row *row, struct totals *totals)
{
    const uint64_t start_at = chunk->row_start[node];
    assert_int_equal(chunk->row_start[node + 1] - start_at, row->count);
    for (size_t i = 0; i < row->count; i++) {
        const uint64_t at = start_at + i;
        assert_int_equal(chunk->neighbor[at], row->edge[i].neighbor);
        const struct edge_columns_view *columns = &chunk->columns;
        if (attributes & WEIGHTS)
            assert_memory_equal(edge_columns_at(columns, EDGE_WEIGHT, at), &row->edge[i].weight,
                                sizeof(float));
        if (attributes & TIMES)
            assert_memory_equal(edge_columns_at(columns, EDGE_TIME, at), &row->edge[i].time,
                                sizeof(double));
        if (attributes & TYPES)
            assert_memory_equal(edge_columns_at(columns, EDGE_TYPE, at), &row->edge[i].type,
                                sizeof(uint16_t));
        totals->edges++;
        totals->loops += row->edge[i].neighbor == node;
        totals->type[row->edge[i].type]++;
    }
}

static void compare_schema(const struct dataset_schema *schema, const struct raw_graph *graph,
                           unsigned attributes, const struct totals *totals)
{
    uint64_t loops = 0;
    for (size_t i = 0; i < graph->count; i++)
        loops += graph->source[i] == graph->target[i];
    const bool removed = fixture.settings.ingest.self_loops == EDGES_REMOVE;
    const uint64_t left =
        schema->input_edge_rows - schema->removed_self_loops - schema->removed_duplicates;
    assert_int_equal(schema->node_count, graph->node_count);
    assert_int_equal(schema->edge_count, totals->edges);
    assert_int_equal(schema->self_loop_count, totals->loops);
    assert_int_equal(schema->input_edge_rows, graph->count);
    assert_int_equal(schema->removed_self_loops, removed ? loops : 0);
    assert_int_equal(schema->undirected ? 2 * left - totals->loops : left, totals->edges);
    assert_int_equal(schema->edge_width.of[EDGE_WEIGHT],
                     graph->count > 0 && (attributes & WEIGHTS) != 0);
    assert_int_equal(schema->edge_type_count, attributes & TYPES ? 2 : 1);
    for (uint32_t t = 0; t < schema->edge_type_count; t++)
        assert_int_equal(schema->edge_type[t].edge_count, totals->type[t]);
}

static void compare(const char *id, const struct raw_graph *graph, unsigned attributes)
{
    static struct reference_row row;
    struct error err = {0};
    struct dataset_schema schema;
    struct edge_chunk chunk;
    struct totals totals = {0};
    assert_ok(dataset_schema_get(fixture.store, id, &schema, &err), &err);
    assert_int_equal(schema.edge_chunk_count, 1);
    assert_ok(edge_chunk_get(fixture.store, id, 0, &chunk, &err), &err);
    assert_int_equal(chunk.node_count, graph->node_count);
    for (uint32_t node = 0; node < graph->node_count; node++) {
        reference_row(graph, &fixture.settings, node, &row);
        compare_row(&chunk, node, attributes, &row, &totals);
    }
    compare_schema(&schema, graph, attributes, &totals);
    store_release_record(&chunk.view);
}

static void builds_what_the_reference_builds_under_every_policy(void **state)
{
    (void)state;
    static struct raw_graph graph;
    struct dataset_schema schema;
    const enum edge_policy policies[] = {EDGES_KEEP, EDGES_REMOVE};
    unsigned number = 0;
    for (int64_t direction = DIRECTION_AUTO; direction <= DIRECTION_REVERSED; direction++)
        for (int p = 0; p < 16; p++) {
            char id[32];
            const unsigned attributes = number % 8;
            (void)snprintf(id, sizeof id, "graph-%u", number++);
            fixture.settings.ingest.direction = direction;
            fixture.settings.ingest.self_loops = policies[p % 2];
            fixture.settings.ingest.duplicates = policies[p / 2 % 2];
            random_graph(&graph, number, p / 4 % 2);
            drop_attributes(&graph, attributes);
            build(id, &graph, attributes, ROOMY, &schema);
            compare(id, &graph, attributes);
        }
}

/* ---- budgets -------------------------------------------------------------------------------- */

static enum error_code note_sum(void *context, const char *key, bool is_artifact, struct error *err)
{
    struct checksum_stream *stream = context;
    struct record_view view = {0};
    (void)is_artifact;
    if (strstr(key, "/schema")) /* the schema contains the dataset's id */
        return ERROR_NONE;
    const enum error_code rc = store_get(fixture.store, key, NULL, &view, err);
    if (rc == ERROR_NONE)
        checksum_stream_add(stream, view.content.bytes, sizeof view.content.bytes);
    store_release_record(&view);
    return rc;
}

/* Returns one checksum over all records of a dataset except its schema. */
static struct checksum sum_of(const char *id)
{
    struct error err = {0};
    struct checksum_stream *stream = NULL;
    assert_ok(checksum_stream_new(&stream, &err), &err);
    assert_ok(store_list(fixture.store, key_dataset(id, "").text, note_sum, stream, &err), &err);
    const struct checksum sum = checksum_stream_sum(stream);
    checksum_stream_free(stream);
    return sum;
}

enum { LARGE_NODES = 50000, LARGE_EDGES = 1000000 };

static void build_large(const char *id, uint64_t memory_bytes)
{
    enum { PIECE = 4000 };
    static int64_t source[PIECE], target[PIECE];
    struct error err = {0};
    struct dataset_builder *builder = start(id, memory_bytes);
    const struct random_stream stream = random_stream_of(3, RANDOM_GENERATOR, 0, 0, 0);
    assert_ok(dataset_builder_set_nodes(builder, LARGE_NODES, false, &err), &err);
    for (int64_t first = 0; first < LARGE_EDGES; first += PIECE) {
        const struct edge_piece piece = {.where = "edges.csv",
                                         .first_line = first,
                                         .count = PIECE,
                                         .source = source,
                                         .target = target};
        for (size_t i = 0; i < PIECE; i++) {
            uint32_t word[4];
            random_block(&stream, (uint64_t)first + i, 0, word);
            source[i] = random_below(word[0], LARGE_NODES);
            target[i] = random_below(word[1], LARGE_NODES);
        }
        assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    }
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
}

static void the_budget_does_not_change_a_bit(void **state)
{
    (void)state;
    fixture.settings.ingest.features.choice = FEATURES_DEGREE;
    fixture.settings.ingest.direction = DIRECTION_UNDIRECTED;
    build_large("roomy", 1U << 28);
    /* One chunk and the buffers take 8.9 MB, so sorting 8 MB of entries has half a megabyte for
     * each range. */
    build_large("tight", 9500000);
    const struct checksum roomy = sum_of("roomy"), tight = sum_of("tight");
    assert_true(checksum_equal(&roomy, &tight));
}

/* Runs in a process of its own, whose peak is measured. Without the budget the peak would be 17 MB
 * higher: 8 for the entries, 8 for the chunk. */
static void memory_stays_near_the_budget(void **state)
{
    (void)state;
#ifdef MEMORY_IS_NOT_OURS
    skip();
#else
    enum { BUDGET = 10 << 20, NODE_ARRAYS = 2 * 4 * LARGE_NODES, SLACK = 3 << 19 };
    int status = 0;
    fixture.settings.ingest.features.choice = FEATURES_DEGREE;
    fixture.settings.ingest.direction = DIRECTION_UNDIRECTED;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rusage before, after;
        if (getrusage(RUSAGE_SELF, &before) != 0)
            _exit(2);
        build_large("bounded", BUDGET);
        if (getrusage(RUSAGE_SELF, &after) != 0)
            _exit(3);
        const long grown = (after.ru_maxrss - before.ru_maxrss) * 1024;
        const bool fits = grown <= BUDGET + NODE_ARRAYS + SLACK;
        if (!fits)
            (void)fprintf(stderr, "grew by %ld bytes\n", grown);
        _exit(fits ? 0 : 1);
    }
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
#endif
}

static void a_budget_that_cannot_do_says_what_can(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t ends[] = {0, 1, 2};
    const struct edge_piece piece = {.where = "e", .count = 3, .source = ends, .target = ends};
    struct dataset_builder *builder = start("small", 1000);
    fixture.settings.ingest.features.choice = FEATURES_DEGREE;
    assert_ok(dataset_builder_set_nodes(builder, 3, false, &err), &err);
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_NO_MEMORY,
                 "a chunk of edges and its buffers take 384.0 KiB: expected a memory budget above "
                 "384.1 KiB, "
                 "found 1000 B: give more --memory",
                 &err);
    fixture.settings.ingest.features.choice = FEATURES_RANDOM;
    builder = start("wide", 1000);
    assert_ok(dataset_builder_set_nodes(builder, 4, false, &err), &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_NO_MEMORY,
                 "a chunk of features takes 1.0 KiB", &err);
}

/* ---- bad edges ------------------------------------------------------------------------------ */

struct one_edge {
    int64_t source, target;
    float weight;
    int64_t time;
    uint16_t type;
};

static enum error_code add_one(struct dataset_builder *builder, struct one_edge edge,
                               struct error *err)
{
    const struct edge_piece piece = {.where = "edges.csv",
                                     .first_line = 17,
                                     .count = 1,
                                     .source = &edge.source,
                                     .target = &edge.target,
                                     .columns = edge_values(&edge.weight, &edge.time, &edge.type)};
    return dataset_builder_add_edges(builder, &piece, err);
}

static void a_bad_edge_is_named_with_its_line(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_builder *builder = start_nodes("bad", 10);
    assert_fails(add_one(builder, (struct one_edge){.source = 10}, &err), ERROR_INPUT,
                 "edges.csv:17: source 10 is out of range: expected a node id from 0 to 9", &err);
    assert_fails(add_one(builder, (struct one_edge){.target = -1}, &err), ERROR_INPUT,
                 "edges.csv:17: target -1 is out of range: expected a node id from 0 to 9", &err);
    assert_fails(add_one(builder, (struct one_edge){.source = 4294967296}, &err), ERROR_INPUT,
                 "edges.csv:17: source 4294967296 is out of range", &err);
    assert_fails(add_one(builder, (struct one_edge){.weight = NAN}, &err), ERROR_INPUT,
                 "edges.csv:17: the weight is nan: expected a finite number", &err);
    assert_fails(add_one(builder, (struct one_edge){.type = 1}, &err), ERROR_INPUT,
                 "edges.csv:17: edge type 1 is out of range: expected an edge type from 0 to 0",
                 &err);
}

static void refused_self_loops_are_named(void **state)
{
    (void)state;
    struct error err = {0};
    fixture.settings.ingest.self_loops = EDGES_REFUSE;
    struct dataset_builder *builder = start_nodes("bad", 10);
    assert_ok(add_one(builder, (struct one_edge){.source = 4}, &err), &err);
    assert_fails(add_one(builder, (struct one_edge){.source = 4, .target = 4}, &err), ERROR_INPUT,
                 "edges.csv:17: node 4 has an edge to itself: expected none", &err);
}

static enum error_code none_expected(void *context, const char *key, bool is_artifact,
                                     struct error *err)
{
    (void)context;
    (void)is_artifact;
    return error_set(err, ERROR_IO, "%s was stored", key);
}

static void refused_duplicates_are_named_and_nothing_is_stored(void **state)
{
    (void)state;
    struct error err = {0};
    const int64_t source[] = {1, 2, 2, 5, 3, 1}, target[] = {2, 3, 2, 1, 2, 2};
    struct edge_piece piece = {
        .where = "a.csv", .first_line = 2, .count = 4, .source = source, .target = target};
    fixture.settings.ingest.duplicates = EDGES_REFUSE;
    struct dataset_builder *builder = start_nodes("bad", 10);
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    piece = (struct edge_piece){.where = "b.csv",
                                .first_line = 100,
                                .count = 2,
                                .source = source + 4,
                                .target = target + 4};
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_INPUT,
                 "b.csv:101: the edge between 1 and 2 repeats that of a.csv:2", &err);
    assert_ok(store_list(fixture.store, "dataset", none_expected, NULL, &err), &err);

    /* The reverse direction counts once the graph is made undirected. */
    fixture.settings.ingest.direction = DIRECTION_UNDIRECTED;
    builder = start_nodes("bad", 10);
    piece.count = 1;
    piece.source = source + 1;
    piece.target = target + 1;
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    piece.first_line = 200;
    piece.source = source + 4;
    piece.target = target + 4;
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    assert_fails(dataset_builder_finish(builder, NULL, &err), ERROR_INPUT,
                 "b.csv:200: the edge between 3 and 2 repeats that of b.csv:100", &err);
}

static void unrepeated_edges_pass_the_refusal(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema;
    fixture.settings.ingest.duplicates = EDGES_REFUSE;
    struct dataset_builder *builder = start_nodes("good", 10);
    for (int64_t i = 0; i < 9; i++)
        assert_ok(add_one(builder, (struct one_edge){.source = i, .target = i + 1}, &err), &err);
    assert_ok(add_one(builder, (struct one_edge){.source = 0, .target = 1, .time = 5}, &err), &err);
    assert_ok(dataset_builder_finish(builder, &schema, &err), &err);
    assert_int_equal(schema.edge_count, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(memory_stays_near_the_budget), /* first, because a peak only ever grows */
        FIXTURE_TEST(builds_what_the_reference_builds_under_every_policy),
        FIXTURE_TEST(the_budget_does_not_change_a_bit),
        FIXTURE_TEST(a_budget_that_cannot_do_says_what_can),
        FIXTURE_TEST(a_bad_edge_is_named_with_its_line),
        FIXTURE_TEST(refused_self_loops_are_named),
        FIXTURE_TEST(refused_duplicates_are_named_and_nothing_is_stored),
        FIXTURE_TEST(unrepeated_edges_pass_the_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
