/* builder_fixture - a store, settings and a dataset builder for the tests of the builder. */
#ifndef TESTS_STAGES_INGEST_BUILD_BUILDER_FIXTURE_H
#define TESTS_STAGES_INGEST_BUILD_BUILDER_FIXTURE_H

#include "common/base/memory.h"
#include "stages/ingest/build/dataset_builder.h"

#include "tests/support/edge_values.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

/* a budget that is enough for every small graph */
enum { ROOMY = 1 << 24 };

struct fixture {
    struct temp_dir dir;
    struct store *store;
    struct pipeline_settings settings;
    struct dataset_builder *builder;
    struct dataset_summary *summary; /* NULL: not wanted */
};

static struct fixture fixture;

static inline int open_fixture(void **state)
{
    (void)state;
    struct error err = {0};
    temp_dir_make(&fixture.dir);
    assert_ok(store_open(fixture.dir.path, 0, &fixture.store, &err), &err);
    pipeline_settings_defaults(&fixture.settings);
    return 0;
}

static inline int close_fixture(void **state)
{
    (void)state;
    dataset_builder_free(fixture.builder);
    fixture.builder = NULL;
    store_close(fixture.store);
    temp_dir_remove(&fixture.dir);
    assert_int_equal(memory_live_blocks(), 0);
    return 0;
}

static inline struct dataset_builder *start(const char *id, uint64_t memory_bytes)
{
    struct error err = {0};
    const struct dataset_builder_config config = {.store = fixture.store,
                                                  .settings = &fixture.settings,
                                                  .dataset_id = id,
                                                  .name = "test",
                                                  .summary = fixture.summary,
                                                  .memory_bytes = memory_bytes};
    dataset_builder_free(fixture.builder);
    fixture.builder = NULL;
    assert_ok(dataset_builder_new(&config, &fixture.builder, &err), &err);
    return fixture.builder;
}

static inline struct dataset_builder *start_nodes(const char *id, uint64_t node_count)
{
    struct error err = {0};
    struct dataset_builder *builder = start(id, ROOMY);
    assert_ok(dataset_builder_set_nodes(builder, node_count, false, &err), &err);
    return builder;
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

#endif
