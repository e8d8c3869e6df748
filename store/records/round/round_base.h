/*
 * round_base - which version of the weights the gradients of a round are made from.
 *
 * With aggregate.staleness: up_to s that version is not known before the round starts.
 *
 *   run/<id>/round/<r>/base   the first step of the round writes it before its gradient; the other
 *                             steps, aggregate and replays of them read it
 *       "version"  U64 [1]    the version of the weights, at most r
 *
 * It is flushed to disk when it is put, and lives as long as the run.
 */
#ifndef STORE_RECORDS_ROUND_ROUND_BASE_H
#define STORE_RECORDS_ROUND_ROUND_BASE_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

/* Fails: ERROR_CORRUPT, also if the round has another base already. */
MUST_CHECK enum error_code round_base_put(struct store *store, const char *run_id, int64_t round,
                                          int64_t version, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT, also for a version below `oldest` or above the round. */
MUST_CHECK enum error_code round_base_get(struct store *store, const char *run_id, int64_t round,
                                          int64_t oldest, int64_t *version, struct error *err);
/* Checks and reads a record that is in memory. Fails as round_base_get(). */
MUST_CHECK enum error_code round_base_decode(const struct record_view *view, int64_t round,
                                             int64_t oldest, int64_t *version, struct error *err);

#endif
