/*
 * Versions that are stored as deltas beside the same ones written whole: after each of several updates at random, everything that is
 * read of one is to the byte what is read of the other, and no update writes more than it changes.
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

enum { CLASSES = 4, ROOMY = 1 << 28, UPDATES = 5, TEXT_SIZE = 1 << 16 };

/* A kind of graph. */
struct kind {
    uint32_t nodes, edges, dim;
    enum node_id_form ids;
    bool undirected, weighted, timed;
    enum edge_policy duplicates, self_loops;
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

/* ---- the root ------------------------------------------------------------------------------------ */

static void push_ids(struct dataset_builder *builder, const struct kind *kind)
{
    struct error err = {0};
    struct node_ids ids = {.node_count = kind->nodes};
    int64_t *integer = memory_alloc(kind->nodes, sizeof *integer);
    uint64_t *offset = memory_alloc(kind->nodes + 1, sizeof *offset);
    char *text = memory_alloc(kind->nodes, 16);
    for (uint32_t i = 0; i < kind->nodes; i++) {
        integer[i] = 1000 + 7 * (int64_t)i;
        offset[i + 1] = offset[i] + (uint64_t)sprintf(text + offset[i], "n%u", i);
    }
    if (kind->ids == NODE_ID_INTEGER)
        ids.integer = integer;
    ids.offset = offset;
    ids.text = text;
    if (kind->ids != NODE_ID_CONSECUTIVE)
        assert_ok(dataset_builder_set_ids(builder, &ids, &err), &err);
    memory_free(integer);
    memory_free(offset);
    memory_free(text);
}

static void push_targets(struct dataset_builder *builder, const struct kind *kind)
{
    struct error err = {0};
    const char name[] = "single_label";
    int32_t *label = memory_alloc(kind->nodes, sizeof *label);
    int64_t *node = memory_alloc(kind->nodes, sizeof *node);
    for (uint32_t i = 0; i < kind->nodes; i++)
        label[i] = (int32_t)(i % CLASSES);
    const struct label_rows labels = {
        .task = task_named(name, strlen(name)), .columns = 1, .count = kind->nodes, .row = label};
    assert_ok(dataset_builder_set_labels(builder, "labels", 1, &labels, &err), &err);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        uint64_t count = 0;
        for (uint32_t i = 0; i < kind->nodes; i++)
            if (i % 5 == (uint32_t)s)
                node[count++] = i;
        assert_ok(dataset_builder_set_split(builder, (enum split)s, "split", 1, node, count, &err),
                  &err);
    }
    memory_free(label);
    memory_free(node);
}

static void push_rows(struct dataset_builder *builder, const struct kind *kind)
{
    struct error err = {0};
    float *row = memory_alloc(kind->dim, sizeof *row);
    for (uint32_t i = 0; i < kind->nodes; i++) {
        for (uint32_t c = 0; c < kind->dim; c++)
            row[c] = (float)((i * 31 + c) % 1009);
        assert_ok(dataset_builder_add_features(builder, "rows", row, 1, kind->dim, &err), &err);
    }
    memory_free(row);
}

static void push_edges(struct dataset_builder *builder, const struct kind *kind)
{
    struct error err = {0};
    for (uint32_t e = 0; e < kind->edges; e++) {
        const int64_t source = draw(kind->nodes), target = draw(kind->nodes);
        const float weight = (float)draw(9) - 1;
        const double time = draw(3);
        struct edge_piece piece = {.where = "edges",
                                   .first_line = e + 1,
                                   .count = 1,
                                   .source = &source,
                                   .target = &target};
        if (kind->weighted) {
            piece.columns.width.of[EDGE_WEIGHT] = 1;
            piece.columns.data[EDGE_WEIGHT] = &weight;
        }
        if (kind->timed) {
            piece.columns.width.of[EDGE_TIME] = 1;
            piece.columns.data[EDGE_TIME] = &time;
        }
        if (kind->duplicates != EDGES_REFUSE || source % 2 == 0) /* of which few are met twice */
            assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    }
}

static void ingest_root(struct store *store, const struct kind *kind)
{
    struct error err = {0};
    struct dataset_builder *builder = NULL;
    const struct dataset_builder_config config = {.store = store,
                                                  .settings = &settings,
                                                  .dataset_id = "g-0000",
                                                  .name = "g",
                                                  .memory_bytes = ROOMY};
    assert_ok(dataset_builder_new(&config, &builder, &err), &err);
    assert_ok(dataset_builder_set_nodes(builder, kind->nodes, STATED_DIRECTED, &err), &err);
    push_ids(builder, kind);
    push_targets(builder, kind);
    push_edges(builder, kind);
    push_rows(builder, kind);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    dataset_builder_free(builder);
}

