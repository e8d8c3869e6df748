/*
 * unit_records - the records of units, from the rows of chain/unit_row.h: which records a unit has,
 * and at which number they lie.
 *
 * Records of round r lie at number r, and records of version v of the weights at v, whichever unit
 * makes them:
 *
 *      number          0                 1                 2
 *      weights         initialise        aggregate/0       aggregate/1
 *      gradient        train-step/0/k    train-step/1/k    train-step/2/k
 */
#ifndef STAGES_PLAN_CHAIN_UNIT_RECORDS_H
#define STAGES_PLAN_CHAIN_UNIT_RECORDS_H

#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/round/gradient_range.h"

#include <stdbool.h>
#include <stdint.h>

enum { UNIT_KEYS_MAX = 3 + GRADIENT_RANGES_MAX };

/* Writes the keys of a unit of a run to `out`: its artifact, the record that says it is done, the
 * companion of that record, and its pieces, as far as the unit has them. Returns their count. */
int unit_keys(const struct schedule *s, const char *run_id, const struct unit *unit,
              struct key out[UNIT_KEYS_MAX]);
/* Sets *out to the unit of the run that makes the record at `key`. Returns false if no unit
 * does. */
bool unit_of_key(const struct schedule *s, const char *run_id, const char *key, struct unit *out);
/* Sets *whole to whether all records of the unit are there, not counting a choice (unit_row.h).
 * Fails: ERROR_IO. */
MUST_CHECK enum error_code unit_is_whole(const struct schedule *s, struct store *store,
                                         const char *run_id, const struct unit *unit, bool *whole,
                                         struct error *err);
/* Removes the records of the unit. The record that says it is done goes first, so that after a kill
 * in between the unit is not done. Fails: ERROR_IO. */
MUST_CHECK enum error_code unit_remove(const struct schedule *s, struct store *store,
                                       const char *run_id, const struct unit *unit,
                                       struct error *err);

/* Returns the number at which the records of the unit lie. */
int64_t unit_number(const struct unit *unit);
/* Returns how many units of the kind have records at `number`: its slots, or for a kind with layers
 * (unit_row.h) the slots of all layers. */
int32_t unit_count_at(const struct schedule *s, enum unit_kind kind, int64_t number);
/* Returns the index-th of these units. */
struct unit unit_at(const struct schedule *s, enum unit_kind kind, int64_t number, int32_t index);
/* Returns the index-th unit of round or version `number`, wherever its records lie. */
struct unit unit_of_number(const struct schedule *s, enum unit_kind kind, int64_t number,
                           int32_t index);
/* Return the nearest number before or after `number` at which this kind has records. A result below
 * 0 means that there is none before. Numbers go on behind the end of the run. */
int64_t unit_number_before(const struct schedule *s, enum unit_kind kind, int64_t number);
int64_t unit_number_after(const struct schedule *s, enum unit_kind kind, int64_t number);

#endif
