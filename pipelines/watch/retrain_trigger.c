#include "pipelines/watch/retrain_trigger.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <math.h>

/* Finds the newest run that has completed training on an earlier version. A damaged run is
 * skipped. */
static enum error_code find_model(struct run_folder *folder, const char *newest, int *hop_count,
                                  struct retrain_trigger *out, struct error *err)
{
    char id[ID_SIZE];
    struct chain_state state;
    struct run_binding *run = NULL;
    bool found = false;
    enum error_code rc = memory_new(&run, 1, "a run", err);
    if (rc != ERROR_NONE)
        return rc;
    found = run_newest(folder->store, id, NULL) == ERROR_NONE &&
            run_open(folder->store, id, run, NULL) == ERROR_NONE &&
            chain_state_read(&run->schedule, folder->store, id, &state, NULL) == ERROR_NONE &&
            state.stopped;
    if (found)
        rc = version_is_below(folder->store, run->book.dataset_id, newest, &found, err);
    if (rc == ERROR_NONE && found) {
        (void)text_copy(out->run_id, sizeof out->run_id, id);
        (void)text_copy(out->dataset_id, sizeof out->dataset_id, run->book.dataset_id);
        *hop_count = run->settings.sample.fanouts.count;
    }
    run_close(run);
    memory_free(run);
    return rc;
}

double model_evaluation_drop(const struct model_evaluation *before,
                             const struct model_evaluation *now)
{
    if (!before->run_id[0] || !now->run_id[0] || before->metric != now->metric)
        return (double)NAN;
    return metric_table[now->metric].less_is_better ? now->value - before->value
                                                    : before->value - now->value;
}

/* Evaluates the model on both versions. The outputs of its own run may have been removed: then
 * there is nothing to compare with. */
static enum error_code evaluate(struct local_run *local, struct retrain_trigger *out,
                                struct error *err)
{
    enum error_code rc = model_evaluation_read(local->folder.store, out->run_id, &out->before, err);
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = model_evaluation_run(local, out->run_id, &out->now, err);
    out->drift.valid_drop = model_evaluation_drop(&out->before, &out->now);
    return rc;
}

enum error_code retrain_trigger_measure(struct local_run *local, const char *newest,
                                        struct retrain_trigger *out, struct error *err)
{
    const struct pipeline_settings *settings = &local->options.settings;
    int hop_count = 0;
    *out = (struct retrain_trigger){.drift.valid_drop = (double)NAN};
    enum error_code rc = find_model(&local->folder, newest, &hop_count, out, err);
    if (rc != ERROR_NONE || !out->run_id[0])
        return rc;
    rc = version_drift_measure(local->folder.store, out->dataset_id, newest, hop_count, &out->drift,
                               err);
    if (rc == ERROR_NONE && settings->ingest.retrain_valid_drop > 0)
        rc = evaluate(local, out, err);
    if (rc == ERROR_NONE)
        out->asks = version_drift_asks(&out->drift, settings, out->why);
    if (rc == ERROR_NOT_FOUND) { /* the version of that run was removed */
        *out = (struct retrain_trigger){.drift.valid_drop = (double)NAN};
        rc = ERROR_NONE;
    }
    return rc;
}

void retrain_trigger_put(struct json_writer *json, const struct retrain_trigger *trigger)
{
    json_put_string(json, "trained", trigger->run_id);
    json_put_string(json, "trained_on", trigger->dataset_id);
    json_put_double(json, "touched", trigger->drift.touched);
    json_put_double(json, "degree_drift", trigger->drift.degree_drift);
    json_put_double(json, "feature_drift", trigger->drift.feature_drift);
    if (trigger->now.run_id[0]) {
        json_put_string(json, "metric", metric_table[trigger->now.metric].name);
        json_put_double(json, "valid_before", trigger->before.value);
        json_put_double(json, "valid_now", trigger->now.value);
        json_put_double(json, "valid_drop", trigger->drift.valid_drop);
    }
    json_put_bool(json, "retrain", trigger->asks);
    json_put_string(json, "why", trigger->why);
}
