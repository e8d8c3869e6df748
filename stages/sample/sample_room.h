/*
 * sample_room - sampling runs ahead of training no further than there is room for what it makes.
 *
 * Where records lie in memory (redis+cluster:), mini-batches that nobody needs yet would fill it, and then no gradient and no weights fit
 * any more, by which the run goes on and what is done is removed: it would stand still for ever. So once a server of the store is
 * three quarters full, a mini-batch is made when there is room again, or when training has come to its round: what is needed is never held
 * back. The setting sample.run_ahead bounds it from above, in rounds; this bounds it in bytes.
 *
 * A worker waits with its unit in hand, for units come in the order of their rounds. But a mini-batch that was lost is made again
 * behind those: when training misses one for a while, the unit goes to the end of the line for it.
 */
#ifndef STAGES_SAMPLE_SAMPLE_ROOM_H
#define STAGES_SAMPLE_SAMPLE_ROOM_H

#include "stages/engine/stage.h"

#include <stdatomic.h>
#include <stdbool.h>

struct sample_room {
    atomic_bool is_told; /* that one waits */
};

/* Returns when the mini-batch of a training unit may be made; for other units, and where records lie on disk, at once.
 * Fails: ERROR_NO_SPACE when the unit is to be done later, and another one first; ERROR_UNAVAILABLE when asked to stop; as store_has(). */
MUST_CHECK enum error_code sample_room_wait(const struct stage_context *context,
                                            struct sample_room *room, const struct unit *unit,
                                            struct error *err);

#endif
