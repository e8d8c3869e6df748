/*
 * embedding_state - the learnable rows of a run, brought to the version that a unit wants.
 *
 *   version  0             u                         v
 *            first values  seal u ── update u ── ... ── update v - 1        of each shard for itself
 *
 * The rows of each tensor lie in a table of this process (store/features/embedding_table.h). A shard that is behind gets the updates since,
 * or the newest seal at or before the version and the updates behind it. One that is ahead makes all tables begin
 * anew: the chain never asks for that, a replay or a unit that is done twice may.
 */
#ifndef STAGES_PLAN_EMBEDDING_STATE_H
#define STAGES_PLAN_EMBEDDING_STATE_H

#include "common/base/error.h"
#include "stages/plan/embedding_shards.h"
#include "stages/plan/schedule.h"
#include "store/features/embedding_table.h"

#include <stdbool.h>
#include <stdint.h>

struct embedding_state_config { /* borrowed */
    struct store *store;        /* whose scratch tables may lie in */
    const char *run_id;
    const struct schedule *schedule;
    const struct partition_book *book;
    enum sparse_rule rule; /* what is kept beside the values */
    uint64_t budget_bytes; /* of all tables */
    struct thread_pool *pool;
};

struct embedding_state { /* {0} is closed */
    struct embedding_state_config config;
    struct embedding_table *table[RELATION_TYPE_COUNT_MAX]; /* of the run's tensors */
    int64_t *version;                                       /* [schedule->embedding_shards] */
};

/* What tables that hold all rows would take. */
uint64_t embedding_state_bytes(const struct embedding_tensors *tensors,
                               const struct partition_book *book, enum sparse_rule rule);
/* Out of the budget, small tables are in memory rather than large ones. */
MUST_CHECK enum error_code embedding_state_open(const struct embedding_state_config *config,
                                                struct embedding_state *out, struct error *err);
void embedding_state_close(struct embedding_state *state);

/* Afterwards the rows of `shard` are of `version`. `from_updates`: without the seal of that very version, for the unit that
 * makes it. Fails: ERROR_NOT_FOUND when updates are missing; ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code embedding_state_advance(struct embedding_state *state, int shard,
                                                   int64_t version, bool from_updates,
                                                   struct error *err);
/* The same of all shards. */
MUST_CHECK enum error_code embedding_state_advance_all(struct embedding_state *state,
                                                       int64_t version, struct error *err);
/* The rows that this process made itself of the version behind that of their shard. */
MUST_CHECK enum error_code embedding_state_add(struct embedding_state *state,
                                               const struct embedding_rows *update,
                                               struct error *err);

/* Whether all rows lie in memory. */
bool embedding_state_is_resident(const struct embedding_state *state);

#endif
