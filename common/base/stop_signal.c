#include "common/base/stop_signal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* Lock-free, so a handler may write it; atomic, because any thread may read it. */
static atomic_int seen_flag;

static void handle(int number)
{
    (void)number;
    atomic_store(&seen_flag, 1);
}

void stop_signal_install(void)
{
    struct sigaction action = {0};
    action.sa_handler = handle; /* without SA_RESTART: blocking calls return and the loop looks */
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

bool stop_signal_seen(void)
{
    return atomic_load(&seen_flag) != 0;
}

void stop_signal_set(bool seen)
{
    atomic_store(&seen_flag, seen);
}
