/*
 * same_versions - compares versions of a changing graph (drawn_updates.h) with what ingest makes of
 * the whole graph: all content that is read, to the byte.
 *
 * Include it in one file of a test program.
 */
#ifndef TESTS_STAGES_INGEST_UPDATE_SAME_VERSIONS_H
#define TESTS_STAGES_INGEST_UPDATE_SAME_VERSIONS_H

#include "store/records/dataset/dataset_merge.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/merged_records.h"

#include "tests/stages/ingest/update/drawn_updates.h"
#include "tests/support/temp_store.h"

/* ---- reading a version
 * ------------------------------------------------------------------------- */

/* Checks that the graphs of a set have the user's numbers, in the order of their index. */
static inline void assert_names(struct store *store, const char *id, const struct world *w)
{
    struct error err = {0};
    static struct dataset_schema schema;
    struct graph_index graphs;
    uint32_t number[GRAPHS_MAX], place[GRAPHS_MAX];
    assert_ok(dataset_schema_get(store, id, &schema, &err), &err);
    assert_ok(merged_graphs_get(store, id, schema.node_count, &graphs, &err), &err);
    assert_int_equal(graphs.graph_count, number_graphs(w, number, place));
    for (uint32_t g = 0; g < graphs.graph_count; g++)
        assert_int_equal(graph_index_id(&graphs, g), w->graph[place[g]]);
    store_release_record(&graphs.view);
}

/* Copies the graph of each node, without the user's numbers, because an ingest of the whole graph
 * numbers graphs anew. */
static inline void materialise_graphs(struct store *from, const struct dataset_schema *schema,
                                      struct store *to, const char *copy)
{
    struct error err = {0};
    struct graph_index graphs;
    assert_ok(merged_graphs_get(from, schema->id, schema->node_count, &graphs, &err), &err);
    graphs.id = NULL;
    assert_ok(graph_index_put(to, key_dataset(copy, "graphs").text, copy, &graphs, &err), &err);
    store_release_record(&graphs.view);
}

