/*
 * Compares rows of listed nodes of a version with its chunks, and the nodes that deltas touch with
 * all nodes that differ from an older version. The graphs change at random, have one type or
 * relations, and are merged or whole.
 */
#include "store/records/dataset/dataset_merge.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/delta_numbers.h"
#include "store/versions/listed_rows.h"
#include "store/versions/merged_records.h"
#include "store/versions/version_touched.h"

#include "tests/stages/ingest/update/drawn_updates.h"
#include "tests/support/temp_store.h"

enum { UPDATES = 4, EDGE_BYTES = 64 };

/* ---- rows of listed nodes
 * ---------------------------------------------------------------------------- */

struct seen {
    struct store *store;
    const struct dataset_schema *schema;
    const uint32_t *node; /* [count] */
    uint64_t count, at;
    struct edge_chunk edges; /* all edges */
    uint32_t type;
    struct feature_chunk features; /* the chunk of the current type */
};

static void open_features(struct seen *seen, uint32_t node)
{
    struct error err = {0};
    const struct node_type type = dataset_type(seen->schema, seen->type);
    const uint64_t chunk = dataset_first_feature_chunk(seen->schema, seen->type) +
                           (node - type.first_node) / feature_chunk_rows(type.feature_dim);
    if (seen->features.node_count && node - seen->features.first_node < seen->features.node_count)
        return;
    store_release_record(&seen->features.view);
    assert_ok(
        merged_features_get(seen->store, seen->schema->id, (int64_t)chunk, &seen->features, &err),
        &err);
}

/* Checks that the rows are those of the chunks, column by column. */
static enum error_code see_edges(void *context, const struct edge_chunk *rows, struct error *err)
{
    struct seen *seen = context;
    const struct edge_chunk chunk = seen->edges;
    (void)err;
    for (uint32_t i = 0; i < rows->node_count; i++) {
        const uint32_t node = rows->first_node + i;
        const uint64_t from = rows->row_start[i], count = rows->row_start[i + 1] - from;
        assert_true(seen->at < seen->count);
        assert_int_equal(node, seen->node[seen->at++]);
        assert_int_equal(count, chunk.row_start[node + 1] - chunk.row_start[node]);
        for (uint64_t e = 0; e < count; e++) {
            char one[EDGE_BYTES] = {0}, other[EDGE_BYTES] = {0};
            assert_int_equal(rows->neighbor[from + e], chunk.neighbor[chunk.row_start[node] + e]);
            edge_columns_pack(&rows->columns, from + e, one);
            edge_columns_pack(&chunk.columns, chunk.row_start[node] + e, other);
            assert_memory_equal(one, other, sizeof one);
        }
    }
    return ERROR_NONE;
}

static enum error_code see_features(void *context, const struct feature_chunk *rows,
                                    struct error *err)
{
    struct seen *seen = context;
    (void)err;
    for (uint32_t i = 0; i < rows->node_count; i++) {
        const uint32_t node = rows->first_node + i;
        open_features(seen, node);
        const struct feature_chunk *chunk = &seen->features;
        assert_true(seen->at < seen->count);
        assert_int_equal(node, seen->node[seen->at++]);
        assert_int_equal(rows->dim, chunk->dim);
        assert_memory_equal(rows->row + (size_t)i * rows->dim,
                            chunk->row + (size_t)(node - chunk->first_node) * chunk->dim,
                            chunk->dim * sizeof *chunk->row);
    }
    return ERROR_NONE;
}

/* Checks the feature rows of the listed nodes of the type. */
static void check_features(struct seen *seen, uint32_t type)
{
    struct error err = {0};
    const struct node_type of = dataset_type(seen->schema, type);
    uint64_t first = 0, end;
    while (first < seen->count && seen->node[first] < of.first_node)
        first++;
    for (end = first; end < seen->count && seen->node[end] < of.first_node + of.node_count;)
        end++;
    seen->type = type;
    seen->at = first;
    if (of.feature_dim)
        assert_ok(listed_feature_rows(seen->store, seen->schema, type, seen->node + first,
                                      end - first, see_features, seen, &err),
                  &err);
    assert_int_equal(seen->at, of.feature_dim ? end : first);
    store_release_record(&seen->features.view);
    seen->features = (struct feature_chunk){0};
}

