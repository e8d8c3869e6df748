/*
 * best_rule - decides which snapshot has the best weights, and when training has gone on long
 * enough without a better one.
 */
#ifndef STAGES_CHECKPOINT_BEST_RULE_H
#define STAGES_CHECKPOINT_BEST_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct best_rule {
    bool lower_is_better; /* the metric is a loss */
    /* Training stops after so many snapshots without a better one; 0: never. */
    int64_t patience;
    int64_t last_version; /* the run ends at this version in any case */
};

struct best_so_far {
    int64_t version; /* -1 before the first snapshot */
    int64_t since;   /* snapshots since then */
    double metric;   /* NaN if there is no metric to compare */
};

/* Returns what is best after snapshot `version` with `metric`. An equal metric is not better: the
 * earlier weights stay. Without a metric (no validation split) the newest counts as the best. */
struct best_so_far best_rule_after(const struct best_rule *rule, const struct best_so_far *before,
                                   int64_t version, double metric);
bool best_rule_stops(const struct best_rule *rule, const struct best_so_far *best, int64_t version);

#endif
