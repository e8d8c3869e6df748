/*
 * chain_repair - what to do when an input of a unit is missing or damaged.
 *
 * Round records are not flushed to disk, so a power cut can lose or tear one that the queue counts as
 * made. It can be made again: the unit that makes it is run once more, and by rule 2 gives the same bytes.
 * Weights and optimizer state of the newest snapshot come back from the snapshot itself. When that one is damaged the
 * state that the caller reads names the whole one before it, and the rounds since are made again.
 * The same goes for a snapshot whose seals of embeddings (store/records/embedding_rows.h) are damaged or gone.
 * Partitions and datasets are made before the run; damage to them ends it with 65, and verify --remove mends it.
 */
#ifndef STAGES_PLAN_CHAIN_REPAIR_H
#define STAGES_PLAN_CHAIN_REPAIR_H

#include "stages/plan/chain.h"

/* Removes every record that `unit` reads and that does not match its checksums. Then sets *missing: does any
 * record that `unit` waits for have to be made (again)? chain_rebuild() queues those. */
MUST_CHECK enum error_code chain_repair_inputs(const struct schedule *schedule, struct store *store,
                                               const char *run_id, const struct chain_state *state,
                                               const struct unit *unit, bool *missing,
                                               struct error *err);

#endif
