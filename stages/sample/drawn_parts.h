/*
 * drawn_parts - of which parts a mini-batch was drawn: its nodes, and the edges that end in them. By these the seconds of drawing it fall
 * to parts (stages/engine/part_shares.h).
 */
#ifndef STAGES_SAMPLE_DRAWN_PARTS_H
#define STAGES_SAMPLE_DRAWN_PARTS_H

#include "stages/engine/stage.h"
#include "store/records/mini_batch.h"

/* Tells the times of the worker, if any are kept, of the batch that the unit in hand drew. */
void drawn_parts_tell(const struct stage_context *context, const struct mini_batch *batch);

#endif
