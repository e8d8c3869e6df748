#include "pipelines/shared/warm_start.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/shared/model_source.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/model/run_origin.h"
#include "stages/plan/run/run_binding.h"
#include "stages/plan/run/run_initial.h"

#include <stdio.h>
#include <string.h>

struct warm_start {
    struct model_source source;
    char place[SETTING_PATH_SIZE]; /* the path as the user wrote it */
};

/* --- where it is --- */

/* Finds out whether `text` is a run of this folder. An id cannot have the characters of a path, so
 * the store is not asked about a path. */
static enum error_code is_run_here(const char *text, const char *run_folder, bool *is_here,
                                   struct error *err)
{
    struct run_folder *folder = NULL;
    *is_here = false;
    if (strchr(text, '/') || strlen(text) >= ID_SIZE || strchr(text, ' '))
        return ERROR_NONE;
    enum error_code rc = memory_new(&folder, 1, "a run folder", err);
    if (rc == ERROR_NONE)
        rc = run_folder_open_store(folder, run_folder, STORE_READ_ONLY, err);
    if (rc == ERROR_NONE)
        rc = store_has(folder->store, key_run_plan(text).text, is_here, err);
    if (folder)
        run_folder_close(folder);
    memory_free(folder);
    return rc == ERROR_NOT_FOUND ? ERROR_NONE : rc; /* a folder that does not exist yet */
}

static enum error_code find_path(const char *text, const char *pipeline_file,
                                 char path[FILE_PATH_SIZE], struct error *err)
{
    const char *slash = strrchr(pipeline_file, '/');
    bool found = false;
    enum error_code rc = ERROR_NONE;
    if (slash && text[0] != '/') {
        rc = file_path(path, err, "%.*s/%s", (int)(slash - pipeline_file), pipeline_file, text);
        if (rc == ERROR_NONE)
            rc = file_is_there(path, &found, err);
    }
    if (rc != ERROR_NONE || found)
        return rc;
    rc = file_path(path, err, "%s", text);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &found, err);
    if (rc != ERROR_NONE || found)
        return rc;
    return error_set(
        err, ERROR_NOT_FOUND,
        "train-step.initial is '%.200s': expected the folder of a run, the id of a run "
        "in this folder, or a model.safetensors; none is there",
        text);
}

static enum error_code open_source(struct warm_start *warm, const char *pipeline_file,
                                   const char *run_folder, struct error *err)
{
    char path[FILE_PATH_SIZE];
    bool is_here = false;
    warm->source.may_learn_pairs = true;
    enum error_code rc = is_run_here(warm->place, run_folder, &is_here, err);
    if (rc == ERROR_NONE && !is_here)
        rc = find_path(warm->place, pipeline_file, path, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = is_here ? model_source_open(&warm->source, run_folder, warm->place, true, err)
                 : model_source_open(&warm->source, path, NULL, true, err);
    return error_context(err, rc, "train-step.initial");
}

enum error_code warm_start_open(struct pipeline_settings *settings, const char *pipeline_file,
                                const char *run_folder, struct warm_start **out, struct error *err)
{
    struct warm_start *warm = NULL;
    *out = NULL;
    if (!run_is_warm(settings))
        return ERROR_NONE;
    enum error_code rc = memory_new(&warm, 1, "the model that training begins with", err);
    if (rc != ERROR_NONE)
        return rc;
    (void)text_copy(warm->place, sizeof warm->place, settings->train_step.initial);
    rc = open_source(warm, pipeline_file, run_folder, err);
    if (rc != ERROR_NONE) {
        warm_start_close(warm);
        return rc;
    }
    run_initial_name(settings, &warm->source.identity, warm->source.run_id);
    *out = warm;
    return ERROR_NONE;
}

/* --- does it fit? --- */

static enum error_code check_dataset(const struct warm_start *warm,
                                     const struct pipeline_settings *settings, struct store *store,
                                     struct error *err)
{
    struct dataset_schema *schema = NULL;
    char id[ID_SIZE];
    struct key newest;
    enum error_code rc = memory_new(&schema, 1, "a dataset's schema", err);
    if (rc == ERROR_NONE)
        rc = run_input_switch(settings, "dataset", &newest, err);
    if (rc == ERROR_NONE)
        rc = store_switch_get(store, newest.text, id, sizeof id, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(store, id, schema, err);
    if (rc == ERROR_NONE)
        rc = model_source_check(&warm->source, schema, err);
    memory_free(schema);
    return rc;
}

/* Checks train-step.inner. A model from before that setting has only ReLU between the matrices of
 * gin. Without a norm its tensors are the same. */
static enum error_code check_inner(const struct warm_start *warm,
                                   const struct pipeline_settings *settings, struct error *err)
{
    const struct pipeline_settings *theirs = &warm->source.card.settings;
    if (theirs->train_step.layer.kind != settings->train_step.layer.kind ||
        !pipeline_fills_gin(settings) || pipeline_fills_gin(theirs))
        return ERROR_NONE;
    return error_set(
        err, ERROR_INPUT,
        "the layers of run %s have ReLU alone between their matrices, and the settings "
        "put their norm and activation there: expected train-step.inner: relu",
        warm->source.run_id);
}

/* Checks the model. The dataset is already known to match the model's, so the settings must give
 * the tensors of the model. */
static enum error_code check_model(const struct warm_start *warm,
                                   const struct pipeline_settings *settings, struct error *err)
{
    const struct snapshot *snapshot = &warm->source.snapshot;
    const struct weights weights = {.value_count = snapshot->value_count,
                                    .table = snapshot->table,
                                    .table_size = snapshot->table_size};
    struct model *model = NULL;
    enum error_code rc = check_inner(warm, settings, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = memory_new(&model, 1, "a model", err);
    if (rc == ERROR_NONE)
        rc = run_model_init(model, settings, &warm->source.card.book, err);
    if (rc == ERROR_NONE)
        rc = run_model_check_weights(model, &weights, err);
    memory_free(model);
    if (rc == ERROR_CORRUPT)
        rc = error_context(err, ERROR_INPUT, "the settings make another model than that of run %s",
                           warm->source.run_id);
    return rc;
}

enum error_code warm_start_check(const struct warm_start *warm,
                                 const struct pipeline_settings *settings, struct store *store,
                                 struct error *err)
{
    if (!warm)
        return ERROR_NONE;
    enum error_code rc = check_dataset(warm, settings, store, err);
    if (rc == ERROR_NONE)
        rc = check_model(warm, settings, err);
    return error_context(err, rc, "train-step.initial: %s", warm->place);
}

enum error_code warm_start_put(const struct warm_start *warm,
                               const struct pipeline_settings *settings, struct store *store,
                               struct error *err)
{
    return warm ? run_initial_put(store, settings, &warm->source.snapshot, warm->source.value, err)
                : ERROR_NONE;
}

void warm_start_close(struct warm_start *warm)
{
    if (!warm)
        return;
    model_source_close(&warm->source);
    memory_free(warm);
}
