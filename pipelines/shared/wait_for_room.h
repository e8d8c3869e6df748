/*
 * wait_for_room - makes the driver wait until a full disk has room again, as the workers do,
 * instead of ending the run.
 */
#ifndef PIPELINES_SHARED_WAIT_FOR_ROOM_H
#define PIPELINES_SHARED_WAIT_FOR_ROOM_H

#include "common/base/error.h"

#include <stdbool.h>

/* Decides what to do after a call that failed with `rc`. If it failed because the disk is full,
 * waits a second and returns true: the caller repeats the call. The first time it says so in the
 * log (*told, false at the start). Returns false for other failures, and when the program is asked
 * to stop. */
bool wait_for_room(enum error_code rc, const struct error *err, bool *told);

#endif
