/*
 * cache_policy - chooses the feature rows that a train-step program caches if not all rows fit its
 * budget.
 *
 * Mini-batches are sampled ahead of training and lie in the store, so the policy can count which
 * nodes they use. One row that is wanted and not cached costs the read of its whole block. If a
 * batch wants few rows of each block, the policy caches the rows that most batches use. If a batch
 * wants some rows of nearly every block, only a whole cached block saves a read, so the policy
 * caches blocks, spread over those that are wanted most often. It takes the choice that leaves
 * fewer blocks to read per batch.
 *
 * The policy chooses when rows are first read, and checks its choice now and then. It chooses
 * again if more mini-batches had been sampled by then, or if there is room for many more rows. It
 * reads other rows only if that saves a good deal. The choice changes time, never the value of a
 * row.
 *
 * Each node type that is not in memory has its own cache. The room is shared in proportion to the
 * bytes that mini-batches use of each type.
 */
#ifndef STAGES_TRAIN_STEP_CACHE_POLICY_H
#define STAGES_TRAIN_STEP_CACHE_POLICY_H

#include "common/base/error.h"
#include "stages/train-step/prepared_batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CACHE_POLICY_WINDOW = 8 };

struct cache_policy { /* {0} has not chosen yet */
    int seen;         /* batches that were counted for the current choice */
    int units;        /* units since the choice was made or checked; 0: never */
    bool looked;      /* whether the choice was checked at least once */
    uint64_t bytes;   /* the room in which the choice was made */
};

/* How often some batches used each node. */
struct use_counts {
    const uint8_t *count; /* [book[part_count]], at most batch_count */
    int batch_count;
    const uint32_t *book; /* [part_count + 1] */
    int part_count;
};

/* Writes up to `capacity` nodes, best first, to `node` [capacity], their number to *count, and
 * the number of blocks that a batch is then expected to read to *reads. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code cache_policy_make(const struct use_counts *use, size_t capacity,
                                             uint32_t *node, size_t *count, double *reads,
                                             struct error *err);
/* Returns the number of blocks that a batch is expected to read with the rows that are cached
 * now. */
double cache_policy_reads(const struct use_counts *use, const struct feature_source *features);

/* Chooses and reads rows if it is time for that. The caller has just read the rows of a unit of
 * `round`. The cache uses the room that areas of `area_bytes` leave. After a failure nothing is
 * cached, and the step goes on. */
void cache_policy_refresh(struct cache_policy *policy, const struct batch_preparer *preparer,
                          uint64_t area_bytes, int64_t round);

#endif
