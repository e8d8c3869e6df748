/*
 * seed_pairs - the pairs of a mini-batch whose examples are edges: which seeds are the ends of
 * which edge.
 *
 * It is a part of the mini-batch's record (mini_batch.h), in sections of its own:
 *
 *   "pair_count"   U32 [2]  the number of positives, and of negatives for each positive
 *   "pair_source"  packed [positives]  numbers of seeds, as wide as the number of the last seed
 *   "pair_target"  packed [positives * (1 + negatives)]  the targets of the positives first; then
 *                           negative k of positive i at positives + i * negatives + k, whose source
 *                           is that of i
 *   "pair_corrupt" U32 [1]  enum corrupted_end, if it is not CORRUPT_TARGET: the negatives of a
 *                           positive whose source is corrupted have its target, and "pair_target"
 *                           has their sources
 *   "pair_type"    U16 [positives]  if edges have types: the type of the positive and its negatives
 *   "pair_label"   F32 [positives]  if edges have labels
 *   valid          there is at least one positive; every end is a seed
 */
#ifndef STORE_RECORDS_BATCH_SEED_PAIRS_H
#define STORE_RECORDS_BATCH_SEED_PAIRS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/links/link_lists.h"
#include "store/objects/record.h"

#include <stdint.h>

struct seed_pairs { /* {0}: the seeds themselves are the examples */
    uint32_t positive_count, negatives_each;
    const uint32_t *source;   /* [positive_count] */
    const uint32_t *target;   /* [seed_pairs_count()]; for a negative the end that was replaced */
    const uint16_t *relation; /* [positive_count]; NULL: edges have no types */
    enum corrupted_end corrupt;
    const float *label; /* [positive_count]; NULL: edges have no labels */
};

static inline uint64_t seed_pairs_count(const struct seed_pairs *pairs)
{
    return (uint64_t)pairs->positive_count * (1 + (uint64_t)pairs->negatives_each);
}

/* Returns the positive of pair `i`: the pair itself, or the positive that it is a negative of. */
static inline uint32_t seed_pairs_positive(const struct seed_pairs *pairs, uint64_t i)
{
    return i < pairs->positive_count
               ? (uint32_t)i
               : (uint32_t)((i - pairs->positive_count) / pairs->negatives_each);
}

/* The numbers that the record borrows until it is stored. */
struct seed_pairs_record {
    uint32_t count[2], corrupt;
};

/* Adds the sections. The packed arrays lie in `scratch`. */
MUST_CHECK enum error_code seed_pairs_add(struct record *record, struct seed_pairs_record *kept,
                                          const struct seed_pairs *pairs, uint32_t seed_count,
                                          struct arena *scratch, struct error *err);
/* Sets *out to {0} without the sections. The arrays lie in `memory`. Fails: ERROR_CORRUPT naming
 * section, expected and found. */
MUST_CHECK enum error_code seed_pairs_read(const struct record_view *view, uint32_t seed_count,
                                           struct arena *memory, struct seed_pairs *out,
                                           struct error *err);

#endif
