/*
 * Versions of a dataset after several updates at random, merged and whole, beside what ingest makes of the graph as it is then: this test
 * keeps the graph as its user knows it. Everything that is read is to the byte the same, and no update writes more than it changes.
 */
#include "common/base/memory.h"
#include "common/base/random.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/update/dataset_versions.h"
#include "store/records/dataset_merge.h"
#include "store/versions/merged_records.h"

#include "tests/support/temp_dir.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLASSES = 4, ROOMY = 1 << 28, TEXT_SIZE = 1 << 16, NAME_SIZE = 16, GONE_MAX = 4 };

/* A kind of graph. */
struct kind {
    uint32_t nodes, edges, dim;
    enum node_id_form ids;
    bool undirected, weighted, timed, links, keeps_nodes;
    enum edge_policy duplicates, self_loops;
};

struct node {
    char name[NAME_SIZE];
    int label, split;  /* 3: none */
    uint32_t features; /* what its row is made of */
    bool is_gone;
};

struct edge {
    uint32_t source, target; /* nodes, by their places in `node` */
    float weight;
    double time;
};

/* The graph, in the order of the input; nodes keep their places when others go. */
struct world {
    const struct kind *kind;
    struct node *node;
    uint32_t node_count;
    struct edge *edge;
    uint32_t edge_count;
    uint32_t *number; /* [node_count] in a dataset, once it is ingested */
};

static struct pipeline_settings settings;
static struct temp_dir dir;
static uint32_t drawn;

static uint32_t draw(uint32_t below)
{
    const struct random_stream stream = random_stream_of(5, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t word[4];
    random_block(&stream, drawn++, 0, word);
    return random_below(word[0], below);
}

static float feature_of(uint32_t features, uint32_t column)
{
    return (float)((features * 31 + column) % 1009);
}

/* ---- the graph ----------------------------------------------------------------------------------- */

static void new_edge(struct world *w, uint32_t source, uint32_t target)
{
    w->edge[w->edge_count++] = (struct edge){
        .source = source, .target = target, .weight = (float)draw(9) - 1, .time = draw(3)};
}

static void world_begin(struct world *w, const struct kind *kind)
{
    const uint32_t room = kind->nodes + 64;
    *w = (struct world){.kind = kind, .node_count = kind->nodes};
    w->node = memory_alloc(room, sizeof *w->node);
    w->number = memory_alloc(room, sizeof *w->number);
    w->edge = memory_alloc(kind->edges + 256, sizeof *w->edge);
    for (uint32_t i = 0; i < kind->nodes; i++) {
        w->node[i] = (struct node){
            .label = (int)(i % CLASSES), .split = (int)(i % 5 < 3 ? i % 5 : 3), .features = i};
        (void)snprintf(w->node[i].name, NAME_SIZE, kind->ids == NODE_ID_STRING ? "n%u" : "%u",
                       kind->ids == NODE_ID_INTEGER ? 1000 + 7 * i : i);
    }
    for (uint32_t e = 0; e < kind->edges; e++)
        new_edge(w, draw(kind->nodes), draw(kind->nodes));
}

static void world_end(struct world *w)
{
    memory_free(w->node);
    memory_free(w->number);
    memory_free(w->edge);
}

/* ---- what ingest makes of it ------------------------------------------------------------------------ */

static uint32_t number_nodes(struct world *w)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->node_count; i++)
        w->number[i] = w->node[i].is_gone ? UINT32_MAX : count++;
    return count;
}

static void push_ids(struct dataset_builder *builder, const struct world *w, uint32_t count)
{
    struct error err = {0};
    struct node_ids ids = {.node_count = count};
    int64_t *integer = memory_alloc(count, sizeof *integer);
    uint64_t *offset = memory_alloc(count + 1, sizeof *offset);
    char *text = memory_alloc(count, NAME_SIZE);
    bool are_numbers = w->kind->ids != NODE_ID_STRING;
    uint32_t at = 0;
    for (uint32_t i = 0; i < w->node_count; i++) {
        if (w->node[i].is_gone)
            continue;
        integer[at] = strtoll(w->node[i].name, NULL, 10);
        are_numbers &= integer[at] == at;
        (void)memcpy(text + offset[at], w->node[i].name, strlen(w->node[i].name));
        offset[at + 1] = offset[at] + strlen(w->node[i].name);
        at++;
    }
    if (w->kind->ids != NODE_ID_STRING)
        ids.integer = integer;
    ids.offset = offset;
    ids.text = text;
    if (!are_numbers)
        assert_ok(dataset_builder_set_ids(builder, &ids, &err), &err);
    memory_free(integer);
    memory_free(offset);
    memory_free(text);
}

