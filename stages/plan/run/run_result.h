/*
 * run_result - the results of a finished run, in lines for people.
 *
 * `graphmill run` prints them. infer logs them when it has written the outputs: where stages run as
 * Jobs, that log is the only place where a person sees them.
 */
#ifndef STAGES_PLAN_RUN_RUN_RESULT_H
#define STAGES_PLAN_RUN_RUN_RESULT_H

#include "common/base/error.h"
#include "store/records/round/outputs_seal.h"

#include <stdint.h>

enum { RUN_RESULT_SIZE = 2048 };

/* Writes lines that end with a line feed: run, rounds, the scores of each split that exists, and
 * the hash of the weights. Fails: ERROR_CORRUPT when the seal's metrics are not JSON. */
MUST_CHECK enum error_code run_result_describe(const char *run_id, int64_t round_count,
                                               const struct outputs_seal *seal,
                                               char text[RUN_RESULT_SIZE], struct error *err);

#endif
