#include "pipelines/shared/child_restart.h"

#include "pipelines/shared/child_process.h"

#include <stddef.h>
#include <sysexits.h>

struct restart_rule {
    int times; /* limit of restarts in a row */
    int at_once;
    int64_t pause_ms, pause_ms_max;
};

static const struct restart_rule outside_rule = {40, 3, 10, 1000};
static const struct restart_rule host_rule = {10, 0, 500, 30000};
static const struct restart_rule memory_rule = {4, 0, 500, 30000};
static const struct restart_rule crash_rule = {4, 4, 0, 0};

static const struct restart_rule *rule_for(int status)
{
    if (status > 128)
        return child_error_code(status) == ERROR_BUG ? &crash_rule : &outside_rule;
    switch (status) {
    case EX_TEMPFAIL:
        return &outside_rule;
    case EX_IOERR:
        return &host_rule;
    case EX_OSERR:
        return &memory_rule;
    default:
        return NULL;
    }
}

static int64_t pause_after(const struct restart_rule *rule, int failures)
{
    int64_t pause = failures > rule->at_once ? rule->pause_ms : 0;
    for (int i = rule->at_once + 1; i < failures && pause < rule->pause_ms_max; i++)
        pause *= 2;
    return pause < rule->pause_ms_max ? pause : rule->pause_ms_max;
}

bool child_restart_allowed(struct child_restart *restart, int status, int64_t units_done,
                           int64_t *pause_ms)
{
    const struct restart_rule *rule = rule_for(status);
    if (units_done != restart->units_done || rule != rule_for(restart->last_status))
        restart->failures = 0;
    restart->failures++;
    restart->last_status = status;
    restart->units_done = units_done;
    *pause_ms = rule ? pause_after(rule, restart->failures) : 0;
    return rule && restart->failures <= rule->times;
}