static void push_targets(struct dataset_builder *builder, const struct world *w, uint32_t count)
{
    struct error err = {0};
    const char name[] = "single_label";
    int32_t *label = memory_alloc(count, sizeof *label);
    int64_t *node = memory_alloc(count, sizeof *node);
    for (uint32_t i = 0; i < w->node_count; i++)
        if (!w->node[i].is_gone)
            label[w->number[i]] = w->node[i].label;
    const struct label_rows labels = {
        .task = task_named(name, strlen(name)), .columns = 1, .count = count, .row = label};
    assert_ok(dataset_builder_set_labels(builder, "labels", 1, &labels, &err), &err);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        uint64_t nodes = 0;
        for (uint32_t i = 0; i < w->node_count; i++)
            if (!w->node[i].is_gone && w->node[i].split == s)
                node[nodes++] = w->number[i];
        assert_ok(dataset_builder_set_split(builder, (enum split)s, "split", 1, node, nodes, &err),
                  &err);
    }
    memory_free(label);
    memory_free(node);
}

static void push_rows(struct dataset_builder *builder, const struct world *w)
{
    struct error err = {0};
    const uint32_t dim = w->kind->dim;
    float *row = memory_alloc(dim, sizeof *row);
    for (uint32_t i = 0; i < w->node_count; i++) {
        for (uint32_t c = 0; c < dim; c++)
            row[c] = feature_of(w->node[i].features, c);
        if (!w->node[i].is_gone)
            assert_ok(dataset_builder_add_features(builder, "rows", row, 1, dim, &err), &err);
    }
    memory_free(row);
}

static void push_edges(struct dataset_builder *builder, const struct world *w)
{
    struct error err = {0};
    for (uint32_t e = 0; e < w->edge_count; e++) {
        const struct edge *edge = &w->edge[e];
        const int64_t source = w->number[edge->source], target = w->number[edge->target];
        struct edge_piece piece = {.where = "edges",
                                   .first_line = e + 1,
                                   .count = 1,
                                   .source = &source,
                                   .target = &target};
        if (w->kind->weighted) {
            piece.columns.width.of[EDGE_WEIGHT] = 1;
            piece.columns.data[EDGE_WEIGHT] = &edge->weight;
        }
        if (w->kind->timed) {
            piece.columns.width.of[EDGE_TIME] = 1;
            piece.columns.data[EDGE_TIME] = &edge->time;
        }
        assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    }
}

static void ingest(struct store *store, struct world *w, const char *id)
{
    struct error err = {0};
    struct dataset_builder *builder = NULL;
    const uint32_t count = number_nodes(w);
    const struct dataset_builder_config config = {.store = store,
                                                  .settings = &settings,
                                                  .dataset_id = id,
                                                  .name = "g",
                                                  .memory_bytes = ROOMY};
    assert_ok(dataset_builder_new(&config, &builder, &err), &err);
    assert_ok(dataset_builder_set_nodes(builder, count, STATED_DIRECTED, &err), &err);
    push_ids(builder, w, count);
    if (!w->kind->links)
        push_targets(builder, w, count);
    push_edges(builder, w);
    push_rows(builder, w);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    dataset_builder_free(builder);
}

/* ---- an update at random -------------------------------------------------------------------------- */

struct texts {
    char gone_nodes[TEXT_SIZE], gone_edges[TEXT_SIZE], nodes[TEXT_SIZE], rows[TEXT_SIZE * 16],
        edges[TEXT_SIZE];
};

