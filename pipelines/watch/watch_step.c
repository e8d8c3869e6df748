#include "pipelines/watch/watch_step.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/watch/dataset_update.h"
#include "pipelines/watch/watch_outcome.h"

#include <stdio.h>
#include <string.h>

static enum error_code open_folder(struct watch *watch, struct error *err)
{
    struct local_run *local = &watch->local;
    char path[FILE_PATH_SIZE];
    local->options = watch->options;
    const enum error_code rc = pipeline_folder_path(&local->options, path, err);
    return rc == ERROR_NONE ? run_folder_create(&local->folder, path, local->options.store, err)
                            : rc;
}

/* --- the first model --- */

/* Checks that the dataset can be updated, before hours of training. */
static enum error_code check_dataset(const struct local_run *local, struct error *err)
{
    struct dataset_schema *schema = NULL;
    char id[ID_SIZE];
    enum error_code rc = memory_new(&schema, 1, "a dataset's schema", err);
    if (rc == ERROR_NONE)
        rc = dataset_newest_id(&local->options, &local->folder, id, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(local->folder.store, id, schema, err);
    if (rc == ERROR_NONE)
        rc = update_check_dataset(schema, err);
    memory_free(schema);
    return rc;
}

static enum error_code is_model(struct local_run *local, bool *is, struct error *err)
{
    char newest[ID_SIZE], id[ID_SIZE];
    struct chain_state state;
    struct run_folder *folder = &local->folder;
    *is = false;
    const enum error_code rc = dataset_newest_id(&local->options, folder, newest, err);
    if (rc != ERROR_NONE || run_newest(folder->store, id, NULL) != ERROR_NONE ||
        run_folder_bind(folder, id, NULL) != ERROR_NONE ||
        chain_state_read(&folder->run.schedule, folder->store, id, &state, NULL) != ERROR_NONE ||
        !state.finished)
        return rc;
    return version_is_below(folder->store, folder->run.book.dataset_id, newest, is, err);
}

enum error_code watch_have_model(struct watch *watch, struct error *err)
{
    struct local_run *local = &watch->local;
    bool is = false;
    enum error_code rc = open_folder(watch, err);
    if (rc == ERROR_NONE)
        rc = pipeline_run_stage(&local->options, &local->folder, "ingest", err);
    if (rc == ERROR_NONE)
        rc = check_dataset(local, err);
    if (rc == ERROR_NONE)
        rc = is_model(local, &is, err);
    local_run_rest(local);
    if (rc == ERROR_NONE && !is) {
        log_info("there is no model of this dataset yet: the first one is trained");
        rc = pipeline_prepare_in(&local->options, &local->folder, err);
        if (rc == ERROR_NONE)
            rc = local_run_finish(local, err);
    }
    local_run_close(local);
    return rc;
}

/* --- training --- */

/* Loads the pipeline's settings, then those of a warm run. */
static enum error_code load_warm(struct watch *watch, const char *model,
                                 char initial[SETTING_PATH_SIZE], struct error *err)
{
    struct pipeline_options *options = &watch->local.options;
    struct option_list *set = &options->set;
    if (set->count + watch->warm.count + 1 > OPTION_LIST_MAX)
        return error_set(err, ERROR_USAGE, "more than %d --set and --warm", OPTION_LIST_MAX - 1);
    (void)snprintf(initial, SETTING_PATH_SIZE, "train-step.initial=%s", model);
    for (int i = 0; i < watch->warm.count; i++)
        set->item[set->count++] = watch->warm.item[i];
    set->item[set->count++] = initial;
    options->is_aside = true;
    return pipeline_options_load(options, err);
}

static enum error_code train(struct watch *watch, const char *model, struct model_evaluation *out,
                             struct error *err)
{
    struct local_run *local = &watch->local;
    char initial[SETTING_PATH_SIZE];
    enum error_code rc = load_warm(watch, model, initial, err);
    if (rc == ERROR_NONE)
        rc = pipeline_prepare_in(&local->options, &local->folder, err);
    if (rc == ERROR_NONE)
        rc = local_run_finish(local, err);
    if (rc == ERROR_NONE)
        rc = model_evaluation_read(local->folder.store, local->folder.run.plan.id, out, err);
    local_run_rest(local);
    local->options = watch->options;
    return rc;
}

/* Trains again. The new model has seen the newer graph, so it is kept unless it is known to be
 * worse. */
static enum error_code retrain(struct watch *watch, struct watch_outcome *outcome,
                               struct error *err)
{
    const struct retrain_trigger *trigger = &outcome->trigger;
    enum error_code rc = train(watch, trigger->run_id, &outcome->newer, err);
    outcome->older = trigger->now;
    if (rc == ERROR_NONE && !trigger->now.run_id[0])
        rc = model_evaluation_run(&watch->local, trigger->run_id, &outcome->older, err);
    if (rc != ERROR_NONE)
        return rc;
    outcome->is_trained = true;
    outcome->is_newer_kept = !(model_evaluation_drop(&outcome->older, &outcome->newer) > 0);
    return ERROR_NONE;
}

/* --- an update --- */

static enum error_code note_begin(struct watch *watch, struct watch_state *state, const char *name,
                                  struct error *err)
{
    watch_state_release(state);
    must(text_copy(state->name, sizeof state->name, name));
    const enum error_code rc =
        dataset_newest_id(&watch->local.options, &watch->local.folder, state->base, err);
    return rc == ERROR_NONE ? watch_state_write(&watch->inbox, state, err) : rc;
}

/* Applies the update. The base was recorded before any change, so after a kill the same files are
 * recognised as this update, and not as another update with equal files. */
static enum error_code apply(struct watch *watch, struct watch_state *state,
                             struct watch_update *update, struct dataset_version *version,
                             struct error *err)
{
    struct local_run *local = &watch->local;
    char newest[ID_SIZE];
    const bool is_resumed = strcmp(state->name, update->name) == 0;
    enum error_code rc = ERROR_NONE;
    if (!is_resumed)
        rc = note_begin(watch, state, update->name, err);
    update->request.base = state->base;
    if (rc == ERROR_NONE)
        rc = dataset_update_apply(&local->options, &local->folder, &update->request, version, err);
    if (rc != ERROR_INPUT || !is_resumed)
        return rc;
    /* The update had not been applied before the kill, and somebody else has made a version
     * since. */
    const enum error_code found = dataset_newest_id(&local->options, &local->folder, newest, err);
    if (found != ERROR_NONE || strcmp(newest, state->base) == 0)
        return found != ERROR_NONE ? found : rc;
    rc = note_begin(watch, state, update->name, err);
    return rc == ERROR_NONE ? dataset_update_apply(&local->options, &local->folder,
                                                   &update->request, version, err)
                            : rc;
}

static enum error_code decide(struct watch *watch, struct watch_state *state,
                              struct watch_update *update, struct watch_outcome *outcome,
                              struct error *err)
{
    const double before = clock_seconds();
    struct local_run *local = &watch->local;
    enum error_code rc = apply(watch, state, update, &outcome->version, err);
    if (rc == ERROR_NONE)
        rc = retrain_trigger_measure(local, outcome->version.schema.id, &outcome->trigger, err);
    if (rc == ERROR_NONE && outcome->trigger.asks)
        rc = retrain(watch, outcome, err);
    if (rc != ERROR_NONE)
        return rc;
    outcome->seconds = clock_seconds() - before;
    rc = watch_outcome_describe(outcome, update->name, state, err);
    return rc == ERROR_NONE ? watch_state_write(&watch->inbox, state, err) : rc;
}

static enum error_code tell(const struct watch *watch, const char *line, const char *result,
                            struct error *err)
{
    const char *text = watch->options.json ? result : line;
    if (printf("%s\n", text) < 0 || fflush(stdout) != 0)
        return error_set(err, ERROR_IO, "stdout cannot be written");
    return ERROR_NONE;
}

/* Carries out the decision; it may be repeated after a kill. */
static enum error_code finish(struct watch *watch, const struct watch_state *state,
                              struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (state->model[0])
        rc = local_run_promote(&watch->local, state->model, err);
    if (rc == ERROR_NONE)
        rc = watch_inbox_put_away(&watch->inbox, state->name, "done", state->result, err);
    return rc == ERROR_NONE ? tell(watch, state->line, state->result, err) : rc;
}

static enum error_code refuse(struct watch *watch, const char *name, const char *why,
                              struct error *err)
{
    char *line = NULL, *result = NULL;
    watch->refused++;
    enum error_code rc = watch_outcome_refused(name, why, &line, &result, err);
    if (rc == ERROR_NONE)
        rc = watch_inbox_put_away(&watch->inbox, name, "refused", result, err);
    if (rc == ERROR_NONE)
        rc = tell(watch, line, result, err);
    memory_free(line);
    memory_free(result);
    return rc;
}

static enum error_code work_on(struct watch *watch, struct watch_state *state, const char *name,
                               struct error *err)
{
    struct watch_update *update = NULL;
    struct watch_outcome *outcome = NULL;
    enum error_code rc = memory_new(&update, 1, "an update", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&outcome, 1, "an update", err);
    if (rc == ERROR_NONE)
        rc = watch_inbox_read(&watch->inbox, name, update, err);
    if (rc == ERROR_NONE)
        rc = open_folder(watch, err);
    if (rc == ERROR_NONE &&
        /* unless it was decided before a kill */
        !(state->is_decided && strcmp(state->name, name) == 0))
        rc = decide(watch, state, update, outcome, err);
    if (rc == ERROR_NONE)
        rc = finish(watch, state, err);
    else if (rc == ERROR_INPUT)
        rc = refuse(watch, name, err->message, err);
    local_run_close(&watch->local);
    if (outcome)
        dataset_version_release(&outcome->version);
    memory_free(outcome);
    memory_free(update);
    return rc;
}

enum error_code watch_step(struct watch *watch, bool *found, struct error *err)
{
    struct watch_state state;
    char name[WATCH_NAME_SIZE];
    enum error_code rc = watch_inbox_next(&watch->inbox, name, err);
    *found = rc == ERROR_NONE && name[0];
    if (!*found)
        return rc;
    rc = watch_state_read(&watch->inbox, &state, err);
    if (rc == ERROR_NONE)
        rc = work_on(watch, &state, name, err);
    watch_state_release(&state);
    return rc;
}
