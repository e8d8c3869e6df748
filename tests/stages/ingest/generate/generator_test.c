/* Tests the promises about the generated graph by measuring the stored records. */
#include "common/base/memory.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/plan/settings/dataset_format.h"
#include "store/objects/keys.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_labels.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>

extern const struct input_format generated_format;

struct fixture {
    struct temp_dir dir;
    struct store *store;
    struct pipeline_settings settings;
    uint64_t memory_bytes;
};

static struct fixture fixture;

static int open_fixture(void **state)
{
    (void)state;
    struct error err = {0};
    temp_dir_make(&fixture.dir);
    assert_ok(store_open(fixture.dir.path, 0, &fixture.store, &err), &err);
    pipeline_settings_defaults(&fixture.settings);
    fixture.settings.ingest.format = dataset_format_find("generated");
    fixture.settings.ingest.duplicates = EDGES_KEEP;
    fixture.settings.ingest.nodes = 20000;
    fixture.settings.ingest.feature_dim = 4;
    fixture.memory_bytes = 1U << 28;
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    store_close(fixture.store);
    temp_dir_remove(&fixture.dir);
    assert_int_equal(memory_live_blocks(), 0);
    return 0;
}

static enum error_code try_to_generate(const char *id, struct dataset_schema *schema,
                                       struct error *err)
{
    struct dataset_builder *builder = NULL;
    const struct dataset_builder_config config = {.store = fixture.store,
                                                  .settings = &fixture.settings,
                                                  .dataset_id = id,
                                                  .name = "generated",
                                                  .memory_bytes = fixture.memory_bytes};
    enum error_code rc = dataset_builder_new(&config, &builder, err);
    if (rc == ERROR_NONE)
        rc = generated_format.run(&fixture.settings, fixture.memory_bytes, builder, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_finish(builder, schema, err);
    dataset_builder_free(builder);
    return rc;
}

static void generate(const char *id, struct dataset_schema *schema)
{
    struct error err = {0};
    assert_ok(try_to_generate(id, schema, &err), &err);
}

/* Counts over all stored edges. */
struct edge_facts {
    uint64_t edges, loops, within;
    uint32_t *degree; /* [node_count] */
};

static void count_edges(const char *id, const struct dataset_schema *schema, const int32_t *label,
                        struct edge_facts *facts)
{
    struct error err = {0};
    *facts = (struct edge_facts){0};
    assert_ok(memory_new(&facts->degree, schema->node_count, "degrees", &err), &err);
    for (uint64_t c = 0; c < schema->edge_chunk_count; c++) {
        struct edge_chunk chunk;
        assert_ok(edge_chunk_get(fixture.store, id, (int64_t)c, &chunk, &err), &err);
        for (uint32_t row = 0; row < chunk.node_count; row++) {
            const uint32_t node = chunk.first_node + row;
            facts->degree[node] = (uint32_t)(chunk.row_start[row + 1] - chunk.row_start[row]);
            facts->edges += facts->degree[node];
            for (uint64_t i = chunk.row_start[row]; i < chunk.row_start[row + 1]; i++) {
                facts->loops += chunk.neighbor[i] == node;
                facts->within += label[chunk.neighbor[i]] == label[node];
            }
        }
        store_release_record(&chunk.view);
    }
}

static void measure(const char *id, const struct dataset_schema *schema, struct edge_facts *facts)
{
    struct error err = {0};
    struct node_labels labels;
    assert_ok(node_labels_get(fixture.store, id, &labels, &err), &err);
    count_edges(id, schema, labels.row, facts);
    store_release_record(&labels.view);
}

static uint64_t count_above(const struct dataset_schema *schema, const uint32_t *degree,
                            uint32_t least)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < schema->node_count; i++)
        count += degree[i] >= least;
    return count;
}

static void degrees_follow_the_power_law(void **state)
{
    (void)state;
    const double exponents[] = {2.2, 2.5, 3.0};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        char id[32];
        struct dataset_schema schema = {0};
        struct edge_facts facts;
        (void)snprintf(id, sizeof id, "tail-%zu", i);
        fixture.settings.ingest.nodes = 100000;
        fixture.settings.ingest.feature_dim = 1;
        fixture.settings.ingest.degree_exponent = exponents[i];
        generate(id, &schema);
        measure(id, &schema, &facts);
        /* The share of nodes with at least d edges falls as d^(1 - exponent). */
        const double many = (double)count_above(&schema, facts.degree, 20);
        const double few = (double)count_above(&schema, facts.degree, 120);
        const double slope = log(many / few) / log(120.0 / 20.0);
        if (fabs(slope - (exponents[i] - 1.0)) > 0.15)
            fail_msg("exponent %g: the tail falls with %g", exponents[i], slope);
        memory_free(facts.degree);
    }
}

