#include "common/base/stop_signal.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen_flag;

static void handle(int number)
{
    (void)number;
    seen_flag = 1;
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
    return seen_flag != 0;
}

void stop_signal_set(bool seen)
{
    seen_flag = seen;
}
