#include "stages/plan/run/run_import.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "stages/plan/model/run_origin.h"
#include "stages/plan/run/run_binding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static enum error_code find_run(struct store *store, const struct pipeline_settings *settings,
                                char run_id[ID_SIZE], struct error *err)
{
    char partition_id[ID_SIZE];
    struct run_plan *plan = NULL;
    struct key key;
    bool started = false;
    enum error_code rc = run_input_switch(settings, "partition", &key, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(store, key.text, partition_id, sizeof partition_id, err);
    if (rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT)
        return error_context(err, ERROR_UNAVAILABLE, "no partition of this dataset yet");
    if (rc == ERROR_NONE)
        rc = memory_new(&plan, 1, "the plan of a run", err);
    if (rc == ERROR_NONE)
        rc = run_plan_of(store, settings, partition_id, plan, &started, err);
    if (rc == ERROR_NONE)
        (void)snprintf(run_id, ID_SIZE, "%s", plan->id);
    memory_free(plan);
    return rc;
}

enum error_code run_import_put(struct store *store, const struct pipeline_settings *settings,
                               const struct snapshot *model, const float *value,
                               const struct wanted_nodes *wanted, struct error *err)
{
    struct run_origin origin;
    char run_id[ID_SIZE];
    struct json_writer log = {0};
    float *zeros = NULL;
    bool changed = false;
    const double none = (double)NAN;
    enum error_code rc = run_origin_of(settings, &origin, err);
    if (rc == ERROR_NONE)
        rc = find_run(store, settings, run_id, err);
    if (rc == ERROR_NONE && settings->infer.nodes[0])
        rc = wanted_nodes_put(store, run_id, wanted, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&zeros, model->value_count, "the moments of an imported model", err);
    if (rc != ERROR_NONE)
        return rc;
    json_open_object(&log, NULL);
    json_put_string(&log, "model", origin.run_id);
    json_put_int64(&log, "weights_version", origin.version);
    json_close_object(&log);
    json_put_raw(&log, "\n");
    rc = json_writer_finish(&log, err);
    const struct snapshot snapshot = {.version = origin.version,
                                      .previous_version = -1,
                                      .best_version = origin.version,
                                      .epoch = origin.version,
                                      .stop = true,
                                      .train_loss = none,
                                      .train_accuracy = none,
                                      .valid_loss = none,
                                      .valid_metric = none,
                                      .best_metric = none,
                                      .valid_accuracy = none,
                                      .step = (uint64_t)origin.version,
                                      .value_count = model->value_count,
                                      .value = value,
                                      .first = zeros,
                                      .best_value = value,
                                      .table = model->table,
                                      .table_size = model->table_size,
                                      .log = log.text,
                                      .log_size = log.size};
    if (rc == ERROR_NONE)
        rc = snapshot_put(store, run_id, &snapshot, err);
    if (rc == ERROR_NONE)
        rc = snapshot_restore(store, run_id, origin.version, &changed, err);
    if (rc == ERROR_NONE)
        rc = snapshot_switch(store, run_id, origin.version, err);
    json_writer_release(&log);
    memory_free(zeros);
    return rc;
}
