/*
 * Versions of a dataset after several updates at random, merged and whole, beside what ingest makes of the graph as it is then: this test
 * keeps the graph as its user knows it. Everything that is read is to the byte the same, and no update writes more than it changes.
 */
#include "store/backends/memory_backend.h"
#include "store/records/dataset_merge.h"
#include "store/versions/merged_records.h"

#include "tests/stages/ingest/update/changing_graph.h"
#include "tests/stages/ingest/update/update_faults.h"
#include "tests/support/temp_store.h"

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

/* In pieces of whatever size the edges are those of the chunks, and a piece takes no more than it may but for one row. */
static void assert_pieces(struct store *store, const char *id, uint64_t piece_bytes)
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
            for (uint64_t e = 0; piece.columns.data[EDGE_TIME] && e < size; e++)
                assert_int_equal(
                    edge_columns_compare(&piece.columns, from + e, &chunk.columns, start[0] + e),
                    0);
        }
        store_release_record(&piece.view);
    }
    assert_int_equal(node, schema.node_count);
    /* Small graphs may fit one. */
    assert_true(piece_bytes > 10000 || pieces > 3 || schema.node_count < 200);
    store_release_record(&chunk.view);
    merged_edges_end(&pass);
}

/* Directed graphs have numbers for labels, which are no classes. */
static void label_edges(const struct kind *kind)
{
    const char *task = kind->undirected ? "edge_classification" : "edge_regression";
    settings.ingest.task = (int64_t)task_named(task, strlen(task));
    (void)snprintf(settings.ingest.edge_label, sizeof settings.ingest.edge_label, "weight");
}

static void use_settings(const struct kind *kind, bool is_merged)
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
        settings.ingest.task = (int64_t)task_named("link_prediction", strlen("link_prediction"));
        (void)snprintf(settings.ingest.edge_split, sizeof settings.ingest.edge_split,
                       "random 70/15/15");
    }
    if (kind->labelled)
        label_edges(kind);
}

static struct update_request request_of(const struct texts *t)
{
    return (struct update_request){.remove_nodes = put("gone_nodes", t->gone_nodes),
                                   .remove_edges = put("gone_edges", t->gone_edges),
                                   .add_nodes = put("nodes", t->nodes),
                                   .features = put("rows", t->rows),
                                   .add_edges = put("edges", t->edges)};
}

/* With all versions merged, or all of them whole. */
static void compare_versions(const struct kind *kind, int updates, bool is_merged)
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
        if (kind->links && !kind->labelled)
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

/* Authors, papers and venues; or one type and two relations, or types that are names only. */
static struct kind typed_kind_of(unsigned form)
{
    struct kind kind = kind_of(form);
    kind.nodes = 90; /* so that edges of several relations have the same ends */
    kind.types = form % 4 == 3 ? 1 : 3;
    kind.is_names_only = form % 4 == 2;
    kind.adds_reverses = !kind.is_names_only && form & 4;
    kind.makes_features = form & 1;
    kind.has_prefix = kind.ids == NODE_ID_STRING && kind.types > 1 && form & 1;
    /* Both ways goes what is of one type, or is no relation. */
    kind.undirected = kind.types == 1 || kind.is_names_only ? form & 8 : false;
    kind.undirected &= !kind.adds_reverses;
    return kind;
}

static void types_and_relations_are_those_of_the_whole(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 32; form++) {
        const struct kind kind = typed_kind_of(form);
        compare_versions(&kind, form % 8 == 0 ? 8 : 3, form % 3 != 0);
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

static void so_are_labelled_edges(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 16; form++) {
        struct kind kind = kind_of(form);
        kind.links = kind.keeps_nodes = kind.labelled = kind.weighted = true;
        kind.edges = form % 3 ? 1500 : 8000; /* many of the same ends */
        kind.self_loops = EDGES_REMOVE;
        compare_versions(&kind, 3, form % 5 != 0);
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

/* ---- an update whose n-th store call fails ------------------------------------------------------- */

static void whichever_store_call_fails_a_typed_update_ends_alike(void **state)
{
    (void)state;
    for (int is_merged = 0; is_merged < 2; is_merged++) {
        static struct faulty_update update;
        static struct texts t;
        static struct world w;
        const struct kind kind = typed_kind_of(5); /* reverses, and features that are made */
        struct store *store = store_faults_open(&memory_backend, "typed-versions-faults");
        use_settings(&kind, is_merged);
        world_begin(&w, &kind);
        ingest(store, &w, "g-0000");
        update_world(&w, 1, &t);
        update = (struct faulty_update){.place = {.store = store,
                                                  .settings = &settings,
                                                  .memory_bytes = ROOMY,
                                                  .root = "g-0000"},
                                        .request = request_of(&t)};
        faulty_update_walk(&update);
        world_end(&w);
        store_close(store);
        memory_store_forget("typed-versions-faults");
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
    struct kind typed = wide;
    typed.types = 3;
    typed.nodes = 1600; /* of papers, and of authors, three chunks each */
    compare_versions(&typed, 2, true);
    compare_versions(&typed, 1, false);
    typed = long_one;
    typed.types = 3;
    typed.undirected = false;
    typed.adds_reverses = true;
    compare_versions(&typed, 2, true);
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
        cmocka_unit_test(types_and_relations_are_those_of_the_whole),
        cmocka_unit_test(whichever_store_call_fails_a_typed_update_ends_alike),
        cmocka_unit_test(links_are_held_out_as_ingest_draws_them),
        cmocka_unit_test(so_are_labelled_edges),
        cmocka_unit_test(what_is_tested_is_never_trained_on),
        test_with_store(a_chunk_that_is_written_whole_fits_the_budget),
        cmocka_unit_test(chunks_end_where_those_of_the_whole_do),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
