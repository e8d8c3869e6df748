/* Random graphs through the builder against an obvious reference, for every policy; then bad input. */
#include "common/base/memory.h"
#include "common/base/random.h"
#include "stages/ingest/dataset_builder.h"
#include "store/keys.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES_MAX = 64, EDGES_MAX = 600, ROOMY = 1 << 24 };

struct raw_graph {
    uint32_t node_count;
    bool undirected;
    size_t count;
    int64_t source[EDGES_MAX], target[EDGES_MAX];
    float weight[EDGES_MAX];
    double time[EDGES_MAX];
    uint16_t type[EDGES_MAX];
};

struct reference_edge {
    uint32_t neighbor;
    uint16_t type;
    double time;
    float weight;
    size_t input;
};

struct reference_row {
    size_t count;
    struct reference_edge edge[2 * EDGES_MAX];
};

struct fixture {
    struct temp_dir dir;
    struct store *store;
    struct pipeline_settings settings;
    struct dataset_builder *builder;
};

static struct fixture fixture;

static int open_fixture(void **state)
{
    (void)state;
    struct error err = {0};
    temp_dir_make(&fixture.dir);
    assert_ok(store_open(fixture.dir.path, 0, &fixture.store, &err), &err);
    pipeline_settings_defaults(&fixture.settings);
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    dataset_builder_free(fixture.builder);
    fixture.builder = NULL;
    store_close(fixture.store);
    temp_dir_remove(&fixture.dir);
    assert_int_equal(memory_live_blocks(), 0);
    return 0;
}

static struct dataset_builder *start(const char *id, uint64_t memory_bytes)
{
    struct error err = {0};
    const struct dataset_builder_config config = {.store = fixture.store,
                                                  .settings = &fixture.settings,
                                                  .dataset_id = id,
                                                  .name = "test",
                                                  .memory_bytes = memory_bytes};
    dataset_builder_free(fixture.builder);
    fixture.builder = NULL;
    assert_ok(dataset_builder_new(&config, &fixture.builder, &err), &err);
    return fixture.builder;
}

static struct dataset_builder *start_nodes(const char *id, uint64_t node_count)
{
    struct error err = {0};
    struct dataset_builder *builder = start(id, ROOMY);
    assert_ok(dataset_builder_set_nodes(builder, node_count, false, &err), &err);
    return builder;
}

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
    if (x->time < y->time || x->time > y->time)
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
            fabs(row->edge[e].time - edge.time) < 0.5)
            return;
    row->edge[row->count++] = edge;
}

/* Row `node` by going through all edges. */
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

/* What the reference does not know about when the input does not say it. */
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
            .weight = attributes & WEIGHTS ? graph->weight + i : NULL,
            .time = attributes & TIMES ? graph->time + i : NULL,
            .edge_type = attributes & TYPES ? graph->type + i : NULL,
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
        if (attributes & WEIGHTS)
            assert_memory_equal(&chunk->weight[at], &row->edge[i].weight, sizeof(float));
        if (attributes & TIMES)
            assert_memory_equal(&chunk->time[at], &row->edge[i].time, sizeof(double));
        if (attributes & TYPES)
            assert_int_equal(chunk->edge_type[at], row->edge[i].type);
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
    assert_int_equal(schema->has_weight, graph->count > 0 && (attributes & WEIGHTS) != 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(builds_what_the_reference_builds_under_every_policy,
                                        open_fixture, close_fixture),
    };
    (void)start_nodes;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
