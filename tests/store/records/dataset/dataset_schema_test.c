#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

static struct store *store;

static int set_up(void **state)
{
    const int failed = temp_store_setup(state);
    store = ((struct temp_store *)*state)->store;
    return failed;
}

static struct dataset_schema example(void)
{
    return (struct dataset_schema){
        .id = "cora-01",
        .name = "cora",
        .node_count = 2708,
        .edge_count = 5000000000,
        .self_loop_count = 3,
        .input_edge_rows = 5429,
        .removed_self_loops = 1,
        .removed_duplicates = 2,
        .undirected = true,
        .edge_width = {{[EDGE_WEIGHT] = 1, [EDGE_TYPE] = 1, [EDGE_FEATURE] = 12}},
        .feature_dim = 1433,
        .feature_origin = "given",
        .task = TASK_SINGLE_LABEL,
        .class_count = 7,
        .train_count = 140,
        .valid_count = 500,
        .test_count = 1000,
        .edge_chunk_count = 298,
        .feature_chunk_count = 1,
        .node_id_form = NODE_ID_STRING,
        .node_type_count = 2,
        .edge_type_count = 2,
        .node_type = {{"paper", 0, 2000, 0}, {"author \"x\"", 2000, 708, 0}},
        .edge_type = {{"cites", 4999999999, 0, 0}, {"writes", 1, 0, 0}},
    };
}

static void comes_back_as_it_was_stored(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema out;
    const struct dataset_schema schema = example();
    assert_ok(dataset_schema_put(store, &schema, &err), &err);
    assert_ok(dataset_schema_get(store, "cora-01", &out, &err), &err);
    assert_string_equal(out.id, schema.id);
    assert_string_equal(out.name, schema.name);
    assert_string_equal(out.feature_origin, schema.feature_origin);
    assert_int_equal(out.node_count, schema.node_count);
    assert_int_equal(out.edge_count, schema.edge_count);
    assert_int_equal(out.self_loop_count, schema.self_loop_count);
    assert_int_equal(out.input_edge_rows, schema.input_edge_rows);
    assert_int_equal(out.removed_self_loops, schema.removed_self_loops);
    assert_int_equal(out.removed_duplicates, schema.removed_duplicates);
    assert_true(out.undirected && edge_widths_equal(&out.edge_width, &schema.edge_width));
    assert_int_equal(out.feature_dim, schema.feature_dim);
    assert_int_equal(out.task, schema.task);
    assert_int_equal(out.class_count, schema.class_count);
    assert_int_equal(out.train_count, schema.train_count);
    assert_int_equal(out.valid_count, schema.valid_count);
    assert_int_equal(out.test_count, schema.test_count);
    assert_int_equal(out.edge_chunk_count, schema.edge_chunk_count);
    assert_int_equal(out.feature_chunk_count, schema.feature_chunk_count);
    assert_int_equal(out.node_id_form, schema.node_id_form);
    assert_int_equal(out.node_type_count, 2);
    assert_int_equal(out.edge_type_count, 2);
    assert_memory_equal(out.node_type, schema.node_type, sizeof schema.node_type);
    assert_memory_equal(out.edge_type, schema.edge_type, sizeof schema.edge_type);
}

/* Of a graph with relations: types have widths, relations have ends. */
static struct dataset_schema example_with_relations(void)
{
    struct dataset_schema schema = example();
    schema.has_relations = true;
    schema.target_type = 1;
    schema.feature_dim = schema.node_type[1].feature_dim = 12;
    schema.edge_type[1].source_type = 1;
    schema.lacks[1] = 1U << EDGE_TIME | 1U << EDGE_WEIGHT;
    return schema;
}

static void relations_come_back(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema out;
    const struct dataset_schema schema = example_with_relations();
    assert_ok(dataset_schema_put(store, &schema, &err), &err);
    assert_ok(dataset_schema_get(store, schema.id, &out, &err), &err);
    assert_true(out.has_relations);
    assert_int_equal(out.target_type, 1);
    assert_memory_equal(out.node_type, schema.node_type, sizeof schema.node_type);
    assert_memory_equal(out.edge_type, schema.edge_type, sizeof schema.edge_type);
    assert_memory_equal(out.lacks, schema.lacks, sizeof schema.lacks);
    assert_int_equal(dataset_type_of(&out, 1999), 0);
    assert_int_equal(dataset_type_of(&out, 2000), 1);
    assert_string_equal(dataset_relation(&out, 1).name, "writes");
}

