/*
 * held_parts - the mini-batches that a worker prefers, because it already holds their rows.
 *
 * A unit of train-step has parts only if its mini-batch is made of parts (enum sampler_unit:
 * clusters). Its nodes are then those of schedule_cluster_range(), and it reads only their rows.
 * The other samplers draw seeds from the whole graph, and each of their batches reads rows of
 * every part.
 *
 * A worker has a preference only if the rows of the graph do not fit the budget. Otherwise it read
 * all rows before its first unit. It opens the shard of a part when it first needs a row of it,
 * and keeps it open. If the store is remote, opening fetches and hashes the whole shard
 * (artifact_cache.h).
 */
#ifndef STAGES_TRAIN_STEP_HELD_PARTS_H
#define STAGES_TRAIN_STEP_HELD_PARTS_H

#include "stages/engine/stage.h"
#include "stages/train-step/rows/node_features.h"

/* Implements `prefers` of a stage. Lists the steps of the unit's round whose mini-batches need
 * fewer unopened shards than the unit itself, fewest first. Returns 0 if all shards of the unit
 * are open, so a worker asks the queue only if it would have to open a shard.
 * Threads: any. */
int held_parts_prefers(const struct stage_context *context, const struct node_features *features,
                       const struct unit *unit, char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE]);

#endif