static void add(char *text, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

static void add(char *text, size_t size, const char *format, ...)
{
    const size_t at = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(text + at, size - at, format, arguments);
    va_end(arguments);
    assert_true(more >= 0 && (size_t)more < size - at);
}

static uint32_t draw_node(const struct world *w, uint32_t from)
{
    uint32_t node = 0;
    do {
        node = from + draw(w->node_count - from);
    } while (w->node[node].is_gone);
    return node;
}

static void say_row(const struct world *w, struct texts *t, uint32_t node)
{
    size_t at = strlen(t->rows);
    at += (size_t)sprintf(t->rows + at, "%s", w->node[node].name);
    for (uint32_t c = 0; c < w->kind->dim; c++) {
        at += (size_t)sprintf(t->rows + at, ",%g", (double)feature_of(w->node[node].features, c));
        assert_true(at + 32 < sizeof t->rows);
    }
    (void)snprintf(t->rows + at, sizeof t->rows - at, "\n");
}

static void say_edge(const struct world *w, struct texts *t, const struct edge *edge)
{
    add(t->edges, sizeof t->edges, "%s,%s", w->node[edge->source].name, w->node[edge->target].name);
    if (w->kind->weighted)
        add(t->edges, sizeof t->edges, ",%g", (double)edge->weight);
    if (w->kind->timed)
        add(t->edges, sizeof t->edges, ",%g", edge->time);
    add(t->edges, sizeof t->edges, "\n");
}

static void come(struct world *w, struct texts *t, uint32_t source, uint32_t target)
{
    new_edge(w, source, target);
    say_edge(w, t, &w->edge[w->edge_count - 1]);
}

static bool joins(const struct world *w, const struct edge *edge, uint32_t source, uint32_t target)
{
    return (edge->source == source && edge->target == target) ||
           (w->kind->undirected && edge->source == target && edge->target == source);
}

/* All edges of the same ends; false when there are none any more. */
static bool remove_edges(struct world *w, uint32_t source, uint32_t target)
{
    uint32_t left = 0;
    for (uint32_t e = 0; e < w->edge_count; e++)
        if (!joins(w, &w->edge[e], source, target))
            w->edge[left++] = w->edge[e];
    const bool found = left < w->edge_count;
    w->edge_count = left;
    return found;
}

static void remove_nodes(struct world *w, struct texts *t, int version)
{
    uint32_t left = 0;
    for (int i = 0; i < GONE_MAX && version != 2 && !w->kind->keeps_nodes; i++) {
        /* Old ones, and of those that came last. */
        const uint32_t node = draw_node(w, i == 3 ? w->node_count - 4 : 0);
        w->node[node].is_gone = true;
        add(t->gone_nodes, sizeof t->gone_nodes, "%s\n", w->node[node].name);
    }
    for (uint32_t e = 0; e < w->edge_count; e++)
        if (!w->node[w->edge[e].source].is_gone && !w->node[w->edge[e].target].is_gone)
            w->edge[left++] = w->edge[e];
    w->edge_count = left;
}

/* Edges that go, of which some come again at once, and some that are there already. */
static void change_edges(struct world *w, struct texts *t)
{
    for (int i = 0; i < 6; i++) {
        /* A self loop that ingest removed is none that could be. */
        const struct edge edge = w->edge[draw(w->edge_count)];
        if (edge.source == edge.target || !remove_edges(w, edge.source, edge.target))
            continue;
        /* What came with this update is not there yet. */
        add(t->gone_edges, sizeof t->gone_edges, "%s,%s\n", w->node[edge.source].name,
            w->node[edge.target].name);
    }
    const uint32_t stays = w->edge_count;
    const char *line = t->gone_edges;
    for (int i = 0; *line; i++, line = strchr(line, '\n') + 1) {
        uint32_t end[2] = {0, 0};
        char name[2][NAME_SIZE];
        assert_int_equal(sscanf(line, "%15[^,],%15[^\n]", name[0], name[1]), 2);
        for (int k = 0; k < 2; k++)
            while (strcmp(w->node[end[k]].name, name[k]) != 0)
                end[k]++;
        if (i % 2)
            come(w, t, end[1], end[0]);
    }
    come(w, t, w->edge[draw(stays)].source, w->edge[draw(stays)].target);
    for (int i = 0; i < 3; i++) {
        const struct edge there = w->edge[draw(stays)];
        come(w, t, there.source, there.target);
    }
    const uint32_t node = draw_node(w, 0);
    come(w, t, node, node);
}

static void add_nodes(struct world *w, struct texts *t, int version)
{
    static const char *const split[] = {"train", "valid", "test", ""};
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t node = w->node_count, other = draw_node(w, 0);
        struct node *new = &w->node[w->node_count++];
        *new = (struct node){.label = (int)draw(CLASSES),
                             .split = (int)draw(4),
                             .features = 5000000 + 10 * (uint32_t)version + i};
        (void)snprintf(new->name, NAME_SIZE, w->kind->ids == NODE_ID_STRING ? "v%u" : "%u",
                       100000000 + 1000 * (unsigned)version + i);
        if (w->kind->links)
            add(t->nodes, sizeof t->nodes, "%s\n", new->name);
        else
            add(t->nodes, sizeof t->nodes, "%s,%s,%d\n", new->name, split[new->split], new->label);
        say_row(w, t, node);
        come(w, t, i % 2 ? node : other, i % 2 ? other : node);
        if (i) {
            come(w, t, node, node - 1);
            come(w, t, node, node - 1);
        }
    }
}

