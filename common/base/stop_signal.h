/*
 * stop_signal - SIGTERM and SIGINT as a flag that loops check between steps.
 *
 * No signal is lost and none kills the program: it stays blocked and pending while there is no
 * handler. That holds from before the constructors of shared libraries
 * (stages/engine/program_start.h), and over an exec of the program by itself. The only gap is the
 * time of the dynamic loader. A parent that starts a program with the signals blocked, as the
 * driver does, closes that gap too, because the signal mask and pending signals survive exec.
 */
#ifndef COMMON_BASE_STOP_SIGNAL_H
#define COMMON_BASE_STOP_SIGNAL_H

#include <stdbool.h>

/* Installs the handlers and unblocks the signals. SIGPIPE is ignored, so that a closed socket is an
 * error code. */
void stop_signal_install(void);
/* Blocks the signals until stop_signal_install(), here or in the program that this one becomes. A
 * signal that was seen already is kept, too. */
void stop_signal_hold(void);
bool stop_signal_seen(void);
/* Returns whether the signal is older than STOP_PATIENCE_MS. Code that waits for others then gives
 * up, whatever its own timeout is. */
enum { STOP_PATIENCE_MS = 3000 };
bool stop_signal_is_pressing(void);
/* Test hook, and the way a program stops itself. */
void stop_signal_set(bool seen);

#endif