/* ---- an update at random -------------------------------------------------------------------------- */

/* The version as it is, written whole: what may be removed. */
struct present {
    struct dataset_schema schema;
    struct node_ids ids;
};

static const char *name_of(const struct present *p, uint32_t node, char out[32])
{
    char text[NODE_ID_TEXT_SIZE];
    const char *name = node_ids_text(&p->ids, node, text);
    const size_t quoted = name[0] == '\'';
    (void)snprintf(out, 32, "%.*s", (int)(strlen(name) - 2 * quoted), name + quoted);
    return out;
}

struct texts {
    char gone_nodes[TEXT_SIZE], gone_edges[TEXT_SIZE], nodes[TEXT_SIZE], rows[TEXT_SIZE * 8],
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

static void new_name(const struct kind *kind, int version, uint32_t i, char out[32])
{
    if (kind->ids == NODE_ID_STRING)
        (void)snprintf(out, 32, "v%d_%u", version, i);
    else
        (void)snprintf(out, 32, "%u", 100000000U + 1000U * (unsigned)version + i);
}

static void add_row(const struct kind *kind, struct texts *t, const char *name)
{
    add(t->rows, sizeof t->rows, "%s", name);
    for (uint32_t c = 0; c < kind->dim; c++)
        add(t->rows, sizeof t->rows, ",%u", draw(100));
    add(t->rows, sizeof t->rows, "\n");
}

static void add_edge(const struct kind *kind, struct texts *t, const char *source,
                     const char *target)
{
    add(t->edges, sizeof t->edges, "%s,%s", source, target);
    if (kind->weighted)
        add(t->edges, sizeof t->edges, ",%d", (int)draw(9) - 1);
    if (kind->timed)
        add(t->edges, sizeof t->edges, ",%u", draw(3));
    add(t->edges, sizeof t->edges, "\n");
}

static bool is_gone(const uint32_t *gone, uint32_t count, uint32_t node)
{
    for (uint32_t i = 0; i < count; i++)
        if (gone[i] == node)
            return true;
    return false;
}

/* Edges that are removed, each once, and come again in part; their nodes stay or go. */
static void write_edges(struct store *store, const char *id, const struct kind *kind,
                        const struct present *p, struct texts *t, const uint32_t *gone,
                        uint32_t gone_count)
{
    struct error err = {0};
    struct edge_chunk chunk;
    char source[32], target[32];
    uint64_t taken[6];
    uint32_t count = 0;
    const int64_t last = (int64_t)p->schema.edge_chunk_count - 1;
    assert_ok(edge_chunk_get(store, id, draw(2) ? last : 0, &chunk, &err), &err);
    for (int i = 0; i < 6 && chunk.edge_count; i++) {
        const uint64_t e = draw((uint32_t)chunk.edge_count);
        uint32_t row = 0;
        while (chunk.row_start[row + 1] <= e)
            row++;
        uint32_t a = chunk.neighbor[e], b = chunk.first_node + row;
        if (kind->undirected && a > b) {
            const uint32_t swap = a;
            a = b;
            b = swap;
        }
        const uint64_t key = (uint64_t)a << 32 | b;
        bool again = false;
        for (uint32_t k = 0; k < count; k++)
            again |= taken[k] == key;
        if (again)
            continue;
        taken[count++] = key;
        add(t->gone_edges, sizeof t->gone_edges, "%s,%s\n", name_of(p, a, source),
            name_of(p, b, target));
        if (i % 2 && !is_gone(gone, gone_count, a) && !is_gone(gone, gone_count, b))
            add_edge(kind, t, name_of(p, b, source), name_of(p, a, target));
        else if (i == 0 && !is_gone(gone, gone_count, a) && kind->duplicates != EDGES_REFUSE)
            add_edge(kind, t, name_of(p, a, source), name_of(p, a, target)); /* a self loop */
    }
    /* One that is there already. */
    const uint64_t e = chunk.edge_count ? draw((uint32_t)chunk.edge_count) : 0;
    uint32_t row = 0;
    while (chunk.edge_count && chunk.row_start[row + 1] <= e)
        row++;
    if (chunk.edge_count && kind->duplicates != EDGES_REFUSE) {
        const uint32_t a = chunk.neighbor[e], b = chunk.first_node + row;
        if (!is_gone(gone, gone_count, a) && !is_gone(gone, gone_count, b))
            add_edge(kind, t, name_of(p, a, source), name_of(p, b, target));
    }
    store_release_record(&chunk.view);
}

static void write_update(struct store *store, const char *id, const struct kind *kind, int version,
                         struct texts *t)
{
    struct error err = {0};
    static struct present p;
    char a[32], b[32];
    uint32_t gone[4], gone_count = 0;
    bool has_ids = false;
    *t = (struct texts){.rows = ""};
    assert_ok(dataset_schema_get(store, id, &p.schema, &err), &err);
    assert_ok(merged_ids_find(store, id, &has_ids, &p.ids, &err), &err);
    const uint32_t nodes = p.schema.node_count;
    for (int i = 0; i < 4; i++) {
        /* Old ones, and of those that came last. */
        const uint32_t node = i == 3 ? nodes - 1 - draw(4) : draw(nodes);
        if (version == 2 || is_gone(gone, gone_count, node))
            continue;
        gone[gone_count++] = node;
        add(t->gone_nodes, sizeof t->gone_nodes, "%s\n", name_of(&p, node, a));
    }
    write_edges(store, id, kind, &p, t, gone, gone_count);
    add(t->nodes, sizeof t->nodes, "id,split,label\n");
    for (uint32_t i = 0; i < 5; i++) {
        static const char *const split[] = {"train", "valid", "test", ""};
        new_name(kind, version, i, a);
        add(t->nodes, sizeof t->nodes, "%s,%s,%u\n", a, split[draw(4)], draw(CLASSES));
        add_row(kind, t, a);
        const uint32_t other = draw(nodes);
        if (!is_gone(gone, gone_count, other))
            add_edge(kind, t, i % 2 ? a : name_of(&p, other, b), i % 2 ? name_of(&p, other, b) : a);
        if (i && kind->duplicates != EDGES_REFUSE) {
            new_name(kind, version, i - 1, b);
            add_edge(kind, t, a, b);
            add_edge(kind, t, a, b);
        }
    }
    for (int i = 0; i < 3; i++) {
        const uint32_t node = i ? draw(nodes) : nodes - 1;
        if (!is_gone(gone, gone_count, node) && !strstr(t->rows, name_of(&p, node, a)))
            add_row(kind, t, a);
    }
    store_release_record(&p.ids.view);
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
    assert_ok(merged_labels_get(from, id, &labels, &err), &err);
    assert_ok(node_labels_put(to, copy, &labels, &err), &err);
    store_release_record(&labels.view);
    assert_ok(merged_splits_get(from, id, &splits, &err), &err);
    assert_ok(node_splits_put(to, key_dataset(copy, "splits").text, copy, &splits, &err), &err);
    store_release_record(&splits.view);
    assert_ok(merged_ids_find(from, id, &has_ids, &ids, &err), &err);
    assert_int_equal(has_ids, schema.node_id_form != NODE_ID_CONSECUTIVE);
    if (has_ids)
        assert_ok(node_ids_put(to, copy, &ids, &err), &err);
    store_release_record(&ids.view);
}

/* To put other content under the same key is an alarm: so what was written whole is compared with what is merged. */
static void assert_same(struct store *merged, const char *id, struct store *whole)
{
    struct error err = {0};
    static struct dataset_schema a, b;
    char *left = NULL, *right = NULL;
    materialise(merged, id, whole, id);
    assert_ok(dataset_schema_get(merged, id, &a, &err), &err);
    assert_ok(dataset_schema_get(whole, id, &b, &err), &err);
    assert_int_equal(a.node_count, b.node_count);
    assert_int_equal(a.node_type[0].node_count, b.node_type[0].node_count);
    assert_int_equal(a.negative_weight_count == 0, b.negative_weight_count == 0);
    assert_int_equal(a.edge_count, b.edge_count);
    assert_int_equal(a.self_loop_count, b.self_loop_count);
    assert_int_equal(a.input_edge_rows, b.input_edge_rows);
    assert_int_equal(a.removed_self_loops, b.removed_self_loops);
    assert_int_equal(a.removed_duplicates, b.removed_duplicates);
    assert_int_equal(a.edge_chunk_count, b.edge_chunk_count);
    assert_int_equal(a.feature_chunk_count, b.feature_chunk_count);
    assert_int_equal(a.node_id_form, b.node_id_form);
    assert_int_equal(a.train_count, b.train_count);
    assert_int_equal(a.valid_count, b.valid_count);
    assert_int_equal(a.test_count, b.test_count);
    assert_int_equal(a.edge_type[0].edge_count, b.edge_type[0].edge_count);
    /* The reports, but for the share of zeros, which is reckoned. */
    assert_ok(dataset_report_get(merged, id, &left, &err), &err);
    assert_ok(dataset_report_get(whole, id, &right, &err), &err);
    const char *end = strstr(left, ",\"feature_zero_share\"");
    assert_non_null(end);
    assert_memory_equal(left, right, (size_t)(end - left));
    memory_free(left);
    memory_free(right);
}

static void compare_versions(const struct kind *kind, int updates)
{
    struct temp_store merged, whole;
    static struct texts t;
    struct error err = {0};
    char id[ID_SIZE] = "g-0000", same[ID_SIZE], base[ID_SIZE];
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "g");
    settings.ingest.direction = kind->undirected ? DIRECTION_UNDIRECTED : DIRECTION_AS_GIVEN;
    settings.ingest.duplicates = kind->duplicates;
    settings.ingest.self_loops = kind->self_loops;
    temp_dir_make(&merged.dir);
    temp_dir_make(&whole.dir);
    assert_ok(store_open(merged.dir.path, 0, &merged.store, &err), &err);
    assert_ok(store_open(whole.dir.path, 0, &whole.store, &err), &err);
    const uint32_t began = drawn;
    ingest_root(merged.store, kind);
    drawn = began;
    ingest_root(whole.store, kind);
    for (int version = 1; version <= updates; version++) {
        struct version_place place = {
            .store = merged.store, .settings = &settings, .memory_bytes = ROOMY, .root = "g-0000"};
        bool unchanged = true;
        write_update(whole.store, id, kind, version, &t);
        const struct update_request request = {.remove_nodes = put("gone_nodes", t.gone_nodes),
                                               .remove_edges = put("gone_edges", t.gone_edges),
                                               .add_nodes = put("nodes", t.nodes),
                                               .features = put("rows", t.rows),
                                               .add_edges = put("edges", t.edges)};
        settings.partition.compact = 1.0;
        const uint64_t before = store_traffic(merged.store).bytes_written;
        assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &err), &err);
        assert_false(unchanged);
        assert_in_range(store_traffic(merged.store).bytes_written - before, 1,
                        strlen(t.rows) * 4 + 20000);
        assert_ok(dataset_merge_base(merged.store, id, base, &err), &err);
        assert_string_equal(base, "g-0000");
        settings.partition.compact = 0.0;
        place.store = whole.store;
        assert_ok(dataset_versions_update(&place, &request, same, &unchanged, &err), &err);
        assert_string_equal(same, id);
        assert_ok(dataset_merge_base(whole.store, id, base, &err), &err);
        assert_string_equal(base, "");
        assert_same(merged.store, id, whole.store);
    }
    store_close(merged.store);
    store_close(whole.store);
    temp_dir_remove(&merged.dir);
    temp_dir_remove(&whole.dir);
}

