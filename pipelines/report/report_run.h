/*
 * report_run - all data that a report shows about one run, read before the page is written.
 *
 * An unfinished run has the data that exist so far. Data that cannot be read (a topology that is
 * stored elsewhere, times of workers on other hosts, predictions that were not written) are left
 * out, and `missing` has the reason of each.
 */
#ifndef PIPELINES_REPORT_REPORT_RUN_H
#define PIPELINES_REPORT_REPORT_RUN_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "pipelines/report/class_counts.h"
#include "pipelines/report/graph_figures.h"
#include "pipelines/report/log_warnings.h"
#include "pipelines/report/run_metrics.h"
#include "pipelines/report/run_times.h"
#include "pipelines/shared/run_folder.h"
#include "stages/plan/chain/chain_state.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/partition_report.h"
#include "store/records/round/outputs_seal.h"

enum { REPORT_RUNS_MAX = 8, REPORT_MISSING_MAX = 8, REPORT_MISSING_SIZE = 256 };

struct report_run { /* {0} is empty; too large for a stack */
    struct run_folder folder;
    struct chain_state state;
    struct dataset_schema dataset;
    struct partition_report partition;
    struct outputs_seal seal;     /* of a finished run */
    struct json_document *scores; /* its metrics; NULL before the run is finished */
    struct run_metrics metrics;
    struct run_times times;
    struct json_document *input; /* what ingest reported about the input files; NULL: nothing */
    struct log_warnings warnings;
    struct class_counts classes;
    struct column_encoding words; /* names of the classes, or none */
    struct graph_figures graph;
    char missing[REPORT_MISSING_MAX][REPORT_MISSING_SIZE];
    int missing_count;
};

/* Opens the folder `path` and reads the run `run_id`, or the newest for NULL. `whole` also reads
 * what requires a pass over the graph and the predictions. Fails: ERROR_NOT_FOUND without such a
 * run; ERROR_CORRUPT; ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code report_run_open(struct report_run *report, const char *path,
                                           const char *run_id, bool whole, struct error *err);
void report_run_close(struct report_run *report);

/* Opens several runs. Each word is FOLDER, or FOLDER:ID for a run that is not the newest of its
 * folder. `run_id` is a run if there is only one word, or NULL.
 * Owns: the caller sets `run` to NULL; run[i] for word i < count <= REPORT_RUNS_MAX is then on the
 * heap, also after a failure, and the caller closes it. */
MUST_CHECK enum error_code report_runs_open(struct report_run *run[REPORT_RUNS_MAX],
                                            const char *const *word, int count, const char *run_id,
                                            bool whole, struct error *err);
void report_runs_close(struct report_run *run[REPORT_RUNS_MAX]);

/* Returns the score of a split ("test") in the outputs, or NaN. */
double report_run_score(const struct report_run *report, const char *split, const char *metric);

#endif
