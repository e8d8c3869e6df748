/*
 * stop_signal - SIGTERM and SIGINT as a flag that loops look at between steps.
 *
 * No request is lost and none ends the program: it waits, blocked, while there is no handler. That
 * is so from before the constructors of shared libraries on (stages/engine/program_start.h) and
 * over an exec of the program by itself. What is left is the time that the dynamic loader takes;
 * whoever starts a program with the signals blocked, as the driver does, closes that too, because
 * the mask and what is pending outlive exec.
 */
#ifndef COMMON_BASE_STOP_SIGNAL_H
#define COMMON_BASE_STOP_SIGNAL_H

#include <stdbool.h>

/* Installs the handlers and lets in what was held back; SIGPIPE is ignored, so that a closed socket
 * is an error code. */
void stop_signal_install(void);
/* A request waits from now on until stop_signal_install(), here or in the program that this one
 * becomes; also one that was seen already. */
void stop_signal_hold(void);
bool stop_signal_seen(void);
/* Whether the request is older than STOP_PATIENCE_MS. Code that waits for others gives up then,
 * whatever its own patience is. */
enum { STOP_PATIENCE_MS = 3000 };
bool stop_signal_is_pressing(void);
/* Test hook, and the way a program stops itself. */
void stop_signal_set(bool seen);

#endif
