/*
 * round_base - the record of which weights the gradients of a round are made from, where that is nobody's to know before
 * (aggregate.staleness: up_to s).
 *
 *   run/<id>/round/<r>/base   written by the first step of the round before its gradient, read by the others, by aggregate, and by
 *                             whoever replays one of them
 *       "version"  U64 [1]    of the weights; at most r
 *
 * It is flushed to disk when it is put, and lives as long as the run.
 */
#ifndef STORE_RECORDS_ROUND_BASE_H
#define STORE_RECORDS_ROUND_BASE_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdint.h>

/* Fails: ERROR_CORRUPT, among others when the round has another base already. */
MUST_CHECK enum error_code round_base_put(struct store *store, const char *run_id, int64_t round,
                                          int64_t version, struct error *err);
/* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT, also for a version below `oldest` or above the round. */
MUST_CHECK enum error_code round_base_get(struct store *store, const char *run_id, int64_t round,
                                          int64_t oldest, int64_t *version, struct error *err);
/* The same of a record that was read. */
MUST_CHECK enum error_code round_base_decode(const struct record_view *view, int64_t round,
                                             int64_t oldest, int64_t *version, struct error *err);

#endif
