/*
 * sample_room - lets sampling run ahead of training only while the store has room for the
 * mini-batches.
 *
 * If records lie in memory (redis+cluster:), mini-batches that nobody needs yet could fill it.
 * Then no gradient and no weights would fit, training could not go on, used mini-batches would
 * never be removed, and the run would stand still for ever. So once a server of the store is three
 * quarters full, a mini-batch is made only when there is room again or when training has reached
 * its round: a mini-batch that training needs is never held back. The setting sample.run_ahead
 * limits the lead in rounds; this file limits it in bytes.
 *
 * A worker waits while it holds its unit, because units come in the order of their rounds. But a
 * lost mini-batch is made again by a unit behind the waiting ones. So when training has missed a
 * mini-batch for a while, the waiting unit goes to the end of the line to let that unit pass.
 */
#ifndef STAGES_SAMPLE_SAMPLE_ROOM_H
#define STAGES_SAMPLE_SAMPLE_ROOM_H

#include "stages/engine/stage.h"

#include <stdatomic.h>
#include <stdbool.h>

struct sample_room {
    atomic_bool is_told; /* whether the log already says that a unit waits */
};

/* Waits until the mini-batch of a training unit may be made. Returns at once for other units, and
 * when records lie on disk. Fails: ERROR_NO_SPACE when the unit must be done later, after another
 * one; ERROR_UNAVAILABLE when asked to stop; as store_has(). */
MUST_CHECK enum error_code sample_room_wait(const struct stage_context *context,
                                            struct sample_room *room, const struct unit *unit,
                                            struct error *err);

#endif
