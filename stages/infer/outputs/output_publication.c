#include "stages/infer/outputs/output_publication.h"

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/nn/model_file.h"
#include "stages/infer/outputs/output_lines.h"
#include "stages/plan/model/model_card.h"
#include "stages/plan/run/run_result.h"
#include "store/objects/keys.h"
#include "store/records/round/outputs_seal.h"

#include <string.h>

enum error_code output_metrics_write(const struct output_request *request, const char *folder,
                                     struct tally *tally, const uint64_t *measured,
                                     const struct edge_bank *edge_bank, struct outputs_seal *seal,
                                     struct error *err)
{
    const struct pipeline_settings *settings = request->context->settings;
    char path[FILE_PATH_SIZE];
    struct json_writer json = {0};
    enum error_code rc = ERROR_NONE;
    json_open_object(&json, NULL);
    json_put_string(&json, "run", request->context->run_id);
    json_put_int64(&json, "weights_version", request->identity->version);
    if (pipeline_learns_events(settings))
        json_put_string(&json, "history",
                        pipeline_history(settings) == HISTORY_ALL ? "all" : "training");
    for (int split = 0; rc == ERROR_NONE && split < SPLIT_COUNT; split++) {
        if (!measured[split])
            continue;
        json_open_object(&json, output_split_name[split]);
        rc = tally_put_members(&tally[split], &json, err);
        if (split != SPLIT_TRAIN)
            edge_bank_put_members(edge_bank, split == SPLIT_VALID ? HELD_OUT_VALID : HELD_OUT_TEST,
                                  &json);
        json_close_object(&json);
    }
    json_close_object(&json);
    json_put_raw(&json, "\n");
    if (rc == ERROR_NONE)
        rc = json_writer_finish(&json, err);
    if (rc == ERROR_NONE && json.size >= OUTPUTS_METRICS_SIZE)
        rc = error_set(err, ERROR_INVALID, "metrics take more than %d bytes", OUTPUTS_METRICS_SIZE);
    if (rc == ERROR_NONE) {
        memcpy(seal->metrics, json.text, json.size + 1);
        rc = file_path(path, err, "%s/metrics.json", folder);
    }
    if (rc == ERROR_NONE)
        rc = file_replace(path, json.text, json.size, false, err);
    json_writer_release(&json);
    return rc;
}

enum error_code output_model_write(const struct output_request *request, const char *folder,
                                   struct error *err)
{
    const struct stage_context *context = request->context;
    struct json_writer card = {0};
    char path[FILE_PATH_SIZE];
    enum error_code rc = file_path(path, err, "%s/model.safetensors", folder);
    if (rc == ERROR_NONE)
        rc = model_card_text(context->store, context->settings, context->book, &card, err);
    if (rc == ERROR_NONE)
        rc = model_file_write(request->model, request->weights, context->run_id,
                              request->identity->version, MODEL_FLAVOR_PYG, card.text, path, err);
    json_writer_release(&card);
    return rc;
}

/* Compares what is stored under the key with the files that were written. */
static enum error_code check_stored(struct store *store, const char *key,
                                    const struct outputs_seal *seal, struct error *err)
{
    struct artifact_handle files;
    enum error_code rc = outputs_acquire(store, key, seal, &files, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = outputs_seal_check(seal, files.path, err);
    artifact_release(&files);
    return rc;
}

/* Logs the result for readers who see only this log. Each line is a separate log event. */
static void log_result(const struct stage_context *context, const struct outputs_seal *seal)
{
    char text[RUN_RESULT_SIZE], *rest = NULL;
    if (run_result_describe(context->run_id, context->schedule->round_count, seal, text, NULL) !=
        ERROR_NONE)
        return; /* the outputs are written anyway */
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        log_info("%s", line);
    log_info(
        "outputs        %s",
        key_outputs(context->run_id, seal->weights.version, context->schedule->outputs_tag).text);
}

enum error_code output_publish(const struct stage_context *context, const char *folder,
                               const struct outputs_seal *seal, struct error *err)
{
    const int64_t version = seal->weights.version;
    const char *tag = context->schedule->outputs_tag;
    const struct key key = key_outputs(context->run_id, version, tag);
    bool existed = false;
    /* The files are flushed before they are published, and the seal is written last. A crash
     * before that leaves no seal: the unit runs again, and finds the same files. */
    enum error_code rc = file_sync_tree(folder, err);
    if (rc == ERROR_NONE)
        rc = store_publish(context->store, folder, key.text, &existed, err);
    if (rc == ERROR_NONE && existed)
        rc = check_stored(context->store, key.text, seal, err);
    if (rc == ERROR_NONE)
        rc = outputs_seal_put(context->store, key_outputs_seal(context->run_id, version, tag).text,
                              context->run_id, seal, err);
    if (rc == ERROR_NONE && !context->is_replay)
        log_result(context, seal);
    return rc;
}
