#include "stages/plan/chain/retention_rule.h"

/* Returns the version of the keep-th newest snapshot, or 0 if there are fewer. */
static int64_t oldest_of_newest(const struct schedule *schedule, int64_t version, int64_t keep)
{
    if (keep == 0)
        return 0;
    if (keep == 1)
        return version;
    /* all but the newest are at multiples of every_rounds */
    const int64_t before = schedule_snapshot_before(schedule, version);
    const int64_t others = before > 0 ? before / schedule->every_rounds : 0;
    return keep - 1 > others ? 0 : before - (keep - 2) * schedule->every_rounds;
}

struct retention retention_rule_of(const struct schedule *schedule, int64_t version, int64_t keep,
                                   int64_t best_version)
{
    const int64_t oldest = oldest_of_newest(schedule, version, keep);
    return (struct retention){.oldest_version = oldest,
                              .oldest_base = schedule_base(schedule, oldest),
                              .best_version = best_version,
                              .oldest_mini_batch = schedule_oldest_needed(schedule, oldest)};
}

bool retention_rule_keeps_snapshot(const struct retention *retention, int64_t version)
{
    return version >= retention->oldest_version || version == retention->best_version;
}
