/*
 * link_lists - how a pair of nodes gets a score, and what is learnt of scores: one row each.
 *
 * ROW(number, name, help): the number in this program, the name in the settings (train-step.decoder, train-step.link_loss);
 * a decoder is <name>_decoder in <name>_decoder.c. The help becomes that of the setting.
 */
#ifndef COMMON_NN_LINKS_LINK_LISTS_H
#define COMMON_NN_LINKS_LINK_LISTS_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define DECODER_LIST(ROW)                                                                          \
    ROW(DECODER_DOT, dot, "z_s . z_t")                                                             \
    ROW(DECODER_COSINE, cosine, "the cosine of z_s and z_t")                                       \
    ROW(DECODER_DISTMULT, distmult, "sum of z_s w z_t, a weight for each column")                  \
    ROW(DECODER_BILINEAR, bilinear, "z_s W z_t + b")                                               \
    ROW(DECODER_MLP, mlp, "a linear layer, ReLU and another one over the products of columns z_s z_t") \
    ROW(DECODER_CONCAT, concat, "the same over both rows, side by side")

#define LINK_LOSS_LIST(ROW)                                                                        \
    ROW(LINK_LOSS_BCE, bce, "binary cross-entropy over edges and negatives")                       \
    ROW(LINK_LOSS_MARGIN, margin, "max(0, margin - edge + negative)")                              \
    ROW(LINK_LOSS_SOFTMAX, softmax, "cross-entropy of an edge among its negatives")

#define CORRUPT_LIST(ROW)                                                                          \
    ROW(CORRUPT_TARGET, target, "the source stays")                                                \
    ROW(CORRUPT_SOURCE, source, "the target stays")                                                \
    ROW(CORRUPT_BOTH, both, "one or the other, edge by edge in turn")
/* clang-format on */

#define DECODER_NUMBER(number, name, help) number,
enum decoder_kind { DECODER_NONE, DECODER_LIST(DECODER_NUMBER) DECODER_COUNT };
#undef DECODER_NUMBER
#define LINK_LOSS_NUMBER(number, name, help) number,
enum link_loss_kind { LINK_LOSS_LIST(LINK_LOSS_NUMBER) LINK_LOSS_COUNT };
#undef LINK_LOSS_NUMBER

#define CORRUPT_NUMBER(number, name, help) number,
/* Which end the negatives of an edge have another of (Bordes et al. 2013 call them corrupted). */
enum corrupted_end { CORRUPT_LIST(CORRUPT_NUMBER) CORRUPT_COUNT };
#undef CORRUPT_NUMBER

/* Whether it is the source, of edge `i` of a batch. */
static inline bool corrupts_source(enum corrupted_end corrupt, uint64_t i)
{
    return corrupt == CORRUPT_SOURCE || (corrupt == CORRUPT_BOTH && i % 2 == 1);
}

#endif