/* Checks rows for every n-th node, for runs of nodes, and for all nodes. */
static void check_rows(struct store *store, const char *id)
{
    struct error err = {0};
    static struct dataset_schema schema;
    assert_ok(dataset_schema_get(store, id, &schema, &err), &err);
    assert_int_equal(schema.edge_chunk_count, 1);
    uint32_t *node = memory_alloc(schema.node_count, sizeof *node);
    static const uint32_t of_ten[] = {0, 1, 5, 9, 10};
    for (size_t i = 0; i < sizeof of_ten / sizeof *of_ten; i++) {
        struct seen seen = {.store = store, .schema = &schema, .node = node};
        for (uint32_t n = 0; n < schema.node_count; n++)
            if (draw(10) < of_ten[i])
                node[seen.count++] = n;
        assert_ok(merged_edges_get(store, id, 0, &seen.edges, &err), &err);
        assert_ok(listed_edge_rows(store, &schema, node, seen.count, see_edges, &seen, &err), &err);
        assert_int_equal(seen.at, seen.count);
        for (uint32_t t = 0; t < dataset_type_count(&schema); t++)
            check_features(&seen, t);
        store_release_record(&seen.edges.view);
    }
    node[0] = schema.node_count;
    assert_fails(listed_edge_rows(store, &schema, node, 1, see_edges, NULL, &err), ERROR_CORRUPT,
                 "expected", &err);
    memory_free(node);
}

/* ---- nodes that are touched
 * ------------------------------------------------------------------------- */

/* Computes the numbers of nodes in the older version, DELTA_GONE for nodes that it lacks. */
static void trace_back(struct store *store, const char *id, const char *base_id, uint32_t *origin,
                       uint32_t count)
{
    struct error err = {0};
    char at[ID_SIZE];
    (void)snprintf(at, sizeof at, "%s", id);
    for (uint32_t i = 0; i < count; i++)
        origin[i] = i;
    while (strcmp(at, base_id) != 0) {
        struct dataset_delta delta;
        struct delta_numbers numbers;
        assert_ok(dataset_delta_get(store, at, &delta, &err), &err);
        delta_numbers_init(&numbers, &delta);
        delta_numbers_step_down(&numbers, origin, count);
        (void)snprintf(at, sizeof at, "%s", delta.base);
        store_release_record(&delta.view);
    }
}

static bool has_same_row(const struct edge_chunk *base, uint32_t row, const struct edge_chunk *own,
                         uint32_t node, const uint32_t *number)
{
    const uint64_t a = base->row_start[row], b = own->row_start[node];
    const uint64_t count = own->row_start[node + 1] - b;
    if (base->row_start[row + 1] - a != count)
        return false;
    for (uint64_t e = 0; e < count; e++) {
        char one[EDGE_BYTES] = {0}, other[EDGE_BYTES] = {0};
        edge_columns_pack(&base->columns, a + e, one);
        edge_columns_pack(&own->columns, b + e, other);
        if (number[base->neighbor[a + e]] != own->neighbor[b + e] ||
            memcmp(one, other, sizeof one) != 0)
            return false;
    }
    return true;
}

static bool lost_neighbor(const struct edge_chunk *base, uint32_t row, const uint32_t *number)
{
    for (uint64_t e = base->row_start[row]; e < base->row_start[row + 1]; e++)
        if (number[base->neighbor[e]] == DELTA_GONE)
            return true;
    return false;
}

/* Compares the features of a type, which fit one chunk. */
static void compare_features(struct store *store, const struct dataset_schema *schema,
                             const struct dataset_schema *base, uint32_t type,
                             const uint32_t *origin, const uint8_t *touched)
{
    struct error err = {0};
    const struct node_type own = dataset_type(schema, type), old = dataset_type(base, type);
    struct feature_chunk rows = {0}, old_rows = {0};
    if (own.feature_dim == 0)
        return;
    assert_ok(merged_features_get(store, schema->id,
                                  (int64_t)dataset_first_feature_chunk(schema, type), &rows, &err),
              &err);
    assert_ok(merged_features_get(store, base->id, (int64_t)dataset_first_feature_chunk(base, type),
                                  &old_rows, &err),
              &err);
    for (uint32_t i = 0; i < own.node_count; i++) {
        const uint32_t row = origin[own.first_node + i];
        if (row != DELTA_GONE && !(touched[own.first_node + i] & TOUCHED_FEATURES))
            assert_memory_equal(rows.row + (size_t)i * rows.dim,
                                old_rows.row + (size_t)(row - old.first_node) * rows.dim,
                                rows.dim * sizeof(float));
    }
    store_release_record(&rows.view);
    store_release_record(&old_rows.view);
}

