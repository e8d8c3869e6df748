/*
 * retention_rule - which records of a run are kept, as arithmetic.
 *
 * The newest `keep` snapshots are kept, the one with the best weights, and the round records from
 * the oldest of those newest snapshots on: every round since then can be replayed. The start of the
 * run counts as a snapshot of version 0 here, so nothing is pruned before there are `keep` others.
 */
#ifndef STAGES_PLAN_CHAIN_RETENTION_RULE_H
#define STAGES_PLAN_CHAIN_RETENTION_RULE_H

#include "stages/plan/chain/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct retention {
    /* Older snapshots (but the best), weights, optimizer state, evaluations and gradients are
     * removed: round r belongs to weights r. */
    int64_t oldest_version;
    /* Weights and optimizer state are removed only below this: with staleness the rounds from
     * oldest_version on start from older ones. */
    int64_t oldest_base;
    int64_t best_version;
    /* Mini-batches of older rounds are removed; with reuse_epochs a sampling pass may begin before
     * the rounds that use it. */
    int64_t oldest_mini_batch;
};

/* Returns what is kept once snapshot `version` is the newest. keep 0: everything. */
struct retention retention_rule_of(const struct schedule *schedule, int64_t version, int64_t keep,
                                   int64_t best_version);
bool retention_rule_keeps_snapshot(const struct retention *retention, int64_t version);

#endif
