/*
 * link_loss - what is learnt of the scores of pairs.
 *
 * score [positives * (1 + negatives)] in the order of a mini-batch's pairs: the positives, then negative k of positive i at
 * positives + i * negatives + k. Losses are means, and so are their gradients:
 *
 *   bce      over all pairs, log(1 + exp(-x)) of an edge and log(1 + exp(x)) of a negative; correct: the sign of the score
 *   margin   over negatives, max(0, margin - x_i + x_ik) (as torch's MarginRankingLoss); correct: x_i > x_ik
 *   softmax  over edges, -log of exp(x_i) among x_i and its x_ik; correct: x_i above all of them
 *
 * Sums run over pairs in order, in double.
 */
#ifndef COMMON_NN_LINKS_LINK_LOSS_H
#define COMMON_NN_LINKS_LINK_LOSS_H

#include "common/nn/links/link_lists.h"
#include "common/nn/tasks/task.h"

struct link_loss {
    enum link_loss_kind kind;
    float margin;
};

/* `gradient` [as score] of the mean, or NULL. label_count of the result is what the mean is over. */
struct loss_result link_loss_compute(const struct link_loss *loss, const float *score,
                                     uint32_t positives, uint32_t negatives, float *gradient);

#endif
