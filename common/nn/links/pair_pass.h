/*
 * pair_pass - computes the scores of the pairs of a mini-batch from the rows of its seeds, and the
 * gradients.
 *
 * Pairs have the order of store/records/batch/seed_pairs.h: the positives, then the negatives of each
 * positive, which share one of its ends. The query of that end is computed once, for the positive
 * and its negatives. All threads compute scores, one positive at a time.
 *
 * If all positives share their negatives and the decoder is a product, the scores of negatives and
 * their gradients are products of matrices. The tiles of rows do not depend on the number of
 * threads.
 *
 * The backward pass first processes tiles of positives, in the order of sums of partial_sums.h.
 * This gives the gradients of the decoder's parameters and, for each query, the gradient of the row
 * that it was computed from. Then each row of the seeds adds up its gradients: first of the pairs
 * whose query it made, then of the pairs whose other end it is, each group in the order of the
 * pairs. So any number of threads gives the same bits.
 */
#ifndef COMMON_NN_LINKS_PAIR_PASS_H
#define COMMON_NN_LINKS_PAIR_PASS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/links/decoder.h"
#include "common/parallel/thread_pool.h"

struct pair_rows {
    const float *row; /* [row_count, decoder->dim] */
    uint32_t row_count;
    uint32_t positive_count, negatives_each;
    const uint32_t *source; /* [positive_count] */
    /* [positive_count * (1 + negatives_each)]; for a negative: the end that replaces the
     * positive's own */
    const uint32_t *target;
    const uint16_t *relation; /* [positive_count]; NULL: 0 */
    enum corrupted_end corrupt;
    /* the negatives of the first positive serve all [pair_rows_share_negatives()] */
    bool shares_negatives;
};

/* Returns whether all positives have the same negatives in the same order, and enough of both
 * for matrix products to pay. `counts`: memory is only counted and there are no pairs yet, so
 * the answer is whether this is possible with these numbers of pairs. */
bool pair_rows_share_negatives(const struct pair_rows *pairs, bool counts);

/* Writes score [pairs, decoder->outputs]. `pool` may be NULL. Fails: ERROR_NO_MEMORY. In an
 * arena that only counts, nothing is computed. */
MUST_CHECK enum error_code pair_pass_scores(const struct decoder *decoder,
                                            const struct pair_rows *pairs, struct arena *arena,
                                            struct thread_pool *pool, float *score,
                                            struct error *err);
/* Reads score_gradient [pairs, decoder->outputs]. Adds to row_gradient [row_count, dim] and to
 * parameter_gradient[i], which has the shape of decoder->parameter[i]. */
MUST_CHECK enum error_code pair_pass_backward(const struct decoder *decoder,
                                              const struct pair_rows *pairs,
                                              const float *score_gradient, struct arena *arena,
                                              struct thread_pool *pool, float *row_gradient,
                                              float *const *parameter_gradient, struct error *err);

#endif
