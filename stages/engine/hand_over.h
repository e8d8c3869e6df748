/*
 * hand_over - the units that a finished one sets free, in the form of the queue.
 */
#ifndef STAGES_ENGINE_HAND_OVER_H
#define STAGES_ENGINE_HAND_OVER_H

#include "common/base/error.h"
#include "stages/engine/stage.h"
#include "stages/plan/chain/unit_list.h"
#include "store/queue/work_queue.h"

#include <stdint.h>

struct hand_over {                /* {0} is empty; the memory is used for all units */
    struct work_successor *entry; /* [count], owned */
    int64_t count;
    size_t capacity;
    struct unit_list units;
};

/* Sets *next to the units that `unit` sets free. The record of `unit` is stored. Fails:
 * ERROR_NO_MEMORY; as reading a snapshot does. */
MUST_CHECK enum error_code hand_over_name(struct hand_over *next,
                                          const struct stage_context *context,
                                          const struct unit *unit, struct error *err);
void hand_over_release(struct hand_over *next);

#endif
