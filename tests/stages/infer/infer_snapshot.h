/*
 * infer_snapshot - the snapshot that ends a run, with initial weights instead of trained ones.
 */
#ifndef TESTS_STAGES_INFER_INFER_SNAPSHOT_H
#define TESTS_STAGES_INFER_INFER_SNAPSHOT_H

#include "common/base/memory.h"
#include "stages/plan/model/run_model.h"
#include "store/records/round/snapshot.h"

#include "tests/support/test.h"

#define INFER_RUN_ID "run-1"

struct infer_snapshot {
    float *value,
        /* [model.value_count]: the last weights, and better ones from an earlier version */
        *best_value;
    struct weights_identity last, best;
};

/* Stores the snapshot. Version 5 is the last one, version 3 the best. */
static inline void infer_snapshot_put(struct infer_snapshot *out, struct store *store,
                                      const struct model *model)
{
    static char table[RUN_MODEL_TABLE_SIZE];
    static const char log_text[] = "{}\n";
    struct error err = {0};
    out->value = memory_alloc(model->value_count, sizeof *out->value);
    out->best_value = memory_alloc(model->value_count, sizeof *out->value);
    model_initialise(model, 3, out->value);
    model_initialise(model, 4, out->best_value);
    const size_t bytes = model->value_count * sizeof *out->value;
    out->last = (struct weights_identity){
        .version = 5, .snapshot_version = 5, .sum = checksum_of(out->value, bytes)};
    out->best = (struct weights_identity){
        .version = 3, .snapshot_version = 5, .sum = checksum_of(out->best_value, bytes)};
    assert_ok(model_table_text(model, table, sizeof table, &err), &err);
    const struct snapshot snapshot = {.version = 5,
                                      .previous_version = 3,
                                      .best_version = 3,
                                      .since_best = 1,
                                      .stop = true,
                                      .step = 5,
                                      .value_count = model->value_count,
                                      .value = out->value,
                                      .first = out->value,
                                      .best_value = out->best_value,
                                      .table = table,
                                      .table_size = strlen(table),
                                      .log = log_text,
                                      .log_size = sizeof log_text - 1};
    assert_ok(snapshot_put(store, INFER_RUN_ID, &snapshot, &err), &err);
    assert_ok(snapshot_switch(store, INFER_RUN_ID, 5, &err), &err);
}

static inline void infer_snapshot_release(struct infer_snapshot *snapshot)
{
    memory_free(snapshot->value);
    memory_free(snapshot->best_value);
}

#endif
