/*
 * holdout_times - the times that separate training, validation and test edges.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_HOLDOUT_TIMES_H
#define STAGES_INGEST_BUILD_EDGES_HOLDOUT_TIMES_H

#include "common/base/error.h"
#include "stages/ingest/build/edges/edge_spool.h"

#include <stdint.h>

/* Finds the two times: time_end[0] ends the first `percent[0]` percent of the edges by time,
 * time_end[1] ends the next `percent[1]` percent. Reads the edges eight times, and counts in 512
 * KiB. Fails: ERROR_INPUT when edges have no times; ERROR_IO. */
MUST_CHECK enum error_code holdout_times_find(struct edge_spool *spool, const int *percent,
                                              int64_t *time_end, struct error *err);

#endif
