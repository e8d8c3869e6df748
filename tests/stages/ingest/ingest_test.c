#include "stages/engine/stage.h"
#include "stages/ingest/ingest.h"
#include "stages/plan/run/run_binding.h"
#include "stages/plan/settings/dataset_format.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/node_ids.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

static struct pipeline_settings settings;

static const char *source_path(const char *below)
{
    static char path[FILE_PATH_SIZE];
    const char *source = getenv("GRAPHMILL_SOURCE");
    must(file_path(path, NULL, "%s/%s", source ? source : ".", below) == ERROR_NONE);
    return path;
}

/* Returns the folder of real datasets, or NULL. */
static const char *datasets(void)
{
    static char path[FILE_PATH_SIZE];
    const char *given = getenv("GRAPHMILL_DATASETS");
    must(file_path(path, NULL, "%s", given ? given : source_path("../shared/datasets")) ==
         ERROR_NONE);
    return file_exists(path) ? path : NULL;
}

static void use(const char *folder)
{
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "sample");
    must(snprintf(settings.ingest.path, SETTING_PATH_SIZE, "%s", folder) < SETTING_PATH_SIZE);
}

static enum error_code work(struct store *store, struct error *err)
{
    const struct stage_context context = {
        .store = store, .settings = &settings, .threads = 1, .memory_bytes = 1 << 28};
    const struct unit unit = {.kind = UNIT_INGEST};
    return stage.work(&context, NULL, &unit, err);
}

/* Returns the ref that names the newest dataset of the settings. */
static struct key newest(void)
{
    struct key key;
    struct error err = {0};
    assert_ok(run_input_switch(&settings, "dataset", &key, &err), &err);
    return key;
}

/* Ingests settings.ingest.path and reads the schema of the dataset that the ref names. */
static struct dataset_schema ingested(struct temp_store *t)
{
    struct dataset_schema schema;
    char id[ID_SIZE], current[ID_SIZE];
    assert_ok(work(t->store, &t->err), &t->err);
    assert_ok(ingest_dataset_id(t->store, &settings, true, id, &t->err), &t->err);
    assert_ok(store_switch_get(t->store, newest().text, current, sizeof current, &t->err), &t->err);
    assert_string_equal(current, id);
    assert_ok(dataset_schema_get(t->store, id, &schema, &t->err), &t->err);
    return schema;
}

static void put(const struct temp_dir *dir, const char *name, const char *text)
{
    (void)temp_dir_write(dir, name, text, strlen(text));
}

static void put_folder(const struct temp_dir *dir)
{
    put(dir, "meta.json", "{\"num_nodes\": 3, \"directed\": false}");
    put(dir, "edges.csv", "src,dst\n0,1\n1,2\n");
    put(dir, "node-label.csv", "0\n1\n0\n");
    put(dir, "train.csv", "0\n");
}

static void names_a_dataset_by_its_content(void **state)
{
    const struct temp_store *t = *state;
    struct error err = {0};
    struct temp_dir here, there;
    char first[ID_SIZE], second[ID_SIZE];
    temp_dir_make(&here);
    temp_dir_make(&there);
    put_folder(&here);
    put_folder(&there);
    put(&there, "README.md", "is not data");

    use(here.path);
    assert_ok(ingest_dataset_id(t->store, &settings, true, first, &err), &err);
    assert_int_equal(strlen(first), strlen("sample-0123456789abcdef"));
    use(there.path);
    assert_ok(ingest_dataset_id(t->store, &settings, true, second, &err), &err);
    assert_string_equal(first, second); /* the place of the input does not matter */

    settings.ingest.direction = DIRECTION_AS_GIVEN;
    assert_ok(ingest_dataset_id(t->store, &settings, true, second, &err), &err);
    assert_string_not_equal(first, second); /* another setting makes another dataset */
    use(there.path);
    put(&there, "train.csv", "1\n");
    assert_ok(ingest_dataset_id(t->store, &settings, true, second, &err), &err);
    assert_string_not_equal(first, second); /* another byte makes another dataset */
    temp_dir_remove(&here);
    temp_dir_remove(&there);
}