/* Returns how many nodes are not touched. */
static uint32_t check_touched(struct store *store, const char *id, const char *base_id)
{
    struct error err = {0};
    static struct dataset_schema schema, base;
    struct edge_chunk edges, old_edges;
    uint32_t quiet = 0;
    assert_ok(dataset_schema_get(store, id, &schema, &err), &err);
    assert_ok(dataset_schema_get(store, base_id, &base, &err), &err);
    assert_ok(merged_edges_get(store, id, 0, &edges, &err), &err);
    assert_ok(merged_edges_get(store, base_id, 0, &old_edges, &err), &err);
    uint8_t *touched = memory_alloc(schema.node_count, 1);
    uint32_t *origin = memory_alloc(schema.node_count, sizeof *origin);
    uint32_t *number = memory_alloc(base.node_count, sizeof *number);
    assert_ok(version_touched_mark(store, &schema, base_id, touched, &err), &err);
    trace_back(store, id, base_id, origin, schema.node_count);
    for (uint32_t node = 0; node < base.node_count; node++)
        number[node] = DELTA_GONE;
    for (uint32_t node = 0; node < schema.node_count; node++)
        if (origin[node] != DELTA_GONE)
            number[origin[node]] = node;
    for (uint32_t node = 0; node < schema.node_count; node++) {
        const uint32_t row = origin[node];
        if (row == DELTA_GONE)
            continue;
        quiet += !(touched[node] & TOUCHED_EDGES);
        if (!(touched[node] & TOUCHED_EDGES) && !lost_neighbor(&old_edges, row, number) &&
            !has_same_row(&old_edges, row, &edges, node, number))
            fail_msg("node %u has other edges than in %s, and is not touched", node, base_id);
    }
    for (uint32_t t = 0; t < dataset_type_count(&schema); t++)
        compare_features(store, &schema, &base, t, origin, touched);
    memory_free(touched);
    memory_free(origin);
    memory_free(number);
    store_release_record(&edges.view);
    store_release_record(&old_edges.view);
    return quiet;
}

/* ---- chains
 * ------------------------------------------------------------------------------------------ */

static void run_chain(struct temp_store *t, const struct kind *kind, double compact)
{
    static struct texts texts;
    static struct world w;
    char id[UPDATES + 1][ID_SIZE] = {"g-0000"};
    uint32_t quiet = 0;
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "g");
    settings.ingest.direction = kind->undirected ? DIRECTION_UNDIRECTED : DIRECTION_AS_GIVEN;
    settings.ingest.duplicates = kind->duplicates;
    settings.ingest.self_loops = kind->self_loops;
    settings.ingest.relations = kind->types > 0;
    settings.ingest.add_reverse = kind->adds_reverses;
    settings.ingest.missing_features = kind->makes_features ? MISSING_DEGREE : MISSING_NONE;
    settings.partition.compact = compact;
    world_begin(&w, kind);
    ingest(t->store, &w, id[0]);
    for (int version = 1; version <= UPDATES; version++) {
        const struct version_place place = {
            .store = t->store, .settings = &settings, .memory_bytes = ROOMY, .root = "g-0000"};
        bool unchanged = true;
        update_world(&w, version, &texts);
        const struct update_request request = {.remove_nodes = put("gone_nodes", texts.gone_nodes),
                                               .remove_edges = put("gone_edges", texts.gone_edges),
                                               .add_nodes = put("nodes", texts.nodes),
                                               .features = put("rows", texts.rows),
                                               .add_edges = put("edges", texts.edges)};
        assert_ok(dataset_versions_update(&place, &request, id[version], &unchanged, &t->err),
                  &t->err);
        check_rows(t->store, id[version]);
        for (int base = 0; kind->dim < 10 && base < version; base++)
            quiet += check_touched(t->store, id[version], id[base]);
    }
    assert_true(quiet > 300 || kind->dim >= 10);
    world_end(&w);
}

static void check_chain(const struct kind *kind, double compact)
{
    struct temp_store t = {.err = {0}};
    temp_dir_make(&t.dir);
    assert_ok(store_open(t.dir.path, 0, &t.store, &t.err), &t.err);
    run_chain(&t, kind, compact);
    store_close(t.store);
    temp_dir_remove(&t.dir);
}

static void rows_of_some_nodes_are_those_of_the_chunks(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 16; form++) {
        const struct kind kind = kind_of(form);
        check_chain(&kind, form % 5 == 4 ? 0.0 : form % 2 ? 1.0 : 0.05);
    }
}

static void so_are_those_of_graphs_with_relations(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 16; form++) {
        struct kind kind = kind_of(form & ~1U);
        kind.types = form & 4 ? 1 : 3;
        kind.adds_reverses = form & 8;
        kind.makes_features = form & 1;
        check_chain(&kind, form % 5 == 4 ? 0.0 : form % 2 ? 1.0 : 0.05);
    }
}

/* The same with several chunks, each of 256 rows. */
static void so_are_those_of_several_chunks(void **state)
{
    (void)state;
    struct kind wide = {.nodes = 520, .edges = 900, .dim = 18000, .ids = NODE_ID_CONSECUTIVE};
    check_chain(&wide, 1.0);
    wide.types = 3;
    wide.nodes = 1600; /* papers and authors have three chunks each */
    check_chain(&wide, 1.0);
}

static int make_folder(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_some_nodes_are_those_of_the_chunks),
        cmocka_unit_test(so_are_those_of_graphs_with_relations),
        cmocka_unit_test(so_are_those_of_several_chunks),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