/* Writes what readers get for a version as the records of the dataset `copy`. */
static inline void materialise(struct store *from, const char *id, struct store *to,
                               const char *copy)
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
    if (task_has(schema.task, TASK_HAS_GRAPHS))
        materialise_graphs(from, &schema, to, copy);
    if (task_has(schema.task, TASK_LABELS_NODES | TASK_HAS_GRAPHS)) {
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

/* Compares the two. The content that ingest made is in another store, because other content under
 * the same key would be an error. */
static inline void assert_same(struct store *store, const char *id, struct store *whole,
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
    assert_int_equal(a.has_relations, b.has_relations);
    assert_int_equal(a.target_type, b.target_type);
    assert_int_equal(a.node_type_count, b.node_type_count);
    for (uint32_t i = 0; i < a.node_type_count; i++) {
        assert_int_equal(a.node_type[i].first_node, b.node_type[i].first_node);
        assert_int_equal(a.node_type[i].node_count, b.node_type[i].node_count);
        assert_int_equal(a.node_type[i].feature_dim, b.node_type[i].feature_dim);
        assert_string_equal(a.type_origin[i], b.type_origin[i]);
    }
    assert_int_equal(a.edge_type_count, b.edge_type_count);
    for (uint32_t i = 0; i < a.edge_type_count; i++)
        assert_int_equal(a.edge_type[i].edge_count, b.edge_type[i].edge_count);
    /* Compares the reports, except for the share of zeros, which a version estimates. */
    assert_ok(dataset_report_get(store, id, &left, &err), &err);
    assert_ok(dataset_report_get(whole, expected, &right, &err), &err);
    const char *end = strstr(left, ",\"feature_zero_share\"");
    assert_non_null(end);
    assert_memory_equal(left, right, (size_t)(end - left));
    memory_free(left);
    memory_free(right);
}

static inline void open_store(struct temp_store *t)
{
    struct error err = {0};
    temp_dir_make(&t->dir);
    assert_ok(store_open(t->dir.path, 0, &t->store, &err), &err);
}

static inline void close_store(struct temp_store *t)
{
    store_close(t->store);
    temp_dir_remove(&t->dir);
}

/* Counts held-out edges by relation, target and source. Each counts once, unless repeated edges are
 * kept. */
static inline uint8_t *held_of(struct store *store, const struct dataset_schema *schema)
{
    struct error err = {0};
    struct edge_splits links;
    const size_t nodes = schema->node_count;
    struct relation_reverses reverses;
    uint8_t *is_held = memory_alloc(nodes * nodes * schema->edge_type_count, 1);
    dataset_reverses(schema, &reverses);
    assert_ok(merged_edge_splits_get(store, schema->id, schema->node_count, &links, &err), &err);
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (uint64_t i = 0; i < links.count[s]; i++) {
            const uint32_t source = links.source[s][i], target = links.target[s][i];
            const uint32_t relation = links.type[s] ? links.type[s][i] : 0;
            uint8_t *own = is_held + relation * nodes * nodes;
            assert_true(relation_is_forward(&reverses, relation));
            const bool is_first = own[target * nodes + source]++ == 0;
            assert_true(is_first || settings.ingest.duplicates == EDGES_KEEP);
            if (schema->undirected)
                own[source * nodes + target]++;
        }
    store_release_record(&links.view);
    return is_held;
}

/* Checks that no pair that is held out in any relation is in a row of a relation, nor reversed in a
 * row of a reverse, nor held out twice. */
static inline void assert_apart(struct store *store, const char *id)
{
    struct error err = {0};
    static struct dataset_schema schema;
    struct edge_chunk chunk;
    struct relation_reverses reverses;
    assert_ok(dataset_schema_get(store, id, &schema, &err), &err);
    assert_ok(merged_edges_get(store, id, 0, &chunk, &err), &err);
    const size_t nodes = schema.node_count;
    const uint16_t *type = chunk.columns.data[EDGE_TYPE];
    uint8_t *is_held = held_of(store, &schema);
    dataset_reverses(&schema, &reverses);
    for (uint32_t row = 0; row < chunk.node_count; row++)
        for (uint64_t e = chunk.row_start[row]; e < chunk.row_start[row + 1]; e++) {
            const bool turns = type && !relation_is_forward(&reverses, type[e]);
            const uint32_t source = turns ? row : chunk.neighbor[e];
            const uint32_t target = turns ? chunk.neighbor[e] : row;
            for (uint32_t r = 0; r < schema.edge_type_count; r++)
                assert_int_equal(is_held[(r * nodes + target) * nodes + source], 0);
        }
    memory_free(is_held);
    store_release_record(&chunk.view);
}

/* Checks that pieces of any size have the edges of the chunks, and that a piece is within its
 * limit, except for a single large row. */
static inline void assert_pieces(struct store *store, const char *id, uint64_t piece_bytes)
{
    struct error err = {0};
    static struct dataset_schema schema;
    struct edge_chunk chunk = {0}, piece = {0};
    uint32_t node = 0;
    uint64_t pieces = 0;
    bool found = true;
    assert_ok(dataset_schema_get(store, id, &schema, &err), &err);
    struct merged_edges pass = merged_edges_begin(store, id, schema.edge_chunk_count, piece_bytes);
    int64_t next = 0;
    for (;; pieces++) {
        assert_ok(merged_edges_next(&pass, &piece, &found, &err), &err);
        if (!found)
            break;
        assert_int_equal(piece.first_node, node);
        assert_true(piece.node_count == 1 || piece.view.size <= piece_bytes);
        for (uint32_t row = 0; row < piece.node_count; row++, node++) {
            if (node >= chunk.first_node + chunk.node_count) {
                store_release_record(&chunk.view);
                assert_ok(merged_edges_get(store, id, next++, &chunk, &err), &err);
            }
            const uint64_t from = piece.row_start[row], size = piece.row_start[row + 1] - from;
            const uint64_t *start = chunk.row_start + (node - chunk.first_node);
            assert_int_equal(start[1] - start[0], size);
            assert_memory_equal(chunk.neighbor + start[0], piece.neighbor + from,
                                size * sizeof *piece.neighbor);
            for (uint64_t e = 0; edge_widths_are_timed(&piece.columns.width) && e < size; e++)
                assert_int_equal(
                    edge_columns_compare(&piece.columns, from + e, &chunk.columns, start[0] + e),
                    0);
        }
        store_release_record(&piece.view);
    }
    assert_int_equal(node, schema.node_count);
    /* A small graph may fit one piece. */
    assert_true(piece_bytes > 10000 || pieces > 3 || schema.node_count < 200);
    store_release_record(&chunk.view);
    merged_edges_end(&pass);
}

/* Sets labels of edges. In directed graphs of one type they are numbers, not classes. */
static inline void label_edges(const struct kind *kind)
{
    const char *task =
        kind->undirected || kind->types > 1 ? "edge_classification" : "edge_regression";
    settings.ingest.task = task_named(task, strlen(task));
    (void)snprintf(settings.ingest.edge_label, sizeof settings.ingest.edge_label, "weight");
}

static inline void use_settings(const struct kind *kind, bool is_merged)
{
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "g");
    settings.ingest.direction = kind->undirected ? DIRECTION_UNDIRECTED : DIRECTION_AS_GIVEN;
    settings.ingest.duplicates = kind->duplicates;
    settings.ingest.self_loops = kind->self_loops;
    settings.ingest.relations = kind->types && !kind->is_names_only;
    settings.ingest.add_reverse = kind->adds_reverses;
    settings.ingest.missing_features = kind->makes_features ? MISSING_DEGREE : MISSING_NONE;
    settings.partition.compact = is_merged ? 1.0 : 0.0;
    if (kind->links) {
        settings.ingest.task = task_named("link_prediction", strlen("link_prediction"));
        (void)snprintf(settings.ingest.edge_split, sizeof settings.ingest.edge_split,
                       kind->given ? "given" : "random 70/15/15");
    }
    if (kind->labelled)
        label_edges(kind);
    if (kind->graphs)
        settings.ingest.task = task_named("graph_classification", strlen("graph_classification"));
}

