/*
 * pair_pass - scores of the pairs of a mini-batch from the rows of its seeds, and the way back.
 *
 * Pairs are in the order of store/records/seed_pairs.h: positives, then the negatives of each, which have one of its ends. Of that
 * end a query is made once, for the positive and its negatives. Scores are made by all threads, a positive at a time.
 *
 * Where all positives share their negatives and the decoder is a product, scores of negatives and what goes back from them are products
 * of matrices, a tile of rows at a time whatever the threads.
 *
 * On the way back tiles of positives go first, in the order of sums of partial_sums.h: what the parameters of the decoder get, and what
 * each query hands back to the row that it was made of. Then each row of the seeds adds up what belongs to it: of the pairs whose
 * query it made, in their order, and of those whose other end it is, in theirs. So any number of threads gives the same bits.
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
    const uint32_t *
        target; /* [positive_count * (1 + negatives_each)]: of a negative the end that it has another of */
    const uint16_t *relation; /* [positive_count]; NULL: 0 */
    enum corrupted_end corrupt;
    bool shares_negatives; /* those of each are those of the first [pair_rows_share_negatives()] */
};

/* Whether all positives have the same negatives in the same order, and enough of both for products to pay; `counts`: whether they
 * may, by their numbers, where memory is counted and there are no pairs yet. */
bool pair_rows_share_negatives(const struct pair_rows *pairs, bool counts);

/* score [pairs, decoder->outputs]. `pool` may be NULL. Fails: ERROR_NO_MEMORY. In an arena that counts nothing is computed. */
MUST_CHECK enum error_code pair_pass_scores(const struct decoder *decoder,
                                            const struct pair_rows *pairs, struct arena *arena,
                                            struct thread_pool *pool, float *score,
                                            struct error *err);
/* score_gradient [pairs, decoder->outputs]; row_gradient [row_count, dim] and parameter_gradient[i] [as decoder->parameter[i]] are added to. */
MUST_CHECK enum error_code pair_pass_backward(const struct decoder *decoder,
                                              const struct pair_rows *pairs,
                                              const float *score_gradient, struct arena *arena,
                                              struct thread_pool *pool, float *row_gradient,
                                              float *const *parameter_gradient, struct error *err);

#endif
