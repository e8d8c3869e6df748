/*
 * stage_opening - calls a stage's open() and close(), and waits for room between two tries.
 */
#ifndef STAGES_ENGINE_STAGE_OPENING_H
#define STAGES_ENGINE_STAGE_OPENING_H

#include "common/base/error.h"
#include "stages/engine/stage.h"

/* Opens a stage. Stages copy sealed files when they open, and a full disk is only a pause here,
 * too: it tries again until there is room, or until the program is asked to stop. Whatever it
 * returns, the caller calls stage_opening_close() after it. Fails: as the stage's open(). */
MUST_CHECK enum error_code stage_opening_open(const struct stage *own,
                                              const struct stage_context *context, void **state,
                                              struct error *err);
void stage_opening_close(const struct stage *own, void **state);

#endif
