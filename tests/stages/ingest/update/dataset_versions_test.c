/*
 * Tests updates of small graphs. The expected version is made independently: by the same dataset
 * builder, from the whole graph, with nodes and edges in the order that dataset_delta.h promises.
 */
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/update/dataset_versions.h"
#include "stages/ingest/update/version_chain.h"
#include "store/backends/memory/memory_backend.h"
#include "store/objects/store_kept.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_merge.h"
#include "store/versions/merged_records.h"

#include "tests/stages/ingest/update/update_faults.h"
#include "tests/support/temp_dir.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

enum { NODES = 40, EDGES = 160, NODES_MAX = 64, EDGES_MAX = 256, DIM = 2, ROOMY = 1 << 26 };

/* A graph in the user's view: ids are 100 + number. */
struct graph {
    int nodes, edges;
    int id[NODES_MAX], label[NODES_MAX], split[NODES_MAX];
    float row[NODES_MAX][DIM];
    int source[EDGES_MAX], target[EDGES_MAX]; /* by ids */
    float weight[EDGES_MAX];
};

static struct pipeline_settings settings;
static struct temp_dir dir;

static struct graph base_graph(void)
{
    struct graph g = {.nodes = NODES, .edges = EDGES};
    unsigned draw = 7;
    for (int i = 0; i < NODES; i++) {
        g.id[i] = 100 + i;
        g.label[i] = i % 3;
        g.split[i] = i % 4; /* split 3: none */
        g.row[i][0] = (float)i;
        g.row[i][1] = (float)(i * i % 17);
    }
    for (int e = 0; e < EDGES; e++) {
        g.source[e] = 100 + (int)((draw = draw * 1103515245U + 12345U) >> 16) % NODES;
        g.target[e] = 100 + (int)((draw = draw * 1103515245U + 12345U) >> 16) % NODES;
        g.weight[e] = (float)(e % 5) + 0.5F;
    }
    return g;
}

static int number_of(const struct graph *g, int id)
{
    for (int i = 0; i < g->nodes; i++)
        if (g->id[i] == id)
            return i;
    fail_msg("no node %d", id);
    return -1;
}

static void push_nodes(struct dataset_builder *builder, const struct graph *g)
{
    struct error err = {0};
    int64_t id[NODES_MAX], node[NODES_MAX];
    int32_t label[NODES_MAX];
    for (int i = 0; i < g->nodes; i++) {
        id[i] = g->id[i];
        label[i] = g->label[i];
    }
    const struct node_ids ids = {.node_count = (uint32_t)g->nodes, .integer = id};
    const struct label_rows labels = {.task = task_named("single_label", strlen("single_label")),
                                      .columns = 1,
                                      .count = (uint64_t)g->nodes,
                                      .row = label};
    assert_ok(dataset_builder_set_ids(builder, &ids, &err), &err);
    assert_ok(dataset_builder_set_labels(builder, "labels", 1, &labels, &err), &err);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        uint64_t count = 0;
        for (int i = 0; i < g->nodes; i++)
            if (g->split[i] == s)
                node[count++] = i;
        assert_ok(dataset_builder_set_split(builder, (enum split)s, "split", 1, node, count, &err),
                  &err);
    }
    if (settings.ingest.features.choice == FEATURES_DEGREE)
        return;
    assert_ok(
        dataset_builder_add_features(builder, "rows", g->row[0], (uint64_t)g->nodes, DIM, &err),
        &err);
}

static void push_edges(struct dataset_builder *builder, const struct graph *g, bool weighted)
{
    struct error err = {0};
    int64_t source[EDGES_MAX], target[EDGES_MAX];
    for (int e = 0; e < g->edges; e++) {
        source[e] = number_of(g, g->source[e]);
        target[e] = number_of(g, g->target[e]);
    }
    struct edge_piece piece = {.where = "edges",
                               .first_line = 1,
                               .count = (size_t)g->edges,
                               .source = source,
                               .target = target};
    if (weighted) {
        piece.columns.width.of[EDGE_WEIGHT] = 1;
        piece.columns.data[EDGE_WEIGHT] = g->weight;
    }
    assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
}