static void refuses_relations_that_do_not_fit(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema out, schema = example_with_relations();
    schema.edge_type[1].target_type = 2;
    assert_ok(dataset_schema_put(store, &schema, &err), &err);
    assert_fails(dataset_schema_get(store, schema.id, &out, &err), ERROR_CORRUPT,
                 "\"target_type\": expected 0 to 1, found 2", &err);
    schema = example_with_relations();
    schema.feature_dim = 13;
    assert_ok(store_remove(store, key_dataset(schema.id, "schema").text, &err), &err);
    assert_ok(dataset_schema_put(store, &schema, &err), &err);
    assert_fails(dataset_schema_get(store, schema.id, &out, &err), ERROR_CORRUPT,
                 "\"feature_dim\": expected 12 as the target type has, found 13", &err);
}

static void a_missing_schema_is_not_found(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema out;
    assert_fails(dataset_schema_get(store, "nowhere", &out, &err), ERROR_NOT_FOUND,
                 "dataset/nowhere/schema", &err);
}

/* Stores the example's text with one piece of it replaced, and reads it. */
static void expect_corrupt(const char *from, const char *to, const char *message)
{
    struct error err = {0};
    struct dataset_schema out;
    struct record_view view = {0};
    char text[4096], changed[4096];
    const struct dataset_schema schema = example();
    const struct key key = key_dataset(schema.id, "schema");
    assert_ok(store_remove(store, key.text, &err), &err);
    assert_ok(dataset_schema_put(store, &schema, &err), &err);
    assert_ok(store_get(store, key.text, NULL, &view, &err), &err);
    assert_ok(record_text_get(&view, "json", text, sizeof text, &err), &err);
    store_release_record(&view);
    assert_ok(store_remove(store, key.text, &err), &err);

    const char *at = strstr(text, from);
    if (!at)
        fail_msg("no %s in %s", from, text);
    (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to,
                   at + strlen(from));
    struct record record = {.kind = RECORD_DATASET_SCHEMA, .version = 2};
    record_add_text(&record, "json", changed);
    assert_ok(store_put(store, key.text, schema.id, &record, STORE_DURABLE, &err), &err);
    assert_fails(dataset_schema_get(store, schema.id, &out, &err), ERROR_CORRUPT, message, &err);
    assert_non_null(strstr(err.message, "dataset/cora-01/schema"));
}

static void refuses_fields_of_another_form(void **state)
{
    (void)state;
    expect_corrupt("{", "", "not valid JSON");
    expect_corrupt("\"node_count\":2708", "\"nodes\":2708",
                   "\"node_count\": expected an integer, found nothing");
    expect_corrupt("\"node_count\":2708", "\"node_count\":\"many\"",
                   "\"node_count\": expected an integer, found something else");
    expect_corrupt("\"node_count\":2708", "\"node_count\":4294967296",
                   "\"node_count\": expected 0 to 4294967295, found 4294967296");
    expect_corrupt("\"edge_count\":5000000000", "\"edge_count\":-1",
                   "\"edge_count\": expected 0 to 9223372036854775807, found -1");
    expect_corrupt("\"undirected\":true", "\"undirected\":1",
                   "\"undirected\": expected true or false");
    expect_corrupt("\"name\":\"cora\"", "\"name\":null",
                   "\"name\": expected a string, found something else");
    expect_corrupt("\"feature_origin\":\"given\"",
                   "\"feature_origin\":\"0123456789012345678901234567890123456789012345678901234567"
                   "890123456789\"",
                   "\"feature_origin\": expected at most 63 bytes, found 70");
    expect_corrupt("\"single_label\"", "\"haruspicy\"",
                   "\"task\": expected one that this program has, found haruspicy");
    expect_corrupt("\"string\"", "\"float\"",
                   "\"node_id_form\": expected consecutive, integer or string, found float");
    expect_corrupt("\"id\":\"cora-01\"", "\"id\":\"cora-02\"",
                   "\"id\": expected cora-01, found cora-02");
}

static void refuses_edge_columns_that_do_not_fit(void **state)
{
    (void)state;
    expect_corrupt("\"edge_columns\":{", "\"columns\":{", "expected an object, found nothing");
    expect_corrupt("\"edge_columns\":{", "\"edge_columns\":1,\"x\":{",
                   "expected an object, found something else");
    expect_corrupt("\"weight\":1", "\"wait\":1",
                   "expected columns of edges, found 1 of another name");
    expect_corrupt("\"weight\":1", "\"weight\":2",
                   "\"weight\": expected 1 to 1 elements an edge, found 2");
    expect_corrupt("\"edge_feature\":12", "\"edge_feature\":0",
                   "\"edge_feature\": expected 1 to 65536 elements an edge, found 0");
    expect_corrupt("\"edge_feature\":12", "\"edge_feature\":65537",
                   "\"edge_feature\": expected 1 to 65536 elements an edge, found 65537");
}