static void change_rows(struct world *w, struct texts *t, uint32_t before)
{
    for (int i = 0; i < 3; i++) {
        char start[NAME_SIZE + 2];
        const uint32_t node = i ? draw(before) : before - 1;
        (void)snprintf(start, sizeof start, "%s,", w->node[node].name);
        if (w->node[node].is_gone || strncmp(t->rows, start, strlen(start)) == 0)
            continue;
        w->node[node].features += 1000 + (uint32_t)i;
        say_row(w, t, node);
        break;
    }
}

static void update_world(struct world *w, int version, struct texts *t)
{
    const uint32_t before = w->node_count;
    *t = (struct texts){.rows = ""};
    remove_nodes(w, t, version);
    change_edges(w, t);
    add_nodes(w, t, version);
    change_rows(w, t, before);
}

static const char *put(const char *name, const char *text)
{
    static char paths[8][FILE_PATH_SIZE];
    static int next;
    if (!*text)
        return NULL;
    char *path = paths[next++ % 8];
    (void)snprintf(path, FILE_PATH_SIZE, "%s", temp_dir_write(&dir, name, text, strlen(text)));
    return path;
}

/* ---- what is read ----------------------------------------------------------------------------------- */

/* Writes what is read of a version as records of the dataset `copy`. */
static void materialise(struct store *from, const char *id, struct store *to, const char *copy)
{
    struct error err = {0};
    static struct dataset_schema schema;
    struct node_labels labels;
    struct node_splits splits;
    struct edge_splits links;
    struct node_ids ids;
    bool has_ids = false;
    assert_ok(dataset_schema_get(from, id, &schema, &err), &err);
    for (uint64_t c = 0; c < schema.edge_chunk_count; c++) {
        struct edge_chunk chunk;
        assert_ok(merged_edges_get(from, id, (int64_t)c, &chunk, &err), &err);
        assert_ok(edge_chunk_put(to, copy, (int64_t)c, &chunk, &err), &err);
        store_release_record(&chunk.view);
    }
    for (uint64_t c = 0; c < schema.feature_chunk_count; c++) {
        struct feature_chunk chunk;
        assert_ok(merged_features_get(from, id, (int64_t)c, &chunk, &err), &err);
        assert_ok(feature_chunk_put(to, copy, (int64_t)c, &chunk, &err), &err);
        store_release_record(&chunk.view);
    }
    if (task_has_labels(schema.task)) {
        assert_ok(merged_labels_get(from, id, &labels, &err), &err);
        assert_ok(node_labels_put(to, copy, &labels, &err), &err);
        store_release_record(&labels.view);
    } else {
        assert_ok(merged_edge_splits_get(from, id, schema.node_count, &links, &err), &err);
        assert_true(links.count[HELD_OUT_VALID] > 0 && links.count[HELD_OUT_TEST] > 0);
        assert_ok(edge_splits_put(to, key_dataset(copy, "edge_splits").text, copy, &links, &err),
                  &err);
        store_release_record(&links.view);
    }
    assert_ok(merged_splits_get(from, id, &splits, &err), &err);
    assert_ok(node_splits_put(to, key_dataset(copy, "splits").text, copy, &splits, &err), &err);
    store_release_record(&splits.view);
    assert_ok(merged_ids_find(from, id, &has_ids, &ids, &err), &err);
    assert_int_equal(has_ids, schema.node_id_form != NODE_ID_CONSECUTIVE);
    if (has_ids)
        assert_ok(node_ids_put(to, copy, &ids, &err), &err);
    store_release_record(&ids.view);
}