static void ingest(struct store *store, const char *id, const struct graph *g, bool weighted)
{
    struct error err = {0};
    struct dataset_builder *builder = NULL;
    const struct dataset_builder_config config = {.store = store,
                                                  .settings = &settings,
                                                  .dataset_id = id,
                                                  .name = "g",
                                                  .memory_bytes = ROOMY};
    assert_ok(dataset_builder_new(&config, &builder, &err), &err);
    assert_ok(dataset_builder_set_nodes(builder, (uint64_t)g->nodes, STATED_DIRECTED, &err), &err);
    push_nodes(builder, g);
    push_edges(builder, g, weighted);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    dataset_builder_free(builder);
}

static const char *put(const char *name, const char *text)
{
    static char paths[8][FILE_PATH_SIZE];
    static int next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, FILE_PATH_SIZE, "%s", temp_dir_write(&dir, name, text, strlen(text)));
    return path;
}

/* Returns the graph after the files of mixed_update(). */
static struct graph updated(const struct graph *old, bool undirected)
{
    struct graph g = {0};
    for (int i = 0; i < old->nodes; i++)
        if (old->id[i] != 103 && old->id[i] != 139) {
            g.id[g.nodes] = old->id[i];
            g.label[g.nodes] = old->label[i];
            g.split[g.nodes] = old->split[i];
            memcpy(g.row[g.nodes++], old->row[i], sizeof g.row[0]);
        }
    g.row[number_of(&g, 110)][0] = -1;
    g.row[number_of(&g, 110)][1] = -2;
    for (int i = 0; i < 2; i++, g.nodes++) {
        /* as a number 5 is before all others, but it is added after them */
        g.id[g.nodes] = 5 + i * 295;
        g.label[g.nodes] = i ? -1 : 2;
        g.split[g.nodes] = i ? 3 : SPLIT_TRAIN;
        g.row[g.nodes][0] = (float)(7 + i);
        g.row[g.nodes][1] = (float)(8 + i);
    }
    for (int e = 0; e < old->edges; e++) {
        const int s = old->source[e], t = old->target[e];
        const bool goes = (s == old->source[0] && t == old->target[0]) ||
                          (undirected && t == old->source[0] && s == old->target[0]);
        if (goes || s == 103 || t == 103 || s == 139 || t == 139)
            continue;
        g.source[g.edges] = s;
        g.target[g.edges] = t;
        g.weight[g.edges++] = old->weight[e];
    }
    static const int added[4][2] = {{5, 300}, {110, 5}, {120, 121}, {120, 121}};
    for (int e = 0; e < 4; e++) {
        g.source[g.edges] = added[e][0];
        g.target[g.edges] = added[e][1];
        g.weight[g.edges++] = (float)e;
    }
    return g;
}

static struct update_request mixed_update(const struct graph *old, bool weighted)
{
    char gone[64];
    (void)snprintf(gone, sizeof gone, "%d,%d\n", old->source[0], old->target[0]);
    return (struct update_request){
        .remove_edges = put("gone_edges", gone),
        .remove_nodes = put("gone_nodes", "103\n139\n"),
        .add_nodes = put("nodes", "id,split,label\n300\n5,train,2\n"),
        .features = put("rows", "300,8,9\n5,7,8\n110,-1,-2\n"),
        .add_edges =
            put("edges", weighted ? "weight,dst,src\n0,300,5\n1,5,110\n2,121,120\n3,121,120\n"
                                  : "5 300\n# x\n110 5\n\n120 121\n120 121\n")};
}

static struct version_place place_of(struct store *store)
{
    return (struct version_place){
        .store = store, .settings = &settings, .memory_bytes = ROOMY, .root = "g-0000"};
}