static void refuses_types_that_do_not_fit(void **state)
{
    (void)state;
    expect_corrupt("\"node_types\"", "\"types\"", "\"node_types\": expected an array of 1 to 16");
    expect_corrupt("\"edge_types\":[", "\"edge_types\":[],\"x\":[",
                   "\"edge_types\": expected an array of 1 to 512 types, found 0");
    expect_corrupt("\"first_node\":2000", "\"first_node\":\"2000\"",
                   "node type 1: dataset/cora-01/schema: \"first_node\": expected an integer");
    expect_corrupt("\"first_node\":2000", "\"first_node\":2001",
                   "expected first node 2000, found 2001");
    expect_corrupt("\"node_count\":708", "\"node_count\":709",
                   "node types: expected 2708 nodes in all, found 2709");
    expect_corrupt("\"edge_count\":1}", "\"edge_count\":2}",
                   "edge type writes: expected at most 1 edges, found 2");
    expect_corrupt("\"edge_count\":1}", "\"edge_count\":0}",
                   "edge types: expected 5000000000 edges in all, found 4999999999");
    expect_corrupt("\"edge_count\":1}", "\"edges\":1}",
                   "edge type 1: dataset/cora-01/schema: \"edge_count\": expected an integer");
}

static void refuses_numbers_that_contradict_each_other(void **state)
{
    (void)state;
    expect_corrupt("\"node_count\":2708", "\"node_count\":0",
                   "\"node_count\": expected 1 to 4294967294, found 0");
    expect_corrupt("\"node_count\":2708", "\"node_count\":4294967295",
                   "\"node_count\": expected 1 to 4294967294, found 4294967295");
    expect_corrupt("\"feature_dim\":1433", "\"feature_dim\":0",
                   "\"feature_dim\": expected 1 or more of \"feature_origin\" \"given\", found 0");
    expect_corrupt("\"self_loop_count\":3", "\"self_loop_count\":5000000001",
                   "\"self_loop_count\": expected at most 5000000000, found 5000000001");
    expect_corrupt("\"feature_chunk_count\":1", "\"feature_chunk_count\":2",
                   "\"feature_chunk_count\": expected 1, found 2");
    expect_corrupt("\"edge_chunk_count\":298", "\"edge_chunk_count\":0",
                   "\"edge_chunk_count\": expected 1 to 2708, found 0");
    expect_corrupt("\"edge_chunk_count\":298", "\"edge_chunk_count\":2709",
                   "\"edge_chunk_count\": expected 1 to 2708, found 2709");
    expect_corrupt("\"class_count\":7", "\"class_count\":0",
                   "\"class_count\": expected 1 or more, found 0");
    expect_corrupt("\"task\":\"single_label\"", "\"task\":\"none\"",
                   "\"class_count\": expected 0 without a task, found 7");
    expect_corrupt("\"test_count\":1000", "\"test_count\":2069",
                   "splits: expected at most 2708 nodes in all, found 2709");
}

static void refuses_a_record_of_another_kind_or_version(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema out;
    struct record record = {.kind = RECORD_DATASET_SCHEMA, .version = 99};
    record_add_text(&record, "json", "{}");
    assert_ok(store_put(store, key_dataset("v", "schema").text, "v", &record, STORE_DURABLE, &err),
              &err);
    assert_fails(dataset_schema_get(store, "v", &out, &err), ERROR_CORRUPT, "dataset/v/schema",
                 &err);
    assert_non_null(strstr(err.message, "99"));
    record.kind = RECORD_GRADIENT;
    assert_ok(store_put(store, key_dataset("k", "schema").text, "k", &record, STORE_DURABLE, &err),
              &err);
    assert_fails(dataset_schema_get(store, "k", &out, &err), ERROR_CORRUPT, "dataset/k/schema",
                 &err);
    assert_non_null(strstr(err.message, "gradient"));
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema out;
    const struct dataset_schema schema = example();
    assert_ok(dataset_schema_put(store, &schema, &err), &err);
    enum error_code rc = ERROR_NO_MEMORY;
    for (long n = 0; rc != ERROR_NONE; n++) {
        const long before = memory_live_blocks();
        memory_fail_after(n);
        rc = dataset_schema_put(store, &schema, &err);
        if (rc == ERROR_NONE)
            rc = dataset_schema_get(store, schema.id, &out, &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), before);
        assert_true(n < 1000);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, temp_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(comes_back_as_it_was_stored),
        TEST(relations_come_back),
        TEST(refuses_relations_that_do_not_fit),
        TEST(a_missing_schema_is_not_found),
        TEST(refuses_fields_of_another_form),
        TEST(refuses_edge_columns_that_do_not_fit),
        TEST(refuses_types_that_do_not_fit),
        TEST(refuses_numbers_that_contradict_each_other),
        TEST(refuses_a_record_of_another_kind_or_version),
        TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
