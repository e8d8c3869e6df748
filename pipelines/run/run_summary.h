/* run_summary - prints the results of a finished run on stdout. */
#ifndef PIPELINES_RUN_RUN_SUMMARY_H
#define PIPELINES_RUN_RUN_SUMMARY_H

#include "common/base/error.h"
#include "pipelines/shared/run_folder.h"

#include <stdbool.h>

/* Prints the metrics of the outputs, the hash of the final weights, the path of the outputs, and
 * how to replay. Fails: ERROR_NOT_FOUND when the run is not finished. */
MUST_CHECK enum error_code run_summary_print(const struct run_folder *folder, double seconds,
                                             bool as_json, struct error *err);

#endif
