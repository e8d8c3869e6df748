/*
 * unit_records - the records of units, by the rows of units/unit_row.h: which a unit has, and where they lie along the
 * line of the run.
 *
 * A number says where: records of round r lie at r, those of version v of the weights at v, whichever unit makes them.
 *
 *      number          0                 1                 2
 *      weights         initialise        aggregate/0       aggregate/1
 *      gradient        train-step/0/k    train-step/1/k    train-step/2/k
 */
#ifndef STAGES_PLAN_UNIT_RECORDS_H
#define STAGES_PLAN_UNIT_RECORDS_H

#include "stages/plan/schedule.h"
#include "stages/plan/unit.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/gradient_range.h"

#include <stdbool.h>
#include <stdint.h>

enum { UNIT_KEYS_MAX = 3 + GRADIENT_RANGES_MAX };

/* Of a unit of a run: its artifact, the record that says it is done, that one's companion, and its pieces, as far as it has them.
 * Returns their count. */
int unit_keys(const struct schedule *s, const char *run_id, const struct unit *unit,
              struct key out[UNIT_KEYS_MAX]);
/* The unit of the run that makes what lies at `key`; false when none does. */
bool unit_of_key(const struct schedule *s, const char *run_id, const char *key, struct unit *out);
/* Whether all its records are there, but for a choice (unit_row.h). Fails: ERROR_IO. */
MUST_CHECK enum error_code unit_is_whole(const struct schedule *s, struct store *store,
                                         const char *run_id, const struct unit *unit, bool *whole,
                                         struct error *err);
/* Removes its records; the one that says it is done goes first. Fails: ERROR_IO. */
MUST_CHECK enum error_code unit_remove(const struct schedule *s, struct store *store,
                                       const char *run_id, const struct unit *unit,
                                       struct error *err);

/* Where its records lie. */
int64_t unit_number(const struct unit *unit);
/* Units of the kind whose records lie there: its slots, or of a kind with layers (unit_row.h) those of each. */
int32_t unit_count_at(const struct schedule *s, enum unit_kind kind, int64_t number);
/* The index-th of them. */
struct unit unit_at(const struct schedule *s, enum unit_kind kind, int64_t number, int32_t index);
/* Of round or version `number`, wherever its records lie. */
struct unit unit_of_number(const struct schedule *s, enum unit_kind kind, int64_t number,
                           int32_t index);
/* The next numbers at which this kind has records. Before the first: below 0. Behind the end of the run they go on. */
int64_t unit_number_before(const struct schedule *s, enum unit_kind kind, int64_t number);
int64_t unit_number_after(const struct schedule *s, enum unit_kind kind, int64_t number);

#endif