static inline struct update_request request_of(const struct texts *t)
{
    return (struct update_request){.remove_nodes = put("gone_nodes", t->gone_nodes),
                                   .remove_edges = put("gone_edges", t->gone_edges),
                                   .add_nodes = put("nodes", t->nodes),
                                   .features = put("rows", t->rows),
                                   .add_edges = put("edges", t->edges)};
}

/* Compares the versions, either all merged or all whole. */
static inline void compare_versions(const struct kind *kind, int updates, bool is_merged)
{
    struct temp_store living, whole;
    static struct texts t;
    static struct world w;
    struct error err = {0};
    char id[ID_SIZE] = "g-0000", base[ID_SIZE], expected[16];
    use_settings(kind, is_merged);
    open_store(&living);
    open_store(&whole);
    world_begin(&w, kind);
    ingest(living.store, &w, "g-0000");
    for (int version = 1; version <= updates; version++) {
        const struct version_place place = {
            .store = living.store, .settings = &settings, .memory_bytes = ROOMY, .root = "g-0000"};
        bool unchanged = true;
        update_world(&w, version, &t);
        const struct update_request request = request_of(&t);
        const uint64_t before = store_traffic(living.store).bytes_written;
        assert_ok(dataset_versions_update(&place, &request, id, &unchanged, &err), &err);
        assert_false(unchanged);
        if (is_merged)
            assert_in_range(store_traffic(living.store).bytes_written - before, 1,
                            strlen(t.rows) * 4 + 20000);
        assert_ok(dataset_merge_base(living.store, id, base, &err), &err);
        assert_string_equal(base, is_merged ? "g-0000" : "");
        for (uint64_t bytes = 1; is_merged && kind->nodes < 1000 && bytes < 1 << 22; bytes *= 50)
            assert_pieces(living.store, id, bytes);
        (void)snprintf(expected, sizeof expected, "w-%d", version);
        if (kind->links && !kind->labelled && !kind->given)
            assert_apart(living.store, id);
        /* a new draw of the pair would differ */
        if (kind->links && !kind->keeps_nodes && !kind->given)
            continue;
        ingest(whole.store, &w, expected);
        assert_same(living.store, id, whole.store, expected);
        if (kind->graphs)
            assert_names(living.store, id, &w);
    }
    world_end(&w);
    close_store(&living);
    close_store(&whole);
}

/* Returns a kind with authors, papers and venues; or with one type and two relations, or with types
 * that are names only. */
static inline struct kind typed_kind_of(unsigned form)
{
    struct kind kind = kind_of(form);
    kind.nodes = 90; /* few nodes, so that edges of several relations have the same ends */
    kind.types = form % 4 == 3 ? 1 : 3;
    kind.is_names_only = form % 4 == 2;
    kind.adds_reverses = !kind.is_names_only && form & 4;
    kind.makes_features = form & 1;
    kind.has_prefix = kind.ids == NODE_ID_STRING && kind.types > 1 && form & 1;
    /* Only edges of one type, or without relations, may be undirected. */
    kind.undirected = kind.types == 1 || kind.is_names_only ? form & 8 : false;
    kind.undirected &= !kind.adds_reverses;
    return kind;
}

/* Returns a kind for tasks of pairs; some inputs have the reverses themselves. */
static inline struct kind typed_pairs_of(unsigned form)
{
    struct kind kind = typed_kind_of(form);
    kind.links = true;
    kind.self_loops = EDGES_REMOVE;
    kind.says_reverses = kind.types > 1 && !kind.is_names_only && !kind.adds_reverses && form & 8;
    return kind;
}

/* Returns a kind that is a set of graphs; some graphs have few nodes, and some types are names
 * only. */
static inline struct kind graphs_kind_of(unsigned form)
{
    struct kind kind = form % 4 == 2 ? typed_kind_of(form) : kind_of(form);
    kind.nodes = form % 4 == 2 ? kind.nodes : 180;
    kind.graphs = 25;
    return kind;
}

#endif
