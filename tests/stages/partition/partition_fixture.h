/*
 * partition_fixture - runs the stage as its main() does, and compares its output with a dataset the
 * slow way. For the tests of partition only.
 */
#ifndef TESTS_STAGES_PARTITION_PARTITION_FIXTURE_H
#define TESTS_STAGES_PARTITION_PARTITION_FIXTURE_H

#include "stages/engine/stage.h"
#include "stages/plan/run/run_binding.h"
#include "store/objects/keys.h"
#include "store/records/partition/node_permutation.h"
#include "store/topology/topology.h"

#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

/* Does the one unit of the program. */
static inline enum error_code run_partition(struct store *store,
                                            const struct pipeline_settings *settings,
                                            uint64_t memory_bytes, bool is_replay,
                                            struct error *err)
{
    const struct unit unit = {.kind = UNIT_PARTITION};
    const struct stage_context context = {
        .store = store,
        .settings = settings,
        .threads = 1,
        .memory_bytes = memory_bytes,
        .is_replay = is_replay,
    };
    void *state = NULL;
    enum error_code rc = stage.open(&context, &state, err);
    if (rc == ERROR_NONE)
        rc = stage.work(&context, state, &unit, err);
    stage.close(state);
    return rc;
}

static inline struct pipeline_settings settings_of(const char *name, enum partition_method method,
                                                   int64_t parts)
{
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    (void)snprintf(settings.name, sizeof settings.name, "%s", name);
    settings.partition.method = (int64_t)method;
    settings.partition.parts = parts;
    return settings;
}

/* Sets the ref to the dataset, as ingest does, so that partition finds it. */
static inline void publish_dataset(struct store *store, const char *name, const char *id)
{
    struct error err = {0};
    struct key key;
    const struct pipeline_settings settings = settings_of(name, PARTITION_METIS, 1);
    assert_ok(run_input_switch(&settings, "dataset", &key, &err), &err);
    assert_ok(store_switch_set(store, key.text, id, &err), &err);
}

static inline void write_dataset(struct store *store, const struct small_dataset *dataset)
{
    small_dataset_write(store, dataset);
    publish_dataset(store, dataset->name, dataset->id);
}

/* Reads the id of the newest partition of these settings. Returns false if there is none. */
static inline bool newest_partition(struct store *store, const struct pipeline_settings *settings,
                                    char id[ID_SIZE])
{
    struct error err = {0};
    struct key key;
    assert_ok(run_input_switch(settings, "partition", &key, &err), &err);
    return store_switch_get(store, key.text, id, ID_SIZE, &err) == ERROR_NONE;
}

static inline void open_book(struct store *store, const struct pipeline_settings *settings,
                             struct partition_book *book)
{
    struct error err = {0};
    char id[ID_SIZE];
    assert_true(newest_partition(store, settings, id));
    assert_ok(partition_book_get(store, id, book, &err), &err);
}

#endif
