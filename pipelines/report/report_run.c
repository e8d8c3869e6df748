#include "pipelines/report/report_run.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/chain/metrics_log.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_columns.h"
#include "store/records/round/outputs_seal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Notes something that a report can do without. */
static void note_missing(struct report_run *report, const char *what, const struct error *why)
{
    if (report->missing_count < REPORT_MISSING_MAX)
        (void)snprintf(report->missing[report->missing_count++], REPORT_MISSING_SIZE, "%s: %.200s",
                       what, why->message);
}

static enum error_code read_outputs(struct report_run *report, struct error *err)
{
    const struct run_binding *run = &report->folder.run;
    if (!report->state.finished)
        return ERROR_NONE;
    const struct key key =
        key_outputs_seal(run->plan.id, report->state.weights_version, run->schedule.outputs_tag);
    enum error_code rc =
        outputs_seal_get(report->folder.store, key.text, run->plan.id, &report->seal, err);
    if (rc == ERROR_NONE && report->seal.metrics[0])
        rc = json_parse(report->seal.metrics, strlen(report->seal.metrics), key.text,
                        &report->scores, err);
    return rc;
}

static void read_metrics(struct report_run *report)
{
    struct error why = {0};
    char *text = NULL;
    size_t size = 0;
    const struct key note = metrics_log_note(report->folder.run.plan.id);
    enum error_code rc = store_note_get(report->folder.store, note.text, &text, &size, &why);
    if (rc == ERROR_NONE)
        rc = run_metrics_parse(text, size, "metrics.jsonl", &report->metrics, &why);
    if (rc != ERROR_NONE)
        note_missing(report, "metrics by round", &why);
    memory_free(text);
}

static void read_workers(struct report_run *report)
{
    struct error why = {0};
    char path[FILE_PATH_SIZE];
    if (!report->folder.path[0]) {
        error_ignore(
            error_set(&why, ERROR_NOT_FOUND,
                      "they are in the folder of the run, and on the hosts of its workers, "
                      "not in the store"));
        note_missing(report, "times and logs of the workers", &why);
        return;
    }
    if (file_path(path, &why, "%s/times", report->folder.path) != ERROR_NONE ||
        run_times_read(path, report->folder.run.plan.id, &report->times, &why) != ERROR_NONE)
        note_missing(report, "times of the workers", &why);
    if (file_path(path, &why, "%s/logs", report->folder.path) != ERROR_NONE ||
        log_warnings_read(path, &report->warnings, &why) != ERROR_NONE)
        note_missing(report, "logs of the workers", &why);
}

static void read_predictions(struct report_run *report)
{
    struct error why = {0};
    char path[FILE_PATH_SIZE];
    const struct run_binding *run = &report->folder.run;
    const struct key outputs =
        key_outputs(run->plan.id, report->state.weights_version, run->schedule.outputs_tag);
    struct artifact_handle files = {.path = ""};
    if (!report->state.finished || !task_has_classes(report->dataset.task, TASK_LABELS_NODES))
        return;
    enum error_code rc = outputs_acquire(report->folder.store, outputs.text, NULL, &files, &why);
    if (rc == ERROR_NONE)
        rc = file_path(path, &why, "%s/predictions.csv", files.path);
    if (rc == ERROR_NONE)
        rc = node_columns_get(report->folder.store, report->dataset.id, &report->words, &why);
    if (rc == ERROR_NONE)
        rc = class_counts_read(path, report->dataset.class_count, &report->words, &report->classes,
                               &why);
    if (rc != ERROR_NONE)
        note_missing(report, "scores by class", &why);
    artifact_release(&files);
}

static void read_graph(struct report_run *report)
{
    struct error why = {0};
    if (graph_figures_read(report->folder.store, &report->folder.run.book, &report->graph, &why) !=
        ERROR_NONE)
        note_missing(report, "degrees and the cut between parts", &why);
}

/* Reads how ingest read the files; datasets of older versions have no such record. */
static void read_input(struct report_run *report)
{
    struct error why = {0};
    char *text = NULL;
    if (dataset_report_get(report->folder.store, report->dataset.id, &text, &why) != ERROR_NONE ||
        (text && json_parse(text, strlen(text), "the dataset", &report->input, &why) != ERROR_NONE))
        note_missing(report, "how the input was read", &why);
    memory_free(text);
}

static void read_partition(struct report_run *report)
{
    struct error why = {0};
    if (partition_report_get(report->folder.store, report->folder.run.plan.partition_id,
                             &report->partition, &why) != ERROR_NONE)
        note_missing(report, "figures of the partition", &why);
}

enum error_code report_run_open(struct report_run *report, const char *path, const char *run_id,
                                bool whole, struct error *err)
{
    *report = (struct report_run){0};
    enum error_code rc = run_folder_open(&report->folder, path, run_id, err);
    if (rc == ERROR_NONE)
        rc = chain_state_read(&report->folder.run.schedule, report->folder.store,
                              report->folder.run.plan.id, &report->state, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_get(report->folder.store, report->folder.run.book.dataset_id,
                                &report->dataset, err);
    if (rc == ERROR_NONE)
        rc = read_outputs(report, err);
    if (rc != ERROR_NONE) {
        report_run_close(report);
        return rc;
    }
    read_metrics(report);
    read_input(report);
    read_partition(report);
    read_workers(report);
    if (whole) {
        read_predictions(report);
        read_graph(report);
    }
    return ERROR_NONE;
}

double report_run_score(const struct report_run *report, const char *split, const char *metric)
{
    double value = 0.0;
    const struct json_node *root = report->scores ? json_root(report->scores) : NULL;
    return json_double(json_get(json_get(root, split), metric), &value) ? value : (double)NAN;
}

void report_run_close(struct report_run *report)
{
    json_free(report->scores);
    json_free(report->input);
    partition_report_release(&report->partition);
    run_metrics_release(&report->metrics);
    run_times_release(&report->times);
    class_counts_release(&report->classes);
    column_encoding_release(&report->words);
    graph_figures_release(&report->graph);
    run_folder_close(&report->folder);
    *report = (struct report_run){0};
}

/* Opens FOLDER, or FOLDER:ID for a run that is not the newest of its folder. */
static enum error_code open_run(struct report_run *run, const char *word, const char *run_id,
                                bool whole, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum file_kind kind = FILE_ABSENT;
    if (store_is_uri(word))
        return report_run_open(run, word, run_id, whole, err);
    const char *colon = strrchr(word, ':');
    enum error_code rc = file_look(word, &kind, err);
    if (rc != ERROR_NONE || kind != FILE_ABSENT || !colon || run_id)
        return rc == ERROR_NONE ? report_run_open(run, word, run_id, whole, err) : rc;
    rc = file_path(path, err, "%.*s", (int)(colon - word), word);
    return rc == ERROR_NONE ? report_run_open(run, path, colon + 1, whole, err) : rc;
}

enum error_code report_runs_open(struct report_run *run[REPORT_RUNS_MAX], const char *const *word,
                                 int count, const char *run_id, bool whole, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < count; i++) {
        rc = memory_new(&run[i], 1, "a report", err);
        if (rc == ERROR_NONE)
            rc = open_run(run[i], word[i], run_id, whole, err);
    }
    return rc;
}

void report_runs_close(struct report_run *run[REPORT_RUNS_MAX])
{
    for (int i = 0; i < REPORT_RUNS_MAX; i++) {
        if (run[i])
            report_run_close(run[i]);
        memory_free(run[i]);
        run[i] = NULL;
    }
}
