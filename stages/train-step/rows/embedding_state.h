/*
 * embedding_state - the learnable rows of a run in one version, in tables of this process.
 *
 *   version  0             u                               v
 *            first values  seals of u ── round u ── ... ── round v - 1
 *
 * The rows of each tensor lie in a table (store/features/embedding_table.h). Seals take them to the version of a snapshot;
 * row_update.h takes them on, round by round. Tables that are ahead of what is wanted begin anew: the chain never asks for
 * that, a replay or a unit that is done twice may.
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
    struct store *store;        /* whose scratch tables may lie in */
    const char *run_id;
    const struct schedule *schedule;
    const struct partition_book *book;
    enum sparse_rule rule;
    uint64_t budget_bytes; /* of all tables */
    struct thread_pool *pool;
};

struct embedding_state { /* {0} is closed */
    struct embedding_state_config config;
    struct embedding_table *table[RELATION_TYPE_COUNT_MAX]; /* of the run's tensors */
    int64_t version;                                        /* of all of them */
};

/* What tables that hold all rows would take. */
uint64_t embedding_state_bytes(const struct embedding_tensors *tensors,
                               const struct partition_book *book, enum sparse_rule rule);
/* Out of the budget, small tables are in memory rather than large ones. */
MUST_CHECK enum error_code embedding_state_open(const struct embedding_state_config *config,
                                                struct embedding_state *out, struct error *err);
void embedding_state_close(struct embedding_state *state);

/* Takes the rows as near to `version` as seals do: to the newest that are there and newer than the rows, at or before it;
 * `before`: not those of that very version, for the unit that makes them. Afterwards state->version is at most `version`.
 * Fails: ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code embedding_state_seek(struct embedding_state *state, int64_t version,
                                                bool before, struct error *err);
/* When some rows are of another version than others. */
void embedding_state_begin_anew(struct embedding_state *state);

/* Whether all rows lie in memory. */
bool embedding_state_is_resident(const struct embedding_state *state);

#endif
