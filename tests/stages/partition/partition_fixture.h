/*
 * partition_fixture - runs the stage as its main() does, and compares its output with a dataset the slow
 * way. For the tests of partition only.
 */
#ifndef TESTS_STAGES_PARTITION_PARTITION_FIXTURE_H
#define TESTS_STAGES_PARTITION_PARTITION_FIXTURE_H

#include "stages/stage.h"
#include "store/keys.h"
#include "store/records/dataset_arrays.h"
#include "store/topology.h"

#include "tests/support/small_dataset.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>

/* The work of the program, with stdout kept quiet by the caller or not. */
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
        .scratch = "/tmp",
        .storage_is_local = true,
        .is_replay = is_replay,
    };
    return stage.work(&context, NULL, &unit, err);
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

/* The book of the partition that the switch of `name` points at. */
static inline void open_book(struct store *store, const char *name, struct partition_book *book)
{
    struct error err = {0};
    char id[ID_SIZE];
    assert_ok(store_switch_get(store, key_current("partition", name).text, id, sizeof id, &err),
              &err);
    assert_ok(partition_book_get(store, id, book, &err), &err);
}

#endif