/* To put other content under the same key is an alarm: so what ingest made is compared with what is read. */
static void assert_same(struct store *store, const char *id, struct store *whole,
                        const char *expected)
{
    struct error err = {0};
    static struct dataset_schema a, b;
    char *left = NULL, *right = NULL;
    materialise(store, id, whole, expected);
    assert_ok(dataset_schema_get(store, id, &a, &err), &err);
    assert_ok(dataset_schema_get(whole, expected, &b, &err), &err);
    assert_int_equal(a.node_count, b.node_count);
    assert_int_equal(a.edge_count, b.edge_count);
    assert_int_equal(a.self_loop_count, b.self_loop_count);
    assert_int_equal(a.edge_chunk_count, b.edge_chunk_count);
    assert_int_equal(a.feature_chunk_count, b.feature_chunk_count);
    assert_int_equal(a.node_id_form, b.node_id_form);
    assert_int_equal(a.class_count, b.class_count);
    assert_int_equal(a.train_count, b.train_count);
    assert_int_equal(a.valid_count, b.valid_count);
    assert_int_equal(a.test_count, b.test_count);
    assert_int_equal(a.edge_type[0].edge_count, b.edge_type[0].edge_count);
    /* The reports, but for the share of zeros, which is reckoned. */
    assert_ok(dataset_report_get(store, id, &left, &err), &err);
    assert_ok(dataset_report_get(whole, expected, &right, &err), &err);
    const char *end = strstr(left, ",\"feature_zero_share\"");
    assert_non_null(end);
    assert_memory_equal(left, right, (size_t)(end - left));
    memory_free(left);
    memory_free(right);
}

static void open_store(struct temp_store *t)
{
    struct error err = {0};
    temp_dir_make(&t->dir);
    assert_ok(store_open(t->dir.path, 0, &t->store, &err), &err);
}

static void close_store(struct temp_store *t)
{
    store_close(t->store);
    temp_dir_remove(&t->dir);
}

/* No pair that is held out is in a row, nor held out twice. */
static void assert_apart(struct store *store, const char *id)
{
    struct error err = {0};
    static struct dataset_schema schema;
    struct edge_chunk chunk;
    struct edge_splits links;
    assert_ok(dataset_schema_get(store, id, &schema, &err), &err);
    assert_ok(merged_edges_get(store, id, 0, &chunk, &err), &err);
    assert_ok(merged_edge_splits_get(store, id, schema.node_count, &links, &err), &err);
    uint8_t *is_held = memory_alloc((size_t)schema.node_count * schema.node_count, 1);
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < links.count[s]; i++) {
            const uint32_t source = links.source[s][i], target = links.target[s][i];
            assert_int_equal(is_held[(size_t)target * schema.node_count + source]++, 0);
            if (schema.undirected)
                is_held[(size_t)source * schema.node_count + target]++;
        }
    for (uint32_t row = 0; row < chunk.node_count; row++)
        for (uint64_t e = chunk.row_start[row]; e < chunk.row_start[row + 1]; e++)
            assert_int_equal(is_held[(size_t)row * schema.node_count + chunk.neighbor[e]], 0);
    memory_free(is_held);
    store_release_record(&chunk.view);
    store_release_record(&links.view);
}

/* With all versions merged, or all of them whole. */
static void compare_versions(const struct kind *kind, int updates, bool is_merged)
{
    struct temp_store living, whole;
    static struct texts t;
    static struct world w;
    struct error err = {0};
    char id[ID_SIZE] = "g-0000", base[ID_SIZE], expected[16];
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "g");
    settings.ingest.direction = kind->undirected ? DIRECTION_UNDIRECTED : DIRECTION_AS_GIVEN;
    settings.ingest.duplicates = kind->duplicates;
    settings.ingest.self_loops = kind->self_loops;
    settings.partition.compact = is_merged ? 1.0 : 0.0;
    if (kind->links) {
        settings.ingest.task = (int64_t)task_named("link_prediction", strlen("link_prediction"));
        (void)snprintf(settings.ingest.edge_split, sizeof settings.ingest.edge_split,
                       "random 70/15/15");
    }
    open_store(&living);
    open_store(&whole);
    world_begin(&w, kind);
    ingest(living.store, &w, "g-0000");
    for (int version = 1; version <= updates; version++) {
        const struct version_place place = {
            .store = living.store, .settings = &settings, .memory_bytes = ROOMY, .root = "g-0000"};
        bool unchanged = true;
        update_world(&w, version, &t);
        const struct update_request request = {.remove_nodes = put("gone_nodes", t.gone_nodes),
                                               .remove_edges = put("gone_edges", t.gone_edges),
                                               .add_nodes = put("nodes", t.nodes),
                                               .features = put("rows", t.rows),
                                               .add_edges = put("edges", t.edges)};
        const uint64_t before = store_traffic(living.store).bytes_written;
        assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &err), &err);
        assert_false(unchanged);
        if (is_merged)
            assert_in_range(store_traffic(living.store).bytes_written - before, 1,
                            strlen(t.rows) * 4 + 20000);
        assert_ok(dataset_merge_base(living.store, id, base, &err), &err);
        assert_string_equal(base, is_merged ? "g-0000" : "");
        (void)snprintf(expected, sizeof expected, "w-%d", version);
        if (kind->links)
            assert_apart(living.store, id);
        if (kind->links && !kind->keeps_nodes)
            continue; /* what a pair draws now is another matter */
        ingest(whole.store, &w, expected);
        assert_same(living.store, id, whole.store, expected);
    }
    world_end(&w);
    close_store(&living);
    close_store(&whole);
}

