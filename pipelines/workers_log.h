/*
 * workers_log - what a driver decided about the number of its workers, for people: lines of logs/workers.log and of stderr.
 */
#ifndef PIPELINES_WORKERS_LOG_H
#define PIPELINES_WORKERS_LOG_H

#include "pipelines/run_folder.h"

#include <stdbool.h>

/* A run is no worse for a disk that refuses the line. `quiet`: not to stderr. */
void workers_log_tell(const struct run_folder *folder, bool quiet, const char *text);

#endif