static void edges_stay_inside_as_often_as_asked(void **state)
{
    (void)state;
    const double shares[] = {0.0, 0.3, 0.8, 1.0};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        char id[32];
        struct dataset_schema schema = {0};
        struct edge_facts facts;
        (void)snprintf(id, sizeof id, "share-%zu", i);
        fixture.settings.ingest.homophily = shares[i];
        fixture.settings.ingest.label_noise = 0.0;
        generate(id, &schema);
        measure(id, &schema, &facts);
        const double found = (double)facts.within / (double)facts.edges;
        if (fabs(found - shares[i]) > 0.01)
            fail_msg("homophily %g: a share of %g stays inside", shares[i], found);
        assert_int_equal(facts.loops, 0);
        assert_int_equal(facts.edges, 200000); /* nodes * average_degree */
        memory_free(facts.degree);
    }
}

static void same_content(const struct key *a, const struct key *b, bool expected)
{
    struct error err = {0};
    struct record_view x = {0}, y = {0};
    assert_ok(store_get(fixture.store, a->text, NULL, &x, &err), &err);
    assert_ok(store_get(fixture.store, b->text, NULL, &y, &err), &err);
    assert_int_equal(checksum_equal(&x.content, &y.content), expected);
    store_release_record(&x);
    store_release_record(&y);
}

static void compare(const char *a, const char *b, bool expected)
{
    const struct key edges[2] = {key_edge_chunk(a, 0), key_edge_chunk(b, 0)};
    const struct key features[2] = {key_feature_chunk(a, 0), key_feature_chunk(b, 0)};
    const struct key labels[2] = {key_dataset(a, "labels"), key_dataset(b, "labels")};
    const struct key splits[2] = {key_dataset(a, "splits"), key_dataset(b, "splits")};
    same_content(&edges[0], &edges[1], expected);
    same_content(&features[0], &features[1], expected);
    same_content(&labels[0], &labels[1], expected);
    same_content(&splits[0], &splits[1], expected);
}

static void the_same_seed_gives_the_same_bytes_at_any_budget(void **state)
{
    (void)state;
    struct dataset_schema schema = {0};
    generate("one", &schema);
    fixture.memory_bytes = 1800000;
    generate("two", &schema);
    fixture.settings.seed++;
    generate("three", &schema);
    compare("one", "two", true);
    compare("one", "three", false);
}

static void sum_of_sections(const char *key, char text[CHECKSUM_TEXT_SIZE])
{
    struct error err = {0};
    struct record_view view = {0};
    struct checksum_stream *stream = NULL;
    assert_ok(checksum_stream_new(&stream, &err), &err);
    assert_ok(store_get(fixture.store, key, NULL, &view, &err), &err);
    for (uint32_t i = 0; i < view.section_count; i++)
        checksum_stream_add(stream, view.section[i].data,
                            view.section[i].count * element_size(view.section[i].type));
    const struct checksum sum = checksum_stream_sum(stream);
    checksum_text(&sum, text);
    checksum_stream_free(stream);
    store_release_record(&view);
}

/* The bytes for a seed are promised on any machine: these checksums were computed once. */
static void the_bytes_are_those_of_every_machine(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"edges/0000000000", "b3c067b296b3f8e795158595f6b3ff2d"},
        {"features/0000000000", "5921b5d0bb122dfbf0434fa83ba1e69b"},
        {"labels", "d5b4a0309bf45b62024fbb5d84e9dafe"},
        {"splits", "c176637cbdd421240a1e8e14edf66694"},
    };
    struct dataset_schema schema = {0};
    fixture.settings.ingest.nodes = 1000;
    generate("golden", &schema);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[CHECKSUM_TEXT_SIZE];
        sum_of_sections(key_dataset("golden", expected[i][0]).text, text);
        if (strcmp(text, expected[i][1]) != 0)
            fail_msg("%s: expected %s, found %s", expected[i][0], expected[i][1], text);
    }
}

static void splits_have_their_shares(void **state)
{
    (void)state;
    struct dataset_schema schema = {0};
    fixture.settings.ingest.train_share = 0.5;
    fixture.settings.ingest.valid_share = 0.15;
    generate("splits", &schema);
    assert_int_equal(schema.train_count, 10000);
    assert_int_equal(schema.valid_count, 3000);
    assert_int_equal(schema.test_count, 7000);
}

static void labels_are_drawn_at_random_as_often_as_asked(void **state)
{
    (void)state;
    struct dataset_schema schema = {0};
    struct error err = {0};
    struct node_labels clean, noisy;
    uint32_t changed = 0, next_alike = 0;
    fixture.settings.ingest.label_noise = 0.0;
    generate("clean", &schema);
    fixture.settings.ingest.label_noise = 0.4;
    generate("noisy", &schema);
    assert_ok(node_labels_get(fixture.store, "clean", &clean, &err), &err);
    assert_ok(node_labels_get(fixture.store, "noisy", &noisy, &err), &err);
    const int32_t *before = clean.row, *after = noisy.row;
    for (uint32_t i = 0; i < schema.node_count; i++)
        changed += before[i] != after[i];
    for (uint32_t i = 1; i < schema.node_count; i++)
        next_alike += before[i] == before[i - 1];
    /* One in ten random labels equals the old one; neighbours by id agree by chance only. */
    assert_true(fabs(changed / 20000.0 - 0.4 * 0.9) < 0.015);
    assert_true(fabs(next_alike / 20000.0 - 0.1) < 0.015);
    store_release_record(&clean.view);
    store_release_record(&noisy.view);
}

