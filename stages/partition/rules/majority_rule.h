/*
 * majority_rule - label propagation: passes in place that look at the neighbours alone.
 *
 * A node goes where most of its neighbours are, as far as the bounds of size allow: Ugander and
 * Backstrom, "Balanced label propagation for partitioning massive graphs", WSDM 2013; Meyerhenke,
 * Sanders and Schulz, "Partitioning complex networks via size-constrained clustering", SEA 2014.
 */
#ifndef STAGES_PARTITION_RULES_MAJORITY_RULE_H
#define STAGES_PARTITION_RULES_MAJORITY_RULE_H

#include "stages/partition/rules/node_stream.h"

static inline double majority_worth(double neighbors, double load, double edges_per_node)
{
    (void)load;
    (void)edges_per_node;
    return neighbors;
}

/* `name` is for the log. */
static inline struct stream_rule majority_rule(const char *name)
{
    return (struct stream_rule){.name = name, .worth = majority_worth, .in_place = true};
}

#endif
