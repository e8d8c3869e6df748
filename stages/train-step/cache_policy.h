/*
 * cache_policy - which rows the feature cache of a train-step program holds when not all fit its budget.
 *
 * Mini-batches are sampled ahead of training and lie in the store, so it can be counted which nodes they
 * use. A block of rows is read for the sake of any one row that is wanted and not cached. So where a batch
 * wants a few rows here and there, the rows that most batches use are cached; where it wants some of nearly
 * every block, only whole blocks save a read, and blocks are cached, spread over those that are wanted most often.
 * Which it is, is decided by the number of blocks that a batch would still have to read, either way.
 *
 * The choice is made when the first rows are brought, and now and then looked at again: when more batches
 * had been sampled by then, or there is room for many more rows, it is made once more, and other rows are read
 * if that saves a good deal. It changes time, never a row.
 *
 * Each node type that is not in memory has a cache of its own, in a share of the room by the bytes that mini-batches use of the
 * type.
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
    int seen;         /* batches counted for the choice in force */
    int units;        /* since it was made or looked at; 0: never */
    bool looked;      /* at it again, once at least */
    uint64_t bytes;   /* within which it was made */
};

/* How often the nodes of some batches were used. */
struct use_counts {
    const uint8_t *count; /* [book[part_count]], at most batch_count */
    int batch_count;
    const uint32_t *book; /* [part_count + 1] */
    int part_count;
};

/* Up to `capacity` nodes, best first, into `node` [capacity]; how many, and how many blocks a batch is expected
 * to read then. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code cache_policy_make(const struct use_counts *use, size_t capacity,
                                             uint32_t *node, size_t *count, double *reads,
                                             struct error *err);
/* How many it is expected to read with the rows that are cached now. */
double cache_policy_reads(const struct use_counts *use, const struct feature_source *features);

/* Once rows were brought for a unit of `round`: chooses and reads, when it is time for that, within what areas
 * of `area_bytes` leave. A failure is left at that: then nothing is cached. */
void cache_policy_refresh(struct cache_policy *policy, const struct batch_preparer *preparer,
                          uint64_t area_bytes, int64_t round);

#endif
