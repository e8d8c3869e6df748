#include "common/base/clock.h"

#include <time.h>

static double seconds_of(clockid_t id)
{
    struct timespec now = {0};
    (void)clock_gettime(id, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

int64_t clock_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

double clock_thread_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double clock_wall_seconds(void)
{
    return seconds_of(CLOCK_REALTIME);
}

void clock_sleep_ms(int64_t ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    /* a signal may end it early; callers check their condition anyway */
    (void)nanosleep(&pause, NULL);
}
