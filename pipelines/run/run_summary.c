#include "pipelines/run/run_summary.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/shared/own_command.h"
#include "pipelines/shared/unused_data.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/run/run_result.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/records/round/outputs_seal.h"
#include "store/records/round/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The data to print, read before anything is printed. */
struct summary {
    struct outputs_seal seal;
    struct dataset_schema dataset;
    struct edge_use edge_use;
    char *report;                          /* report of ingest, as JSON; NULL: none. Owned */
    char weights_hash[CHECKSUM_TEXT_SIZE]; /* hash of the weights that made the outputs */
    int64_t last_version;
};

/* Hashes only the numbers, so that runs with other names or settings can be compared. */
static enum error_code hash_weights(const struct run_folder *folder, int64_t snapshot_version,
                                    struct weights_identity *out, struct error *err)
{
    struct snapshot snapshot = {0};
    const float *value = NULL;
    const enum error_code rc =
        snapshot_get(folder->store, folder->run.plan.id, snapshot_version, &snapshot, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = weights_identity_of(&snapshot, folder->run.schedule.infers_best, &value);
    store_release_record(&snapshot.view);
    return ERROR_NONE;
}

/* Reads the outputs, and checks that they were made with the final weights of the run. */
static enum error_code gather(const struct run_folder *folder, struct summary *s, struct error *err)
{
    const char *run_id = folder->run.plan.id;
    struct chain_state state = {0};
    struct weights_identity weights = {0};
    enum error_code rc =
        chain_state_read(&folder->run.schedule, folder->store, run_id, &state, err);
    if (rc == ERROR_NONE && !state.finished)
        rc = error_set(err, ERROR_NOT_FOUND, "run %s is not finished", run_id);
    if (rc != ERROR_NONE)
        return rc;
    const struct key key =
        key_outputs_seal(run_id, state.weights_version, folder->run.schedule.outputs_tag);
    s->last_version = state.snapshot_version;
    rc = outputs_seal_get(folder->store, key.text, run_id, &s->seal, err);
    if (rc == ERROR_NONE)
        rc = hash_weights(folder, state.snapshot_version, &weights, err);
    if (rc == ERROR_NONE)
        rc = weights_identity_check(&weights, &s->seal.weights, key.text, err);
    checksum_text(&weights.sum, s->weights_hash);
    const char *dataset_id = folder->run.book.dataset_id;
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(folder->store, dataset_id, &s->dataset, err);
    if (rc == ERROR_NONE)
        rc = edge_use_check(&folder->run.settings, &s->dataset, &s->edge_use, err);
    s->edge_use.columns |= pipeline_sampler(&folder->run.settings)->needs;
    return rc == ERROR_NONE ? dataset_report_get(folder->store, dataset_id, &s->report, err) : rc;
}

/* Prints how to replay. With checkpoint.keep: 1 no record of the last round is left to compare
 * with. */
static void print_replay(const struct run_folder *folder, int64_t round)
{
    const struct key gradient = key_gradient(folder->run.plan.id, round, 0);
    bool found = false;
    char word[SHELL_WORD_SIZE];
    if (store_has(folder->store, gradient.text, &found, NULL) == ERROR_NONE && found)
        printf("replay a unit  %s replay %s train-step --round %" PRId64 " --slot 0\n",
               own_command(), shell_word(folder->path, word), round);
}

/* Prints the path of the report. A failure is ignored. */
static void print_report(const struct run_folder *folder)
{
    char path[FILE_PATH_SIZE];
    bool found = false;
    if (file_path(path, NULL, "%s/report.html", folder->path) == ERROR_NONE &&
        file_is_there(path, &found, NULL) == ERROR_NONE && found)
        printf("report         %s\n", path);
}

static enum error_code print_text(const struct run_folder *folder, const struct summary *s,
                                  struct error *err)
{
    char text[RUN_RESULT_SIZE];
    const enum error_code rc = run_result_describe(
        folder->run.plan.id, folder->run.schedule.round_count, &s->seal, text, err);
    if (rc != ERROR_NONE)
        return rc;
    printf("%soutputs        %s/outputs\n", text, folder->path);
    print_report(folder);
    print_replay(folder, s->last_version - 1);
    return ERROR_NONE;
}

static void put_dataset(struct json_writer *json, const struct summary *s)
{
    const struct dataset_schema *dataset = &s->dataset;
    char unused[160];
    unused_data_text(dataset, &s->edge_use, unused, sizeof unused);
    json_open_object(json, "dataset");
    json_put_string(json, "id", dataset->id);
    json_put_int64(json, "nodes", dataset->node_count);
    json_put_int64(json, "edges", (int64_t)dataset->edge_count);
    json_put_bool(json, "undirected", dataset->undirected);
    json_put_int64(json, "features", dataset->feature_dim);
    json_put_int64(json, "classes", dataset->class_count);
    json_put_int64(json, "train", dataset->train_count);
    json_put_int64(json, "valid", dataset->valid_count);
    json_put_int64(json, "test", dataset->test_count);
    json_put_string(json, "unused", unused);
    json_put_raw(json, ",\"report\":");
    json_put_raw(json, s->report ? s->report : "null");
    json_close_object(json);
}

static enum error_code print_json(const struct run_folder *folder, const struct summary *s,
                                  double seconds, struct error *err)
{
    struct json_writer json = {0};
    char outputs[FILE_PATH_SIZE];
    enum error_code rc = file_path(outputs, err, "%s/outputs", folder->path);
    if (rc != ERROR_NONE)
        return rc;
    json_open_object(&json, NULL);
    json_put_string(&json, "run", folder->run.plan.id);
    json_put_int64(&json, "rounds", s->last_version);
    json_put_int64(&json, "weights_version", s->seal.weights.version);
    json_put_string(&json, "weights_hash", s->weights_hash);
    json_put_string(&json, "outputs", outputs);
    json_put_double(&json, "seconds", seconds);
    put_dataset(&json, s);
    json_put_raw(&json, ",\"metrics\":");
    s->seal.metrics[0] ? json_put_raw(&json, s->seal.metrics) : json_put_raw(&json, "{}");
    while (json.size && json.text[json.size - 1] == '\n')
        json.text[--json.size] = '\0';
    json_close_object(&json);
    return json_writer_print(&json, err);
}

enum error_code run_summary_print(const struct run_folder *folder, double seconds, bool as_json,
                                  struct error *err)
{
    static struct summary summary;
    enum error_code rc = gather(folder, &summary, err);
    if (rc == ERROR_NONE)
        rc = as_json ? print_json(folder, &summary, seconds, err)
                     : print_text(folder, &summary, err);
    memory_free(summary.report);
    summary.report = NULL;
    return rc;
}