static void use(struct store *store, bool undirected, bool weighted)
{
    const struct graph g = base_graph();
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "g");
    settings.ingest.direction = undirected ? DIRECTION_UNDIRECTED : DIRECTION_AS_GIVEN;
    ingest(store, "g-0000", &g, weighted);
}

/* Writes what readers get for a version as the records of the dataset `copy`. */
static void write_out(struct store *store, const char *id, const char *copy)
{
    struct error err = {0};
    struct edge_chunk edges;
    struct feature_chunk features;
    struct node_labels labels;
    struct node_splits splits;
    struct node_ids ids;
    bool has_ids = false;
    assert_ok(merged_edges_get(store, id, 0, &edges, &err), &err);
    assert_ok(edge_chunk_put(store, copy, 0, &edges, &err), &err);
    assert_ok(merged_features_get(store, id, 0, &features, &err), &err);
    assert_ok(feature_chunk_put(store, copy, 0, &features, &err), &err);
    assert_ok(merged_labels_get(store, id, &labels, &err), &err);
    assert_ok(node_labels_put(store, copy, &labels, &err), &err);
    assert_ok(merged_splits_get(store, id, &splits, &err), &err);
    assert_ok(node_splits_put(store, key_dataset(copy, "splits").text, copy, &splits, &err), &err);
    assert_ok(merged_ids_find(store, id, &has_ids, &ids, &err), &err);
    assert_true(has_ids);
    assert_ok(node_ids_put(store, copy, &ids, &err), &err);
    store_release_record(&edges.view);
    store_release_record(&features.view);
    store_release_record(&labels.view);
    store_release_record(&splits.view);
    store_release_record(&ids.view);
}

/* Checks that every record except schema and delta has the same content. */
static void assert_same_records(struct store *store, const char *id, const char *expected)
{
    static const char *const names[] = {"labels", "splits", "node_ids", "edges/0000000000",
                                        "features/0000000000"};
    struct error err = {0};
    write_out(store, id, "copy-1");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct record_view a = {0}, b = {0};
        assert_ok(store_get(store, key_dataset("copy-1", names[i]).text, NULL, &a, &err), &err);
        assert_ok(store_get(store, key_dataset(expected, names[i]).text, NULL, &b, &err), &err);
        if (!checksum_equal(&a.content, &b.content))
            fail_msg("%s of %s is another than that of %s", names[i], id, expected);
        store_release_record(&a);
        store_release_record(&b);
    }
}

static void a_version_is_what_ingest_makes_of_the_whole(void **state)
{
    struct temp_store *t = *state;
    for (int form = 0; form < 8; form++) {
        const bool undirected = form & 1, weighted = form & 2, merged = form & 4;
        const struct version_place place = place_of(t->store);
        char id[ID_SIZE];
        bool unchanged = true, is_merged = false;
        use(t->store, undirected, weighted);
        settings.partition.compact = merged ? 1.0 : 0.0;
        const struct graph old = base_graph(), whole = updated(&old, undirected);
        const struct update_request request = mixed_update(&old, weighted);
        assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &t->err), &t->err);
        assert_false(unchanged);
        assert_ok(store_has(t->store, key_dataset(id, "merge").text, &is_merged, &t->err), &t->err);
        assert_int_equal(is_merged, merged);
        ingest(t->store, "whole-1", &whole, weighted);
        assert_same_records(t->store, id, "whole-1");
        struct temp_store *fresh = t; /* the next form begins with an empty store */
        store_close(fresh->store);
        temp_dir_remove(&fresh->dir);
        temp_dir_make(&fresh->dir);
        assert_ok(store_open(fresh->dir.path, 0, &fresh->store, &t->err), &t->err);
    }
}