static void merged_is_to_the_byte_what_is_whole(void **state)
{
    (void)state;
    for (int form = 0; form < 24; form++) {
        const struct kind kind = {.nodes = 300,
                                  .edges = 1500,
                                  .dim = 3,
                                  .ids = (enum node_id_form)(NODE_ID_CONSECUTIVE + form % 3),
                                  .undirected = form & 1,
                                  .weighted = form & 2,
                                  .timed = form & 4,
                                  .duplicates = form & 8 ? EDGES_REMOVE : EDGES_KEEP,
                                  .self_loops = form & 2 ? EDGES_REMOVE : EDGES_KEEP};
        compare_versions(&kind, UPDATES);
    }
}

static void chunks_end_where_those_of_the_whole_do(void **state)
{
    (void)state;
    const struct kind wide = {.nodes = 700, .edges = 900, .dim = 20000, .ids = NODE_ID_CONSECUTIVE};
    const struct kind long_one = {.nodes = (1U << 20) + 3,
                                  .edges = 3000,
                                  .dim = 1,
                                  .ids = NODE_ID_CONSECUTIVE,
                                  .undirected = true,
                                  .duplicates = EDGES_REMOVE};
    assert_true(feature_chunk_rows(wide.dim) == 256);
    compare_versions(&wide, 2);
    compare_versions(&long_one, 3);
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
        cmocka_unit_test(merged_is_to_the_byte_what_is_whole),
        cmocka_unit_test(chunks_end_where_those_of_the_whole_do),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
