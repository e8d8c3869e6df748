/*
 * given_holdout - compares the held-out edges that files list with the edges of the input: listed
 * links must not be among them, listed labelled edges must. A hash table by pair and type finds
 * them.
 */
#ifndef STAGES_INGEST_BUILD_GIVEN_HOLDOUT_H
#define STAGES_INGEST_BUILD_GIVEN_HOLDOUT_H

#include "common/base/error.h"
#include "stages/ingest/build/edge_holdout.h"
#include "stages/ingest/build/edges/edge_spool.h"

#include <stdint.h>

/* Returns one number for both ends; in an undirected graph both directions have the same number. */
uint64_t given_holdout_pair(const struct edge_holdout *holdout, uint32_t source, uint32_t target);
/* Checks holdout->listed. Links become holdout->held; for labelled edges the table stays in
 * holdout->given. Fails: ERROR_INPUT naming file and line of an edge that is listed twice, is a
 * link among the edges of the input, or is labelled and not among them; ERROR_IO. */
MUST_CHECK enum error_code given_holdout_check(struct edge_holdout *holdout,
                                               struct edge_spool *spool, struct error *err);
/* Returns the enum held_out of the edge, or -1 if it is not listed or there is no table. */
int given_holdout_split(const struct edge_holdout *holdout, uint32_t source, uint32_t target,
                        uint16_t type);

#endif
