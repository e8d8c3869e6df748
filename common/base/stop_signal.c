#include "common/base/stop_signal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Lock-free, so that a handler may write it; atomic, because any thread may read it. */
static atomic_int seen_flag;

static atomic_int_least64_t seen_at_ms;

/* It may be called in a handler, because clock_gettime() is async-signal-safe. */
static int64_t now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void handle(int number)
{
    (void)number;
    stop_signal_set(true);
}

/* Uses system calls only, because it may run before a sanitizer's wrappers of libc functions are
 * ready. */
static void change_mask(int how)
{
    const uint64_t both = 1ULL << (SIGTERM - 1) | 1ULL << (SIGINT - 1);
    (void)syscall(SYS_rt_sigprocmask, how, &both, NULL, sizeof both);
}

void stop_signal_hold(void)
{
    change_mask(SIG_BLOCK);
    if (stop_signal_seen())
        (void)kill(getpid(),
                   SIGTERM); /* a set flag would be lost in an exec, but a pending signal is not */
}

/* Ignores SIGINT that OpenBLAS raises when it cannot start a thread; that is no request to stop. */
static void drop_own_interrupt(void)
{
    const struct timespec at_once = {0};
    siginfo_t info = {0};
    sigset_t interrupt;
    (void)sigemptyset(&interrupt);
    (void)sigaddset(&interrupt, SIGINT);
    while (sigtimedwait(&interrupt, &info, &at_once) == SIGINT)
        if (info.si_code != SI_TKILL || info.si_pid != getpid())
            stop_signal_set(true);
}

void stop_signal_install(void)
{
    struct sigaction action = {0};
    /* without SA_RESTART, so that blocking calls return and the loop checks the flag */
    action.sa_handler = handle;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
    drop_own_interrupt();
    change_mask(SIG_UNBLOCK);
}

bool stop_signal_seen(void)
{
    return atomic_load(&seen_flag) != 0;
}

bool stop_signal_is_pressing(void)
{
    return stop_signal_seen() && now_ms() - atomic_load(&seen_at_ms) > STOP_PATIENCE_MS;
}

/* The time of the first signal counts. */
void stop_signal_set(bool seen)
{
    if (seen && !stop_signal_seen())
        atomic_store(&seen_at_ms, now_ms());
    atomic_store(&seen_flag, seen);
}
