/*
 * pair_pass - scores of the pairs of a mini-batch from the rows of its seeds, and the way back.
 *
 * Pairs are in the order of store/records/seed_pairs.h: positives, then the negatives of each, which have its source. Scores are made by
 * all threads, a positive at a time. The way back goes pair by pair: rows that are ends of several pairs add up in one order,
 * whatever the threads.
 */
#ifndef COMMON_NN_LINKS_PAIR_PASS_H
#define COMMON_NN_LINKS_PAIR_PASS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/links/decoder.h"
#include "common/parallel/thread_pool.h"

struct pair_rows {
    const float *row; /* [seeds, decoder->dim] */
    uint32_t positive_count, negatives_each;
    const uint32_t *source; /* [positive_count] */
    const uint32_t *target; /* [positive_count * (1 + negatives_each)] */
};

/* score [pairs, decoder->outputs]. `pool` may be NULL. Fails: ERROR_NO_MEMORY. In an arena that counts nothing is computed. */
MUST_CHECK enum error_code pair_pass_scores(const struct decoder *decoder,
                                            const struct pair_rows *pairs, struct arena *arena,
                                            struct thread_pool *pool, float *score,
                                            struct error *err);
/* score_gradient [pairs, decoder->outputs]; row_gradient [seeds, dim] and parameter_gradient[i] [as decoder->parameter[i]] are added to. */
MUST_CHECK enum error_code pair_pass_backward(const struct decoder *decoder,
                                              const struct pair_rows *pairs,
                                              const float *score_gradient, struct arena *arena,
                                              float *row_gradient, float *const *parameter_gradient,
                                              struct error *err);

#endif
