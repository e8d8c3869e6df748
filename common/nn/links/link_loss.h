/*
 * link_loss - the losses of the scores of pairs.
 *
 * score [positives * (1 + negatives)] has the order of a mini-batch's pairs: the positives, then
 * negative k of positive i at positives + i * negatives + k. Losses and their gradients are means:
 *
 *   bce      over all pairs: log(1 + exp(-x)) of an edge and log(1 + exp(x)) of a negative;
 *            a pair is correct if its score has the right sign
 *   margin   over negatives: max(0, margin - x_i + x_ik), as torch's MarginRankingLoss;
 *            a negative is correct if x_i > x_ik
 *   softmax  over edges: -log of the share of exp(x_i) among exp(x_i) and all its exp(x_ik);
 *            an edge is correct if x_i is above all of them
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

/* Computes the loss. Writes the gradient of the mean to `gradient` [as score], unless it is
 * NULL. label_count of the result is the number of terms of the mean. */
struct loss_result link_loss_compute(const struct link_loss *loss, const float *score,
                                     uint32_t positives, uint32_t negatives, float *gradient);

#endif