/* Features that ingest makes are made, and scaled, for the current graph. */
static void made_features_are_those_of_the_whole(void **state)
{
    struct temp_store *t = *state;
    const struct version_place place = place_of(t->store);
    const struct graph old = base_graph(), whole = updated(&old, true);
    char id[ID_SIZE];
    bool unchanged = true;
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "g");
    settings.ingest.direction = DIRECTION_UNDIRECTED;
    settings.ingest.features.choice = FEATURES_DEGREE;
    settings.ingest.standardise = true;
    ingest(t->store, "g-0000", &old, false);
    struct update_request request = mixed_update(&old, false);
    assert_fails(dataset_versions_update(&place, &request, id, &unchanged, &t->err), ERROR_INVALID,
                 "features of this dataset are made (degree)", &t->err);
    request.features = NULL;
    assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &t->err), &t->err);
    ingest(t->store, "whole-1", &whole, false);
    assert_same_records(t->store, id, "whole-1");
}

static void the_same_update_again_changes_nothing(void **state)
{
    struct temp_store *t = *state;
    const struct version_place place = place_of(t->store);
    char one[ID_SIZE], other[ID_SIZE], newest[ID_SIZE];
    bool unchanged = true;
    use(t->store, true, false);
    const struct graph old = base_graph();
    const struct update_request request = mixed_update(&old, false);
    assert_ok(version_chain_newest(&place, newest, &t->err), &t->err);
    assert_string_equal(newest, "g-0000");
    assert_ok(dataset_versions_update(&place, &request, one, &unchanged, &t->err), &t->err);
    assert_ok(dataset_versions_update(&place, &request, other, &unchanged, &t->err), &t->err);
    assert_true(unchanged);
    assert_string_equal(one, other);
    assert_ok(version_chain_newest(&place, newest, &t->err), &t->err);
    assert_string_equal(newest, one);
}

static void versions_are_a_chain(void **state)
{
    struct temp_store *t = *state;
    const struct version_place place = place_of(t->store);
    char one[ID_SIZE], two[ID_SIZE], newest[ID_SIZE];
    struct dataset_delta delta;
    bool unchanged = true, needs_root = true;
    use(t->store, false, false);
    const struct graph old = base_graph();
    struct update_request request = mixed_update(&old, false);
    assert_ok(dataset_versions_update(&place, &request, one, &unchanged, &t->err), &t->err);
    request = (struct update_request){.add_edges = put("more", "5,110\n300,5\n"), .base = one};
    assert_ok(dataset_versions_update(&place, &request, two, &unchanged, &t->err), &t->err);
    assert_ok(dataset_delta_get(t->store, two, &delta, &t->err), &t->err);
    assert_string_equal(delta.base, one);
    assert_string_equal(delta.root, "g-0000");
    assert_int_equal(delta.depth, 2);
    store_release_record(&delta.view);
    /* The lost records of both versions are restored, those of the older first. */
    ingest(t->store, "kept-0", &old, false);
    assert_ok(store_remove(t->store, key_dataset(one, "schema").text, &t->err), &t->err);
    assert_ok(store_remove(t->store, key_dataset(two, "schema").text, &t->err), &t->err);
    assert_ok(store_remove(t->store, key_edge_chunk(two, 0).text, &t->err), &t->err);
    assert_ok(dataset_versions_restore(&place, two, false, &needs_root, &t->err), &t->err);
    assert_false(needs_root);
    struct edge_chunk chunk;
    assert_ok(merged_edges_get(t->store, two, 0, &chunk, &t->err), &t->err);
    store_release_record(&chunk.view);
    /* The ref is restored, too. */
    assert_ok(store_switch_remove(t->store, "current/version/0000", &t->err), &t->err);
    assert_ok(version_chain_newest(&place, newest, &t->err), &t->err);
    assert_string_equal(newest, two);
}

/* A merged version is read with its deltas and the last whole version: a lost one of these is
 * restored, or the message names it. */
