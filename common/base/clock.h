/* clock - monotonic time for measurements, and wall time for people. */
#ifndef COMMON_BASE_CLOCK_H
#define COMMON_BASE_CLOCK_H

#include <stdint.h>

/* Return the time since some fixed moment; it never steps back. */
double clock_seconds(void);
int64_t clock_ms(void);
/* Returns the processor time of the calling thread. */
double clock_thread_seconds(void);
/* Returns seconds since 1970, for logs and event files only: no decision may depend on it. */
double clock_wall_seconds(void);
void clock_sleep_ms(int64_t ms);

#endif
