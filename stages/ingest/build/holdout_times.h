/*
 * holdout_times - the times up to which edges stay, and up to which they are for validation.
 */
#ifndef STAGES_INGEST_BUILD_HOLDOUT_TIMES_H
#define STAGES_INGEST_BUILD_HOLDOUT_TIMES_H

#include "common/base/error.h"
#include "stages/ingest/build/edge_spool.h"

#include <stdint.h>

/* time_end[0] is the last of the first `percent[0]` percent of the times, time_end[1] that of as many and percent[1] more.
 * Reads the edges eight times, and counts in 512 KiB. Fails: ERROR_INPUT where edges have no times; ERROR_IO. */
MUST_CHECK enum error_code holdout_times_find(struct edge_spool *spool, const int *percent,
                                              int64_t *time_end, struct error *err);

#endif
