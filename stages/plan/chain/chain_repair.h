/*
 * chain_repair - repairs a missing or damaged input of a unit.
 *
 * Round records are not flushed to disk, so a power cut can lose or tear a record that the queue
 * counts as made. Such a record can be made again: the unit that makes it runs once more and gives
 * the same bytes (rule 2).
 * Weights and optimizer state of the newest snapshot are restored from the snapshot itself. If that
 * snapshot is damaged, the state that the caller reads names the whole snapshot before it, and the
 * rounds since then are made again. The same applies to a snapshot whose sealed rows of embeddings
 * (store/records/round/embedding_rows.h) are damaged or gone.
 * Partitions and datasets are made before the run. Damage to them ends the run with status 65, and
 * verify --remove repairs it.
 */
#ifndef STAGES_PLAN_CHAIN_CHAIN_REPAIR_H
#define STAGES_PLAN_CHAIN_CHAIN_REPAIR_H

#include "stages/plan/chain/chain.h"

/* Removes every record that `unit` reads and that does not match its checksums. Then sets *missing
 * to whether any record that `unit` waits for has to be made (again); chain_rebuild() queues the
 * units that make them. */
MUST_CHECK enum error_code chain_repair_inputs(const struct schedule *schedule, struct store *store,
                                               const char *run_id, const struct chain_state *state,
                                               const struct unit *unit, bool *missing,
                                               struct error *err);

#endif