/* Forms of graphs, each bit of which says one thing. */
static struct kind kind_of(unsigned form)
{
    return (struct kind){.nodes = 300,
                         .edges = 1500,
                         .dim = 3,
                         .ids = (enum node_id_form)(NODE_ID_CONSECUTIVE + (int)(form % 3)),
                         .undirected = form & 1,
                         .weighted = form & 2,
                         .timed = form & 4,
                         .duplicates = form & 8 ? EDGES_REMOVE : EDGES_KEEP,
                         .self_loops = form & 2 ? EDGES_REMOVE : EDGES_KEEP};
}

static void a_merged_version_is_what_ingest_makes_of_the_whole(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 16; form++) {
        const struct kind kind = kind_of(form);
        compare_versions(&kind, 4, true);
    }
}

static void so_is_one_that_is_written_whole(void **state)
{
    (void)state;
    for (unsigned form = 1; form < 16; form += 4) {
        const struct kind kind = kind_of(form);
        compare_versions(&kind, 2, false);
    }
}

/* As long as no node goes; what a pair draws depends on its numbers. */
static void links_are_held_out_as_ingest_draws_them(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 8; form++) {
        struct kind kind = kind_of(form);
        kind.links = kind.keeps_nodes = true;
        kind.self_loops = EDGES_REMOVE;
        compare_versions(&kind, 3, form % 2 == 0 || form > 4);
    }
}

static void what_is_tested_is_never_trained_on(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 8; form++) {
        struct kind kind = kind_of(form);
        kind.links = true;
        kind.edges = 6000; /* so that many come that are there */
        kind.self_loops = EDGES_REMOVE;
        compare_versions(&kind, 4, form % 2 == 0);
    }
}

/* Merged it takes no chunk. */
static void a_chunk_that_is_written_whole_fits_the_budget(void **state)
{
    struct temp_store *t = *state;
    static struct world w;
    const struct kind kind = {
        .nodes = 1U << 19, .edges = 400, .dim = 1, .ids = NODE_ID_CONSECUTIVE};
    const struct version_place place = {
        .store = t->store, .settings = &settings, .memory_bytes = 1 << 21, .root = "g-0000"};
    const struct update_request request = {.add_edges = put("edges", "1,2\n")};
    char id[ID_SIZE];
    bool unchanged = false;
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "g");
    settings.ingest.direction = DIRECTION_AS_GIVEN;
    world_begin(&w, &kind);
    ingest(t->store, &w, "g-0000");
    world_end(&w);
    settings.partition.compact = 0.0;
    assert_fails(dataset_versions_update(&place, &request, id, &unchanged, &t->err),
                 ERROR_NO_MEMORY, "a chunk of edges takes 4.0 MiB: expected a memory budget",
                 &t->err);
    settings.partition.compact = 0.2;
    assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &t->err), &t->err);
}

static void chunks_end_where_those_of_the_whole_do(void **state)
{
    (void)state;
    const struct kind wide = {.nodes = 520, .edges = 900, .dim = 18000, .ids = NODE_ID_CONSECUTIVE};
    const struct kind long_one = {.nodes = (1U << 20) + 3,
                                  .edges = 3000,
                                  .dim = 1,
                                  .ids = NODE_ID_CONSECUTIVE,
                                  .undirected = true,
                                  .duplicates = EDGES_REMOVE};
    assert_true(feature_chunk_rows(wide.dim) == 256);
    compare_versions(&wide, 2, true);
    compare_versions(&long_one, 2, true);
}

static int make_dir(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merged_version_is_what_ingest_makes_of_the_whole),
        cmocka_unit_test(so_is_one_that_is_written_whole),
        cmocka_unit_test(links_are_held_out_as_ingest_draws_them),
        cmocka_unit_test(what_is_tested_is_never_trained_on),
        test_with_store(a_chunk_that_is_written_whole_fits_the_budget),
        cmocka_unit_test(chunks_end_where_those_of_the_whole_do),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