/* Compares the variance of a column within its classes with its total variance. */
static void features_are_a_centre_and_noise(void **state)
{
    (void)state;
    struct dataset_schema schema = {0};
    struct error err = {0};
    struct feature_chunk chunk;
    struct node_labels labels;
    double sum[10] = {0}, count[10] = {0}, within = 0.0, all = 0.0;
    fixture.settings.ingest.label_noise = 0.0;
    fixture.settings.ingest.feature_noise = 0.5;
    generate("features", &schema);
    assert_ok(feature_chunk_get(fixture.store, "features", 0, &chunk, &err), &err);
    assert_ok(node_labels_get(fixture.store, "features", &labels, &err), &err);
    const int32_t *label = labels.row;
    assert_int_equal(chunk.dim, 4);
    assert_int_equal(chunk.node_count, 20000);
    for (uint32_t i = 0; i < chunk.node_count; i++) {
        sum[label[i]] += (double)chunk.row[(size_t)i * 4];
        count[label[i]] += 1.0;
    }
    for (uint32_t i = 0; i < chunk.node_count; i++) {
        const double x = (double)chunk.row[(size_t)i * 4];
        const double distance = x - sum[label[i]] / count[label[i]];
        within += distance * distance / 20000.0;
        all += x * x / 20000.0;
    }
    /* Noise of 0.5 on centres of variance 1 gives a fifth of the total variance. */
    assert_true(fabs(within - 0.2) < 0.01);
    assert_true(all > 2.0 * within);
    store_release_record(&chunk.view);
    store_release_record(&labels.view);
}

static void a_hundred_nodes_are_enough(void **state)
{
    (void)state;
    struct dataset_schema schema = {0};
    struct edge_facts facts;
    fixture.settings.ingest.nodes = 100;
    fixture.settings.ingest.classes = 100; /* every community has one node */
    generate("small", &schema);
    assert_int_equal(schema.node_count, 100);
    assert_int_equal(schema.edge_count, 1000);
    assert_true(schema.undirected);
    measure("small", &schema, &facts);
    assert_int_equal(facts.loops, 0);
    memory_free(facts.degree);
}

static void a_million_nodes_are_no_trouble(void **state)
{
    (void)state;
    struct dataset_schema schema = {0};
    fixture.settings.ingest.nodes = 1000000;
    fixture.settings.ingest.average_degree = 4;
    fixture.settings.ingest.feature_dim = 2;
    fixture.memory_bytes = 64U << 20;
    generate("large", &schema);
    assert_int_equal(schema.node_count, 1000000);
    assert_int_equal(schema.edge_count, 4000000);
    assert_int_equal(schema.test_count, 500000);
}

static void refuses_settings_that_contradict_each_other(void **state)
{
    (void)state;
    struct error err = {0};
    fixture.settings.ingest.nodes = 100;
    fixture.settings.ingest.classes = 101;
    assert_fails(try_to_generate("bad", NULL, &err), ERROR_INVALID,
                 "ingest.classes: expected 1 to 100, found 101", &err);
    fixture.settings.ingest.classes = 2;
    fixture.settings.ingest.train_share = 0.7;
    fixture.settings.ingest.valid_share = 0.5;
    assert_fails(try_to_generate("bad", NULL, &err), ERROR_INVALID,
                 "expected at most 1 together, found 1.2", &err);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct error err = {0};
    struct dataset_schema schema = {0};
    enum error_code rc = ERROR_NO_MEMORY;
    fixture.settings.ingest.nodes = 100;
    for (long n = 0; rc != ERROR_NONE; n++) {
        const long before = memory_live_blocks();
        memory_fail_after(n);
        rc = try_to_generate("scarce", &schema, &err);
        memory_fail_after(-1);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), before);
        assert_true(n < 1000);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(degrees_follow_the_power_law),
        TEST(edges_stay_inside_as_often_as_asked),
        TEST(the_same_seed_gives_the_same_bytes_at_any_budget),
        TEST(the_bytes_are_those_of_every_machine),
        TEST(splits_have_their_shares),
        TEST(labels_are_drawn_at_random_as_often_as_asked),
        TEST(features_are_a_centre_and_noise),
        TEST(a_hundred_nodes_are_enough),
        TEST(a_million_nodes_are_no_trouble),
        TEST(refuses_settings_that_contradict_each_other),
        TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
