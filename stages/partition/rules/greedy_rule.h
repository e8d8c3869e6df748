/*
 * greedy_rule - linear deterministic greedy: Stanton and Kliot, "Streaming graph partitioning for
 * large distributed graphs", KDD 2012. A part P is worth
 *
 *   |N(v) and P| (1 - |P| / C)
 *
 * for node v with neighbours N(v), and the capacity C of a part. Here |P| is the load relative to
 * the mean, of the node's class (part_loads.h). C is a little above the most that a part may hold,
 * so that every part is worth something.
 */
#ifndef STAGES_PARTITION_RULES_GREEDY_RULE_H
#define STAGES_PARTITION_RULES_GREEDY_RULE_H

#include "stages/partition/rules/node_stream.h"

static inline double greedy_worth(double neighbors, double load, double edges_per_node)
{
    static const double capacity = 1.03;
    (void)edges_per_node;
    return neighbors * (1 - load / capacity);
}

/* `name` is for the log. */
static inline struct stream_rule greedy_rule(const char *name)
{
    return (struct stream_rule){.name = name, .worth = greedy_worth};
}

#endif