static void what_a_version_is_merged_from_is_needed(void **state)
{
    struct temp_store *t = *state;
    const struct version_place place = place_of(t->store);
    char one[ID_SIZE], two[ID_SIZE];
    struct node_labels labels;
    struct dataset_delta delta, other;
    bool unchanged = true, needs_root = false, found = false;
    use(t->store, false, false);
    settings.partition.compact = 1.0;
    const struct graph old = base_graph();
    struct update_request request = mixed_update(&old, false);
    assert_ok(dataset_versions_update(&place, &request, one, &unchanged, &t->err), &t->err);
    request = (struct update_request){.add_edges = put("more", "5,110\n300,5\n"), .base = one};
    assert_ok(dataset_versions_update(&place, &request, two, &unchanged, &t->err), &t->err);
    assert_ok(dataset_versions_has(&place, two, &found, &t->err), &t->err);
    assert_true(found);
    /* The root is lost. */
    assert_ok(store_remove(t->store, key_dataset("g-0000", "schema").text, &t->err), &t->err);
    assert_ok(dataset_versions_has(&place, two, &found, &t->err), &t->err);
    assert_false(found);
    assert_ok(dataset_versions_restore(&place, two, false, &needs_root, &t->err), &t->err);
    assert_true(needs_root);
    assert_ok(store_remove(t->store, key_dataset("g-0000", "labels").text, &t->err), &t->err);
    store_kept_forget(t->store);
    assert_fails(merged_labels_get(t->store, two, &labels, &t->err), ERROR_NOT_FOUND,
                 "dataset/g-0000/schema", &t->err);
    ingest(t->store, "g-0000", &old, false);
    assert_ok(merged_labels_get(t->store, two, &labels, &t->err), &t->err);
    store_release_record(&labels.view);
    /* A delta in between belongs to another version. */
    assert_ok(dataset_delta_get(t->store, one, &delta, &t->err), &t->err);
    other = delta;
    other.base_nodes++;
    other.view = (struct record_view){0};
    assert_ok(store_remove(t->store, key_dataset(one, "delta").text, &t->err), &t->err);
    assert_ok(dataset_delta_put(t->store, one, &other, &t->err), &t->err);
    store_kept_forget(t->store);
    assert_fails(merged_labels_get(t->store, two, &labels, &t->err), ERROR_CORRUPT,
                 "is of a version of 41 nodes, expected 40", &t->err);
    store_release_record(&delta.view);
    /* A delta in between is lost. */
    assert_ok(store_remove(t->store, key_dataset(one, "delta").text, &t->err), &t->err);
    assert_fails(merged_labels_get(t->store, two, &labels, &t->err), ERROR_CORRUPT,
                 "expected deltas from g-0000 on", &t->err);
    assert_fails(dataset_versions_has(&place, two, &found, &t->err), ERROR_CORRUPT,
                 "expected the record dataset/", &t->err);
}

/* Once deltas exceed the share, a version is stored whole, and later ones are merged from it. */
static void deltas_above_the_share_are_compacted(void **state)
{
    struct temp_store *t = *state;
    const struct version_place place = place_of(t->store);
    char id[ID_SIZE], base[ID_SIZE], last_whole[ID_SIZE] = "g-0000";
    bool unchanged = true;
    int whole = 0, merged = 0;
    use(t->store, false, false);
    settings.partition.compact = 0.2;
    const struct graph old = base_graph();
    ingest(t->store, "whole-0", &old, false);
    for (int i = 0; i < 12; i++) {
        char text[256] = "";
        for (int e = 0; e < 8; e++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d\n", 100 + i,
                           110 + e);
        const struct update_request request = {.add_edges = put("more", text)};
        assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &t->err), &t->err);
        assert_ok(dataset_merge_base(t->store, id, base, &t->err), &t->err);
        whole += !base[0];
        merged += base[0] != '\0';
        if (base[0])
            assert_string_equal(base, last_whole);
        else
            (void)snprintf(last_whole, sizeof last_whole, "%s", id);
    }
    assert_in_range(whole, 1, 6);
    assert_in_range(merged, 6, 11);
}

