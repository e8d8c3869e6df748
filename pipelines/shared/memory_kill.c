#include "pipelines/shared/memory_kill.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/text.h"

#include <inttypes.h>
#include <signal.h>

enum { READ_EVERY_MS = 10000 };

void memory_kill_begin(struct memory_kill_watch *watch)
{
    (void)host_oom_kills(&watch->last);
    watch->before = watch->last;
    watch->read_ms = clock_ms();
}

void memory_kill_look(struct memory_kill_watch *watch)
{
    const int64_t now = clock_ms();
    if (now - watch->read_ms < READ_EVERY_MS)
        return;
    watch->before = watch->last;
    (void)host_oom_kills(&watch->last);
    watch->read_ms = now;
}

bool memory_kill_explains(const struct memory_kill_watch *watch, int status)
{
    uint64_t kills = 0;
    return status == 128 + SIGKILL && host_oom_kills(&kills) && kills > watch->before;
}

enum error_code memory_kill_error(const struct memory_kill *kill, struct error *err)
{
    const uint64_t machine = host_memory_bytes();
    const uint64_t run = kill->run_bytes < machine ? kill->run_bytes : machine;
    char budget[32], limit[32], all[32];
    (void)text_size(kill->budget_bytes, budget);
    (void)text_size(machine, limit);
    (void)text_size(kill->run_bytes, all);
    if (run / 2 >= kill->least_bytes)
        return error_set(err, ERROR_NO_MEMORY,
                         "%s was killed by the kernel for want of memory: its budget was %s, that "
                         "of the run %s, and the limit here is %s; --memory %" PRIu64
                         "M would fit (log: %s)",
                         kill->program, budget, all, limit, (run / 2) >> 20, kill->log);
    return error_set(err, ERROR_NO_MEMORY,
                     "%s was killed by the kernel for want of memory: its budget was %s, that of "
                     "the run %s, and the limit here is %s; " ADVICE "give a limit of %" PRIu64
                     " MiB or more, or fewer --workers (log: %s)",
                     kill->program, budget, all, limit,
                     (2 * (kill->least_bytes > run ? kill->least_bytes : run)) >> 20, kill->log);
}
