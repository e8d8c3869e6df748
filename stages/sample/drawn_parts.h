/*
 * drawn_parts - counts from which parts of the graph a mini-batch was drawn: its nodes, and the
 * edges that end in them. The worker's times divide the seconds of drawing among the parts by
 * these counts (stages/engine/part_shares.h).
 */
#ifndef STAGES_SAMPLE_DRAWN_PARTS_H
#define STAGES_SAMPLE_DRAWN_PARTS_H

#include "stages/engine/stage.h"
#include "store/records/batch/mini_batch.h"

/* Adds the counts of the batch that the current unit drew to the worker's times. Does nothing when
 * the worker keeps no times. */
void drawn_parts_tell(const struct stage_context *context, const struct mini_batch *batch);

#endif
