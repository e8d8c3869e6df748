/*
 * given_holdout - held-out edges that files list, against the edges of the input: of links they are not among them, of
 * labelled edges they are. A table by pair and type finds them.
 */
#ifndef STAGES_INGEST_BUILD_GIVEN_HOLDOUT_H
#define STAGES_INGEST_BUILD_GIVEN_HOLDOUT_H

#include "common/base/error.h"
#include "stages/ingest/build/edge_holdout.h"
#include "stages/ingest/build/edge_spool.h"

#include <stdint.h>

/* Both ends; of an undirected graph one for both ways. */
uint64_t given_holdout_pair(const struct edge_holdout *holdout, uint32_t source, uint32_t target);
/* Checks holdout->listed. Links become holdout->held; for labelled edges the table stays in holdout->given.
 * Fails: ERROR_INPUT naming file and line of one that stands there twice, leaks, or is no edge; ERROR_IO. */
MUST_CHECK enum error_code given_holdout_check(struct edge_holdout *holdout,
                                               struct edge_spool *spool, struct error *err);
/* A value of enum held_out; -1: not listed, or there is no table. */
int given_holdout_split(const struct edge_holdout *holdout, uint32_t source, uint32_t target,
                        uint16_t type);

#endif