static void counts_the_seed_only_where_it_matters(void **state)
{
    const struct temp_store *t = *state;
    struct error err = {0};
    static const struct {
        int64_t features;
        bool matters;
    } cases[] = {{FEATURES_AUTO, true}, {FEATURES_DEGREE, false}, {FEATURES_RANDOM, true}};
    char first[ID_SIZE], second[ID_SIZE];
    use(source_path("tests/data/karate"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        settings.ingest.features.choice = cases[i].features;
        settings.seed = 1;
        assert_ok(ingest_dataset_id(t->store, &settings, true, first, &err), &err);
        settings.seed = 2;
        assert_ok(ingest_dataset_id(t->store, &settings, true, second, &err), &err);
        assert_int_equal(strcmp(first, second) != 0, cases[i].matters);
    }
}

static void wants_a_path_that_is_there(void **state)
{
    const struct temp_store *t = *state;
    struct error err = {0};
    char id[ID_SIZE];
    use("");
    assert_fails(ingest_dataset_id(t->store, &settings, true, id, &err), ERROR_INVALID,
                 "ingest.path", &err);
    use("/nowhere");
    assert_fails(ingest_dataset_id(t->store, &settings, true, id, &err), ERROR_NOT_FOUND,
                 "/nowhere", &err);
}

static void stores_a_dataset_once(void **state)
{
    struct temp_store *t = *state;
    char id[ID_SIZE];
    struct record_view view;
    struct checksum content;
    use(source_path("tests/data/karate"));
    const struct dataset_schema schema = ingested(t);
    assert_int_equal(schema.node_count, 34);
    assert_int_equal(schema.edge_count, 156);
    assert_true(schema.undirected);
    assert_ok(ingest_dataset_id(t->store, &settings, true, id, &t->err), &t->err);
    const struct key key = key_dataset(id, "schema");
    assert_ok(store_get(t->store, key.text, id, &view, &t->err), &t->err);
    content = view.content;
    store_release_record(&view);
    assert_ok(store_switch_set(t->store, newest().text, "another", &t->err), &t->err);
    (void)ingested(t); /* nothing changed: only the ref is set again */
    assert_ok(store_remove(t->store, key.text, &t->err), &t->err);
    /* the state after a kill before the last record: the same bytes are stored once more */
    (void)ingested(t);
    assert_ok(store_get(t->store, key.text, id, &view, &t->err), &t->err);
    assert_true(checksum_equal(&content, &view.content));
    store_release_record(&view);
}

static void keeps_the_ids_of_an_edge_list(void **state)
{
    struct temp_store *t = *state;
    struct temp_dir dir;
    struct node_ids ids;
    temp_dir_make(&dir);
    put(&dir, "labels.txt", "7 1\n-4 0\n");
    use(temp_dir_write(&dir, "g.txt", "# x\n30 -4\n-4 7\n", 15));
    settings.ingest.format = dataset_format_find("edge_list");
    assert_fails(work(t->store, &t->err), ERROR_INPUT,
                 "g.txt has edges, but no labels to learn: add a line `labels: FILE` below "
                 "`ingest:`",
                 &t->err);
    must(file_path(settings.ingest.labels, NULL, "%s/labels.txt", dir.path) == ERROR_NONE);
    assert_fails(work(t->store, &t->err), ERROR_INPUT,
                 "add a line `split: random 60/20/20` below `ingest:`, or `train: FILE`", &t->err);
    (void)snprintf(settings.ingest.split, sizeof settings.ingest.split, "random 60/20/20");
    const struct dataset_schema schema = ingested(t);
    assert_int_equal(schema.node_count, 3);
    assert_int_equal(schema.node_id_form, NODE_ID_INTEGER);
    assert_ok(node_ids_get(t->store, schema.id, &ids, &t->err), &t->err);
    assert_true(ids.integer[0] == -4 && ids.integer[1] == 7 && ids.integer[2] == 30);
    store_release_record(&ids.view);
    temp_dir_remove(&dir);
}

static enum error_code count_key(void *context, const char *key, bool is_artifact,
                                 struct error *err)
{
    (void)key;
    (void)is_artifact;
    (void)err;
    ++*(int *)context;
    return ERROR_NONE;
}

static const struct {
    const char *folder, *message;
} bad_folders[] = {
    {"id-out-of-range", "edges.csv:3: target 3 is out of range: expected a node id from 0 to 2"},
    {"id-negative", "edges.csv:3: source -1 is out of range"},
    {"id-not-a-number", "edges.csv:2: source: expected a 64-bit integer, found 'zero'"},
    {"edge-row-ragged", "edges.csv:3: expected 2 columns, found 3"},
    {"edges-missing", "expected edges.csv (plain, .gz or .zst) or edges.npy, found none"},
    {"edges-twice", "found both"},
    {"edges-gzip-truncated", "gzip file is cut off: expected more data, found the end of the file"},
    {"edges-gzip-with-rubbish-behind", "expected the end of the gzip file"},
    {"edges-gzip-in-name-only", "byte 0: expected gzip's magic 1f 8b"},
    {"edges-zstd-truncated", "zstd file is cut off: expected more data, found the end of the file"},
    {"edges-zstd-with-rubbish-behind", "damaged zstd data: Unknown frame descriptor"},
    {"edges-zstd-in-name-only", "byte 0: expected zstd's magic 28 b5 2f fd"},
    {"edges-fewer-than-meta-says", "edges.csv: expected 9 edges as meta.json says, found 2"},
    {"edges-npy-truncated", "expected 64 bytes of data as the shape says, found 40"},
    {"features-nan", "node-feat.npy"},
    {"features-of-too-few-nodes",
     "node-feat.npy: expected 2 dimensions with 3 rows, one for each node, found 2"},
    /* an array of three dimensions */
    {"features-in-fortran-order", "numpy.ascontiguousarray(numpy.load("},
    {"features-of-objects", "the elements are Python objects, expected numbers"},
    {"features-as-npz", "node-feat.npy is a zip archive (an npz, or a PyTorch file)"},
    {"features-shape-overflows", "byte "},
    {"label-out-of-range",
     "node-label.csv:2: label: expected a class from 0 to 1, or -1 for none, found 2"},
    {"labels-too-few",
     "node-label.csv:3: expected 3 lines, one for each node, found the end of the file"},
    {"split-id-unknown", "train.csv:2"},
    {"split-is-a-mask", "train.csv: found 0 or 1 for each node (a mask), expected the ids of the "
                        "train nodes: in Python, numpy.savetxt("},
    {"labels-with-ids", "node-label.csv:3: expected the label alone (line i is that of node i), "
                        "found what looks like `id,label`"},
    {"split-node-in-two", "valid.csv:1"},
    {"train-node-without-label", "train.csv:1"},
    {"no-nodes", "empty graph"},
    {"meta-not-json", "meta.json:2:0: expected JSON, found what is not valid JSON"},
    {"meta-without-direction",
     "meta.json: \"directed\": expected true, false or null, found nothing"},
    {"edge-time-with-fraction", "edges.csv:2: time: expected an integer, found '1.5': add a line "
                                "`time_format: number*1000` below `ingest:`"},
    {"edge-type-negative", "edges.csv:2: edge type: expected 0 to 511, found -1"},
    {"edge-type-of-floats", "edge-type.npy: expected integers, found another type"},
    {"edge-weight-empty", "edges.csv:3: weight: expected a finite number, found ''"},
    {"edge-weight-in-both", "edge-weight.npy, found them in both"},
    {"edge-weight-nan", "edges.csv:3: weight: expected a finite number, found 'nan'"},
    {"edge-weight-rows-too-few",
     "edge-weight.npy: expected a row for each edge, found 1 rows and more edges"},
    {"edges-empty", "edges.csv:1: expected the header src,dst, found an empty file"},
    {"edges-header-missing",
     "edges.csv:1: expected the header src,dst[,weight][,etype][,time], found '0,1'"},
    {"edges-header-with-unknown-column",
     "edges.csv:1: expected the header src,dst[,weight][,etype][,time], found "
     "'src,dst,colour'"},
    {"edges-npy-no-magic", "edges.npy is text, expected an npy array: in Python, numpy.save("},
    {"edges-npy-of-floats", "edges.npy: expected integers, found floating point numbers"},
    {"edges-npy-of-three-columns",
     "edges.npy: expected the shape [2, edges] or [edges, 2], found 2 dimensions and 4 rows"},
    {"edges-npy-one-dimension",
     "edges.npy: expected the shape [2, edges] or [edges, 2], found 1 dimensions"},
    {"edges-nul-byte", "edges.csv:3: expected text, found a NUL byte in column 3"},
    {"edges-quote-open",
     "edges.csv:2: expected a quote that closes the one in column 1, found none "
     "up to line 3: close it, or write two quotes where a field has one"},
    {"features-dense-and-sparse", "feat_indptr.npy, found both"},
    {"features-sparse-without-values", "feat_values.npy is not there: expected it beside "},
    {"features-of-one-dimension", "node-feat.npy: expected 2 dimensions with 3 rows, one for "
                                  "each node, found 3 rows in 1 dimensions"},
    {"features-of-text", "node-feat.npy: byte 20: the elements are strings, expected numbers: "
                         "in Python, numpy.save("},
    {"features-sparse-column-negative",
     "feat_indices.npy: element 1: expected a column from 0 to 0, found -1"},
    {"features-sparse-indptr-falls", "feat_indptr.npy: element 2: expected 2 to 2 (row starts "
                                     "never fall; there are 2 entries), found 1"},
    {"label-below-none",
     "node-label.csv:2: label: expected a class from 0 to 1, or -1 for none, found -2"},
    {"label-not-a-number", "node-label.csv:2: label in column 1: expected a number, found 'cat'"},
    {"label-with-fraction",
     "node-label.csv:2: label: expected a class from 0 to 1, or -1 for none, found 0.5"},
    {"labels-npy-of-two-rows",
     "node-label.npy: expected 3 rows of labels, one for each node, found 2 in 1 dimensions"},
    {"labels-too-many", "node-label.csv:4: expected 3 lines, one for each node, found more"},
    {"labels-with-blank-line", "node-label.csv:2: expected a label, found a blank line"},
    {"labels-with-header", "node-label.csv:1: label in column 1: expected a number, found "
                           "'label' (classes are numbered"},
    {"meta-a-list", "meta.json: \"num_nodes\": expected a whole number, found nothing"},
    {"meta-cut-off", "meta.json:1:21: expected JSON, found what is not valid JSON"},
    {"meta-direction-as-text",
     "meta.json: \"directed\": expected true, false or null, found something else"},
    {"meta-nodes-as-text",
     "meta.json: \"num_nodes\": expected a whole number from 0 to 4294967295"},
    {"meta-nodes-negative",
     "meta.json: \"num_nodes\": expected a whole number from 0 to 4294967295"},
    {"node-ids-too-few", "node-ids.csv: expected 3 ids, one for each node, found 2"},
    {"node-ids-twice",
     "node-ids.csv:3: 'a' is the id of an earlier line already: expected one line a node"},
    {"node-ids-unknown-in-edges", "edges.csv:2: target: expected an id of node-ids.csv, found 'z'"},
    {"node-ids-unknown-in-split", "train.csv:1: node 'z' is in no other file"},
    {"relation-of-other-type",
     "edges.csv:2: source: expected a node of type user (0 to 1), found 2"},
    {"relation-of-unknown-type",
     "edge-types.csv:2: expected a node type of node-types.csv, found 'thing'"},
    {"relation-out-of-range",
     "edges.csv:2: edge type: expected 0 to 0 as edge-types.csv says, found 1"},
    {"split-id-twice", "train.csv:2: node 0 is in the train split twice"},
    {"split-of-floats", "train.npy: expected integers, found floating point numbers"},
    {"split-of-two-columns", "train.csv:1: expected one integer, found '0,1'"},
    {"split-with-header", "train.csv:1: expected one integer, found 'id'"},
    {"types-of-too-few-nodes",
     "node-types.csv: expected types of 3 nodes as meta.json says, found 2"},
    {"types-twice",
     "node-types.csv:3: expected another name for each node type, found 'user' again"},
    {"types-with-a-gap", "node-types.csv:3: first_id: expected a number from 1 to 1, found '2'"},
};

static void leaves_nothing_of_bad_input(void **state)
{
    struct temp_store *t = *state;
    for (size_t i = 0; i < sizeof bad_folders / sizeof *bad_folders; i++) {
        char folder[128], text[ID_SIZE];
        int keys = 0;
        (void)snprintf(folder, sizeof folder, "tests/data/bad/%s", bad_folders[i].folder);
        use(source_path(folder));
        const enum error_code rc = work(t->store, &t->err);
        if (error_exit_status(rc) != 65 || !strstr(t->err.message, bad_folders[i].message))
            fail_msg("%s: code %d: '%s' does not contain '%s'", bad_folders[i].folder, (int)rc,
                     t->err.message, bad_folders[i].message);
        assert_ok(store_list(t->store, "", count_key, &keys, &t->err), &t->err);
        assert_int_equal(keys, 0);
        assert_int_equal(store_switch_get(t->store, newest().text, text, sizeof text, &t->err),
                         ERROR_NOT_FOUND);
    }
}

static void reads_mended_input(void **state)
{
    struct temp_store *t = *state;
    struct temp_dir dir;
    temp_dir_make(&dir);
    put_folder(&dir);
    put(&dir, "train.csv", "9\n");
    use(dir.path);
    assert_fails(work(t->store, &t->err), ERROR_INPUT, "train.csv:1", &t->err);
    put(&dir, "train.csv", "2\n");
    assert_int_equal(ingested(t).train_count, 1);
    temp_dir_remove(&dir);
}

static void accepts_a_graph_of_one_node(void **state)
{
    struct temp_store *t = *state;
    struct temp_dir dir;
    temp_dir_make(&dir);
    put(&dir, "meta.json", "{\"num_nodes\": 1, \"directed\": true}");
    put(&dir, "edges.csv", "src,dst\n");
    put(&dir, "node-label.csv", "0\n");
    use(dir.path);
    assert_fails(work(t->store, &t->err), ERROR_INPUT, "no training nodes: add train.csv", &t->err);
    put(&dir, "train.csv", "0\n");
    const struct dataset_schema schema = ingested(t);
    assert_int_equal(schema.node_count, 1);
    assert_int_equal(schema.edge_count, 0);
    temp_dir_remove(&dir);
}

/* Returns the number of nodes in which no edge ends. */
static uint64_t isolated_nodes(struct temp_store *t, const struct dataset_schema *schema)
{
    uint64_t isolated = 0;
    for (uint64_t chunk = 0; chunk < schema->edge_chunk_count; chunk++) {
        struct edge_chunk edges;
        assert_ok(edge_chunk_get(t->store, schema->id, (int64_t)chunk, &edges, &t->err), &t->err);
        for (uint32_t i = 0; i < edges.node_count; i++)
            isolated += edges.row_start[i] == edges.row_start[i + 1] ? 1 : 0;
        store_release_record(&edges.view);
    }
    return isolated;
}

static void counts_real_datasets_as_their_readmes_do(void **state)
{
    static const struct {
        const char *name;
        uint32_t nodes;
        uint64_t edges;
        uint32_t dim, classes, train, valid, test;
        uint64_t isolated;
    } cases[] = {
        {"cora", 2708, 10556, 1433, 7, 140, 500, 1000, 0},
        {"citeseer", 3327, 9104, 3703, 6, 120, 500, 1000, 48},
    };
    struct temp_store *t = *state;
    if (!datasets()) {
        print_message("no datasets: set GRAPHMILL_DATASETS\n");
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[FILE_PATH_SIZE];
        assert_ok(file_path(path, &t->err, "%s/%s", datasets(), cases[i].name), &t->err);
        use(path);
        const struct dataset_schema schema = ingested(t);
        assert_int_equal(schema.node_count, cases[i].nodes);
        assert_int_equal(schema.edge_count, cases[i].edges);
        assert_int_equal(schema.feature_dim, cases[i].dim);
        assert_int_equal(schema.class_count, cases[i].classes);
        assert_int_equal(schema.train_count, cases[i].train);
        assert_int_equal(schema.valid_count, cases[i].valid);
        assert_int_equal(schema.test_count, cases[i].test);
        assert_int_equal(isolated_nodes(t, &schema), cases[i].isolated);
    }
}

/* Writes the edges of bitcoin-otc, which has no labels, with labels. */
static void put_labelled_bitcoin(const struct temp_dir *dir)
{
    static const char *const names[] = {"meta.json", "edges.csv"};
    static char labels[3 * 5881];
    struct error err = {0};
    char from[FILE_PATH_SIZE], to[FILE_PATH_SIZE];
    for (size_t i = 0; i < 2; i++) {
        assert_ok(file_path(from, &err, "%s/bitcoin-otc/%s", datasets(), names[i]), &err);
        assert_ok(file_path(to, &err, "%s/%s", dir->path, names[i]), &err);
        assert_ok(file_copy_tree(from, to, &err), &err);
    }
    for (size_t i = 0; i < 5881; i++)
        labels[2 * i] = i % 2 ? '1' : '0', labels[2 * i + 1] = '\n';
    (void)temp_dir_write(dir, "node-label.csv", labels, 2 * 5881UL);
    put(dir, "train.csv", "0\n1\n");
}

static void keeps_weights_times_and_types_of_real_datasets(void **state)
{
    struct temp_store *t = *state;
    char path[FILE_PATH_SIZE];
    if (!datasets()) {
        print_message("no datasets: set GRAPHMILL_DATASETS\n");
        skip();
    }
    struct temp_dir dir;
    temp_dir_make(&dir);
    put_labelled_bitcoin(&dir);
    use(dir.path);
    settings.ingest.duplicates = EDGES_KEEP;
    /* for example 1289241911.72836 */
    (void)snprintf(settings.ingest.time_format, sizeof settings.ingest.time_format,
                   "number*100000");
    struct dataset_schema schema = ingested(t);
    assert_string_equal(schema.time_unit, "number*100000");
    assert_int_equal(schema.node_count, 5881);
    assert_int_equal(schema.edge_count, 35592);
    assert_true(schema.edge_width.of[EDGE_WEIGHT] && schema.edge_width.of[EDGE_TIME] &&
                !schema.edge_width.of[EDGE_TYPE]);
    temp_dir_remove(&dir);

    assert_ok(file_path(path, &t->err, "%s/acm-hetero", datasets()), &t->err);
    use(path);
    schema = ingested(t);
    assert_int_equal(schema.node_count, 11246);
    assert_int_equal(schema.node_type_count, 3);
    assert_string_equal(schema.node_type[2].name, "subject");
    assert_int_equal(schema.node_type[2].first_node, 11186);
    assert_int_equal(schema.edge_type_count, 2);
    assert_int_equal(schema.edge_type[0].edge_count, 13407);
    assert_int_equal(schema.edge_type[1].edge_count, 4019);
    assert_int_equal(schema.feature_dim, 1902);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(names_a_dataset_by_its_content),
        test_with_store(counts_the_seed_only_where_it_matters),
        test_with_store(wants_a_path_that_is_there),
        test_with_store(stores_a_dataset_once),
        test_with_store(keeps_the_ids_of_an_edge_list),
        test_with_store(leaves_nothing_of_bad_input),
        test_with_store(reads_mended_input),
        test_with_store(accepts_a_graph_of_one_node),
        test_with_store(counts_real_datasets_as_their_readmes_do),
        test_with_store(keeps_weights_times_and_types_of_real_datasets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