static void what_does_not_fit_is_named_and_nothing_is_stored(void **state)
{
    enum file { ADD_EDGES, REMOVE_EDGES, ADD_NODES, REMOVE_NODES, FEATURES };
    static const struct {
        enum file file;
        const char *text, *message;
    } cases[] = {
        {REMOVE_EDGES, "100,999\n", "f:1: target: no node has the id '999'"},
        {REMOVE_EDGES, "100,100\n",
         "f:1: the edge between 100 and 100 is removed, expected one that"},
        {REMOVE_NODES, "100\n7\n", "f:2: node '7' is removed and is not there"},
        {REMOVE_NODES, "100\n101\n100\n", "f:3: node '100' is removed twice"},
        {ADD_NODES, "7\n100\n", "f:2: node 100 is there already"},
        {ADD_NODES, "7\n8\n7\n", "f:3: node '7' is added twice"},
        {ADD_NODES, "seven\n", "f:1: node: expected a 64-bit integer, found 'seven'"},
        {ADD_NODES, "7,later\n",
         "f:1: split: expected train, valid, test or nothing, found 'later'"},
        {ADD_NODES, "7,train\n", "f:1: a training node without a label"},
        {ADD_NODES, "7,test,3\n", "expected a class from 0 to 2"},
        {ADD_NODES, "7,test,1,1\n", "f:1: expected 1 label columns, as the dataset has, found 2"},
        {ADD_NODES, "7,test,1\n", "no row for the new node 7: expected 2 features"},
        {ADD_EDGES, "100,101,0.5\n", "f:1: expected 2 columns, found 3"},
        {ADD_EDGES, "src,dst,weight\n100,101,0.5\n",
         "f:1: the dataset's edges have 0 columns of edge weights, found 1"},
        {ADD_EDGES, "100,101\n100\n", "f:2: expected 2 columns, found 1"},
        {ADD_EDGES, "100,101\n100,8\n", "f:2: target: no node has the id '8'"},
        {FEATURES, "100,1,2,3\n", "f:1"},
        {FEATURES, "100,1\n", "f:1"},
        {FEATURES, "100,1,x\n", "f:1"},
        {FEATURES, "100,1,2\n100,1,2\n", "f:2: node '100' has a row already"},
        {FEATURES, "8,1,2\n", "f:1: node: no node has the id '8'"},
        {FEATURES, "# nothing\n", "the files of the update change nothing"},
    };
    struct temp_store *t = *state;
    const struct version_place place = place_of(t->store);
    static struct fault_walk_listing before, after;
    const struct fault_walk listing = {.store = t->store, .prefix = ""};
    use(t->store, true, false);
    fault_walk_list(&listing, &before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct update_request request = {0};
        const char **path[] = {&request.add_edges, &request.remove_edges, &request.add_nodes,
                               &request.remove_nodes, &request.features};
        char id[ID_SIZE];
        bool unchanged = false;
        *path[cases[i].file] = put("f", cases[i].text);
        assert_fails(dataset_versions_update(&place, &request, id, &unchanged, &t->err),
                     ERROR_INPUT, cases[i].message, &t->err);
    }
    const struct graph old = base_graph();
    struct update_request request = mixed_update(&old, false);
    request.add_edges = put("f", "100,103\n");
    char id[ID_SIZE];
    bool unchanged = false;
    assert_fails(dataset_versions_update(&place, &request, id, &unchanged, &t->err), ERROR_INPUT,
                 "f:1: node 103 is removed by --remove-nodes", &t->err);
    request.base = "g-1111";
    assert_fails(dataset_versions_update(&place, &request, id, &unchanged, &t->err), ERROR_INPUT,
                 "--base: the files are for version g-1111, but the newest is g-0000", &t->err);
    settings.ingest.duplicates = EDGES_REFUSE;
    request = (struct update_request){.add_edges = put("f", "# new\n120,121\n\n120,121\n")};
    assert_fails(dataset_versions_update(&place, &request, id, &unchanged, &t->err), ERROR_INPUT,
                 "f:4: the edge from 120 to 121: expected one that is new (ingest.duplicates: "
                 "refuse), found one like it before",
                 &t->err);
    fault_walk_list(&listing, &after);
    assert_string_equal(after.text, before.text);
}

