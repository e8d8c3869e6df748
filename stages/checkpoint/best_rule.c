#include "stages/checkpoint/best_rule.h"

#include <math.h>

static bool is_better(const struct best_rule *rule, double metric, double best)
{
    if (isnan(best))
        return true;
    if (isnan(metric))
        return false;
    return rule->lower_is_better ? metric < best : metric > best;
}

struct best_so_far best_rule_after(const struct best_rule *rule, const struct best_so_far *before,
                                   int64_t version, double metric)
{
    if (before->version < 0 || is_better(rule, metric, before->metric))
        return (struct best_so_far){.version = version, .since = 0, .metric = metric};
    return (struct best_so_far){
        .version = before->version, .since = before->since + 1, .metric = before->metric};
}

bool best_rule_stops(const struct best_rule *rule, const struct best_so_far *best, int64_t version)
{
    return version >= rule->last_version || (rule->patience > 0 && best->since >= rule->patience);
}
