#include "pipelines/watch/model_evaluation.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "pipelines/shared/model_source.h"
#include "pipelines/shared/run_state.h"
#include "pipelines/shared/wait_for_room.h"
#include "stages/plan/run/run_import.h"
#include "stages/plan/settings/validation_metric.h"
#include "store/records/round/outputs_seal.h"

#include <math.h>
#include <string.h>

/* --- what outputs say --- */

static enum error_code read_value(const char *metrics, enum metric metric, double *value,
                                  struct error *err)
{
    struct json_document *document = NULL;
    const enum error_code rc = json_parse(metrics, strlen(metrics), "metrics", &document, err);
    *value = (double)NAN;
    if (rc == ERROR_NONE)
        (void)json_double(
            json_get(json_get(json_root(document), "valid"), metric_table[metric].name),
            value); /* or it stays NaN: there is no such node, or the score is undefined */
    json_free(document);
    return rc;
}

static enum error_code read_outputs(struct store *store, const struct run_binding *run,
                                    struct model_evaluation *out, struct error *err)
{
    struct chain_state state;
    struct outputs_seal *seal = NULL;
    enum error_code rc = chain_state_read(&run->schedule, store, run->plan.id, &state, err);
    if (rc == ERROR_NONE && !state.finished)
        rc = error_set(err, ERROR_NOT_FOUND, "run %s has no outputs", run->plan.id);
    if (rc == ERROR_NONE)
        rc = memory_new(&seal, 1, "the seal of outputs", err);
    if (rc != ERROR_NONE)
        return rc;
    const struct key key =
        key_outputs_seal(run->plan.id, state.weights_version, run->schedule.outputs_tag);
    rc = outputs_seal_get(store, key.text, run->plan.id, seal, err);
    out->metric = validation_metric(&run->settings, &run->book);
    if (rc == ERROR_NONE)
        rc = read_value(seal->metrics, out->metric, &out->value, err);
    memcpy(out->run_id, run->plan.id, sizeof out->run_id);
    memory_free(seal);
    return rc;
}

enum error_code model_evaluation_read(struct store *store, const char *run_id,
                                      struct model_evaluation *out, struct error *err)
{
    struct run_binding *run = NULL;
    *out = (struct model_evaluation){.value = (double)NAN};
    enum error_code rc = memory_new(&run, 1, "a run", err);
    if (rc == ERROR_NONE)
        rc = run_open(store, run_id, run, err);
    if (rc == ERROR_NONE)
        rc = read_outputs(store, run, out, err);
    if (run)
        run_close(run);
    memory_free(run);
    return rc;
}

/* --- the weights on another version --- */

static enum error_code start(struct local_run *local, const struct model_source *source,
                             struct error *err)
{
    static const struct wanted_nodes all = {.count = 0};
    bool told = false;
    enum error_code rc = model_source_settings(source, &local->options.settings, err);
    if (rc != ERROR_NONE)
        return rc;
    do {
        rc = run_import_put(local->folder.store, &local->options.settings, &source->snapshot,
                            source->value, &all, err);
        if (rc == ERROR_NONE)
            rc = pipeline_start_run(&local->options, &local->folder, err);
    } while (wait_for_room(rc, err, &told));
    return rc;
}

static enum error_code infer(struct local_run *local, const char *model,
                             struct model_source *source, struct error *err)
{
    local->only_stage = "infer";
    local->options.is_aside = true;
    /* the dataset is the model's own, grown, so its nodes are known */
    source->may_learn_pairs = true;
    enum error_code rc = model_source_open(source, local->folder.path, model, true, err);
    if (rc == ERROR_NONE)
        rc = pipeline_run_stage(&local->options, &local->folder, "partition", err);
    if (rc == ERROR_NONE)
        run_state_remove(local->folder.path);
    if (rc == ERROR_NONE)
        rc = start(local, source, err);
    return rc == ERROR_NONE ? local_run_finish(local, err) : rc;
}

/* Finds out whether the model was trained on the newest version, so that its own outputs are those
 * of that version. */
static enum error_code is_of_newest(struct local_run *local, const char *model, bool *is,
                                    struct error *err)
{
    char newest[ID_SIZE];
    struct key key;
    enum error_code rc = run_input_switch(&local->options.settings, "dataset", &key, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(local->folder.store, key.text, newest, sizeof newest, err);
    if (rc == ERROR_NONE)
        rc = run_folder_bind(&local->folder, model, err);
    *is = rc == ERROR_NONE && strcmp(local->folder.run.book.dataset_id, newest) == 0;
    return rc;
}

static enum error_code evaluate(struct local_run *local, const char *model,
                                struct model_evaluation *out, struct error *err)
{
    struct model_source *source = NULL;
    bool is = false;
    enum error_code rc = is_of_newest(local, model, &is, err);
    if (rc == ERROR_NONE && !is) {
        run_close(&local->folder.run);
        rc = memory_new(&source, 1, "a model", err);
        if (rc == ERROR_NONE)
            rc = infer(local, model, source, err);
        if (source)
            model_source_close(source);
        memory_free(source);
    }
    return rc == ERROR_NONE ? read_outputs(local->folder.store, &local->folder.run, out, err) : rc;
}

enum error_code model_evaluation_run(struct local_run *local, const char *model,
                                     struct model_evaluation *out, struct error *err)
{
    struct pipeline_options *before = NULL;
    *out = (struct model_evaluation){.value = (double)NAN};
    enum error_code rc = memory_new(&before, 1, "options", err);
    if (rc != ERROR_NONE)
        return rc;
    *before = local->options;
    rc = evaluate(local, model, out, err);
    local_run_rest(local);
    local->options = *before;
    memory_free(before);
    return error_context(err, rc, "the model of run %s on the newest version", model);
}
