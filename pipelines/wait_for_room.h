/*
 * wait_for_room - a full disk does not end a run: the driver waits until there is room, as the workers do.
 */
#ifndef PIPELINES_WAIT_FOR_ROOM_H
#define PIPELINES_WAIT_FOR_ROOM_H

#include "common/base/error.h"

#include <stdbool.h>

/* After a call that failed with `rc`: true when it failed for want of room and may be made again; waits a second
 * first, and says so the first time (*told, which starts as false). False too once the program is asked to stop. */
bool wait_for_room(enum error_code rc, const struct error *err, bool *told);

#endif
