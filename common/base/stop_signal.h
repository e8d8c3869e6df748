/* stop_signal - SIGTERM and SIGINT as a flag that loops look at between steps. */
#ifndef COMMON_BASE_STOP_SIGNAL_H
#define COMMON_BASE_STOP_SIGNAL_H

#include <stdbool.h>

/* Installs the handlers; SIGPIPE is ignored, so that a closed socket is an error code. */
void stop_signal_install(void);
bool stop_signal_seen(void);
/* Test hook, and the way a program stops itself. */
void stop_signal_set(bool seen);

#endif
