/* clock - monotonic time for measuring, wall time only for people to read. */
#ifndef COMMON_BASE_CLOCK_H
#define COMMON_BASE_CLOCK_H

#include <stdint.h>

/* Seconds since some fixed moment; never steps back. */
double clock_seconds(void);
int64_t clock_ms(void);
/* Processor time of the calling thread. */
double clock_thread_seconds(void);
/* Seconds since 1970, for logs and event files only: no decision may depend on it. */
double clock_wall_seconds(void);
void clock_sleep_ms(int64_t ms);

#endif
