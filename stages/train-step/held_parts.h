/*
 * held_parts - which mini-batches a worker would rather compute on: those whose rows it has at
 * hand.
 *
 * Only where a mini-batch is made of parts (enum sampler_unit: clusters) does a unit of train-step
 * have parts: its nodes are those of schedule_cluster_range(), and so are its rows. The seeds of
 * the other samplers are drawn from all of the graph, and with their neighbourhoods each batch
 * reads rows of every part. There is something to prefer only if the rows of the graph do not fit
 * the budget: else all of them were read before the first unit. Then the shard of a part is opened
 * (fetched whole and hashed, where the store is far away: artifact_cache.h) when a row of it is
 * first wanted, and stays open.
 */
#ifndef STAGES_TRAIN_STEP_HELD_PARTS_H
#define STAGES_TRAIN_STEP_HELD_PARTS_H

#include "stages/engine/stage.h"
#include "stages/train-step/rows/node_features.h"

/* As `prefers` of a stage: the steps of the unit's round whose mini-batches want fewer shards that are not open than the unit's own
 * does, the fewest first. None when the unit's are all open, so a queue is asked for nothing unless a shard would have to be
 * opened.
 * Threads: any. */
int held_parts_prefers(const struct stage_context *context, const struct node_features *features,
                       const struct unit *unit, char wanted[STAGE_PREFERS_MAX][UNIT_NAME_SIZE]);

#endif
