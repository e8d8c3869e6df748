/*
 * workers_log - records the driver's decisions about the number of its workers for people, in
 * logs/workers.log and on stderr.
 */
#ifndef PIPELINES_RUN_WORKERS_LOG_H
#define PIPELINES_RUN_WORKERS_LOG_H

#include "pipelines/shared/run_folder.h"

#include <stdbool.h>

/* Writes the line. `quiet`: not to stderr. A failure to write to the disk does not fail the run. */
void workers_log_tell(const struct run_folder *folder, bool quiet, const char *text);

#endif
