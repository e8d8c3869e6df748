/*
 * embedding_state - the learnable rows of a run in one version, in tables of this process.
 *
 *   version  0             u                               v
 *            first values  seals of u ── round u ── ... ── round v - 1
 *
 * The rows of each tensor lie in a table (store/features/embedding_table.h). Seals bring them to
 * the version of a snapshot, and row_update.h advances them from there, round by round. Tables
 * that are ahead of the wanted version begin again with the first values. Only a replay, or a unit
 * that is done twice, asks for an older version.
 */
#ifndef STAGES_TRAIN_STEP_ROWS_EMBEDDING_STATE_H
#define STAGES_TRAIN_STEP_ROWS_EMBEDDING_STATE_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/model/embedding_shards.h"
#include "store/features/embedding_table.h"

#include <stdbool.h>
#include <stdint.h>

struct embedding_state_config { /* borrowed */
    struct store *store;        /* tables may lie in its scratch */
    const char *run_id;
    const struct schedule *schedule;
    const struct partition_book *book;
    enum sparse_rule rule;
    uint64_t budget_bytes; /* limit of all tables together */
    struct thread_pool *pool;
};

struct embedding_state { /* {0} is closed */
    struct embedding_state_config config;
    struct embedding_table *table[RELATION_TYPE_COUNT_MAX]; /* one for each tensor of the run */
    int64_t version;                                        /* of the rows in all tables */
};

/* Returns the bytes of tables that hold all rows in memory. */
uint64_t embedding_state_bytes(const struct embedding_tensors *tensors,
                               const struct partition_book *book, enum sparse_rule rule);
/* Opens the tables. If they do not all fit the budget, the smallest ones are in memory. */
MUST_CHECK enum error_code embedding_state_open(const struct embedding_state_config *config,
                                                struct embedding_state *out, struct error *err);
void embedding_state_close(struct embedding_state *state);

/* Reads seals to bring the rows as near to `version` as possible: it takes the newest complete
 * seals that are newer than the rows and not newer than `version`. With `before` it does not
 * take the seals of `version` itself; the unit that writes them sets this. Afterwards
 * state->version is at most `version`. Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code embedding_state_seek(struct embedding_state *state, int64_t version,
                                                bool before, struct error *err);
/* Discards all rows and begins with the first values. Called when rows may have different
 * versions. */
void embedding_state_begin_anew(struct embedding_state *state);

/* Returns whether all rows are in memory. */
bool embedding_state_is_resident(const struct embedding_state *state);

#endif
