/*
 * report_run - all that a report says of one run, read before a word is written.
 *
 * A run that is not finished has what there is so far. Figures that cannot be had (a topology that lies elsewhere, times of
 * workers of other hosts, predictions that were not wanted) are left out, each with its reason in `missing`.
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
#include "pipelines/run_folder.h"
#include "stages/plan/chain_state.h"
#include "store/records/dataset_schema.h"
#include "store/records/outputs_seal.h"
#include "store/records/partition_report.h"

enum { REPORT_RUNS_MAX = 8, REPORT_MISSING_MAX = 8, REPORT_MISSING_SIZE = 256 };

struct report_run { /* {0} is empty; too large for a stack */
    struct run_folder folder;
    struct chain_state state;
    struct dataset_schema dataset;
    struct partition_report partition;
    struct outputs_seal seal;     /* of a finished run */
    struct json_document *scores; /* its metrics; NULL before */
    struct run_metrics metrics;
    struct run_times times;
    struct json_document *input; /* what ingest said of the files; NULL: nothing */
    struct log_warnings warnings;
    struct class_counts classes;
    struct column_encoding words; /* what they are called, or none */
    struct graph_figures graph;
    char missing[REPORT_MISSING_MAX][REPORT_MISSING_SIZE];
    int missing_count;
};

/* Opens the folder `path` and reads the run `run_id`, or the newest when it is NULL. `whole`: also what takes a pass over the
 * graph and the predictions. Fails: ERROR_NOT_FOUND without such a run; ERROR_CORRUPT; ERROR_IO; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code report_run_open(struct report_run *report, const char *path,
                                           const char *run_id, bool whole, struct error *err);
void report_run_close(struct report_run *report);

/* Several, by the words that a person says: FOLDER, or FOLDER:ID for a run that is not the newest of its folder. `run` is all
 * NULL before; run[i] of word i < count <= REPORT_RUNS_MAX is on the heap afterwards, also after a failure: close them.
 * `run_id`: of the one run, or NULL. */
MUST_CHECK enum error_code report_runs_open(struct report_run *run[REPORT_RUNS_MAX],
                                            const char *const *word, int count, const char *run_id,
                                            bool whole, struct error *err);
void report_runs_close(struct report_run *run[REPORT_RUNS_MAX]);

/* The score of a split ("test") that the outputs have, or NaN. */
double report_run_score(const struct report_run *report, const char *split, const char *metric);

#endif