static void a_weight_below_0_is_told_with_its_line(void **state)
{
    struct temp_store *t = *state;
    const struct version_place place = place_of(t->store);
    static struct dataset_schema schema;
    struct update_request request = {.add_edges =
                                         put("f", "120,121,3\n\n121,122,-1\n122,123,-2\n")};
    char id[ID_SIZE], again[ID_SIZE];
    bool unchanged = false;
    use(t->store, false, true);
    assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &t->err), &t->err);
    assert_ok(dataset_schema_get(t->store, id, &schema, &t->err), &t->err);
    assert_int_equal(schema.negative_weight_count, 2);
    assert_non_null(strstr(schema.first_negative_weight, "/f:3"));
    /* The name of a file is no part of the update. */
    request.add_edges = put("renamed", "120,121,3\n121,122,-1\n122,123,-2\n");
    assert_ok(dataset_versions_update(&place, &request, again, &unchanged, &t->err), &t->err);
    assert_true(unchanged);
    assert_string_equal(id, again);
    assert_ok(store_remove(t->store, key_dataset(id, "schema").text, &t->err), &t->err);
    assert_ok(dataset_versions_restore(&place, id, false, &unchanged, &t->err), &t->err);
    assert_ok(dataset_schema_get(t->store, id, &schema, &t->err), &t->err);
    assert_non_null(strstr(schema.first_negative_weight, "/f:3"));
}

static void an_update_is_held_within_half_of_the_budget(void **state)
{
    struct temp_store *t = *state;
    struct version_place place = place_of(t->store);
    char id[ID_SIZE];
    bool unchanged = false;
    use(t->store, true, false);
    static char text[4200 * 8];
    for (size_t at = 0; at < sizeof text - 8; at += 8)
        (void)snprintf(text + at, sizeof text - at, "100,101\n");
    const struct update_request request = {.add_edges = put("f", text)};
    place.memory_bytes = 65536;
    assert_fails(dataset_versions_update(&place, &request, id, &unchanged, &t->err),
                 ERROR_NO_MEMORY, "more than half of the budget", &t->err);
}

/* ---- an update whose n-th store call fails
 * ------------------------------------------------------- */

static void walk_faults(double compact)
{
    static struct faulty_update update;
    struct store *store = store_faults_open(&memory_backend, "versions-faults");
    use(store, true, false);
    settings.partition.compact = compact;
    const struct graph old = base_graph();
    update = (struct faulty_update){.place = place_of(store), .request = mixed_update(&old, false)};
    faulty_update_walk(&update);
    store_close(store);
    memory_store_forget("versions-faults");
}

static void whichever_store_call_fails_an_update_ends_alike(void **state)
{
    (void)state;
    walk_faults(0.0);
    walk_faults(1.0);
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
        test_with_store(a_version_is_what_ingest_makes_of_the_whole),
        test_with_store(made_features_are_those_of_the_whole),
        test_with_store(the_same_update_again_changes_nothing),
        test_with_store(versions_are_a_chain),
        test_with_store(what_a_version_is_merged_from_is_needed),
        test_with_store(deltas_above_the_share_are_compacted),
        test_with_store(what_does_not_fit_is_named_and_nothing_is_stored),
        test_with_store(a_weight_below_0_is_told_with_its_line),
        test_with_store(an_update_is_held_within_half_of_the_budget),
        cmocka_unit_test(whichever_store_call_fails_an_update_ends_alike),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
