/*
 * link_lists - the ways to score a pair of nodes and the losses of those scores, one row each.
 *
 * ROW(number, name, help): `number` is the constant in this program, `name` the value of the
 * setting (train-step.decoder, train-step.link_loss). A decoder is <name>_decoder in
 * <name>_decoder.c. `help` becomes the help of the setting.
 */
#ifndef COMMON_NN_LINKS_LINK_LISTS_H
#define COMMON_NN_LINKS_LINK_LISTS_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define DECODER_LIST(ROW)                                                                          \
    ROW(DECODER_DOT, dot, "the inner product of both rows. No tensors")                            \
    ROW(DECODER_COSINE, cosine,                                                                    \
        "the inner product of the rows at length 1, so between -1 and 1: it goes with "            \
        "link_loss margin and a margin below 1. No tensors")                                       \
    ROW(DECODER_DISTMULT, distmult,                                                                \
        "the inner product with a weight for each column. Tensor rel_emb.weight, as in "           \
        "PyG's DistMult")                                                                          \
    ROW(DECODER_BILINEAR, bilinear,                                                                \
        "s W t + b. Tensors weight and bias, as in torch.nn.Bilinear(d, d, 1)")                    \
    ROW(DECODER_MLP, mlp,                                                                          \
        "two linear layers, with ReLU between them, over the products of the columns. "            \
        "Tensors lins.0 and lins.1, as in OGB's LinkPredictor")                                    \
    ROW(DECODER_CONCAT, concat,                                                                    \
        "two linear layers, with ReLU between them, over both rows side by side. Tensors "         \
        "lins.0 ([d, 2 d]) and lins.1")

#define LINK_LOSS_LIST(ROW)                                                                        \
    ROW(LINK_LOSS_BCE, bce,                                                                        \
        "over edges and negatives: the binary cross-entropy of their scores")                      \
    ROW(LINK_LOSS_MARGIN, margin,                                                                  \
        "over negatives: max(0, link_margin - score of the edge + score of the negative)")         \
    ROW(LINK_LOSS_SOFTMAX, softmax,                                                                \
        "over edges: the cross-entropy of an edge among its negatives")

#define CORRUPT_LIST(ROW)                                                                          \
    ROW(CORRUPT_TARGET, target, "the source of the edge and another target")                       \
    ROW(CORRUPT_SOURCE, source, "another source and the target of the edge")                       \
    ROW(CORRUPT_BOTH, both, "one or the other, edge by edge in turn")
/* clang-format on */

#define DECODER_NUMBER(number, name, help) number,
enum decoder_kind { DECODER_NONE, DECODER_LIST(DECODER_NUMBER) DECODER_COUNT };
#undef DECODER_NUMBER
#define LINK_LOSS_NUMBER(number, name, help) number,
enum link_loss_kind { LINK_LOSS_LIST(LINK_LOSS_NUMBER) LINK_LOSS_COUNT };
#undef LINK_LOSS_NUMBER

#define CORRUPT_NUMBER(number, name, help) number,
/* The end of an edge that its negatives replace. Bordes et al. 2013 call it the corrupted end. */
enum corrupted_end { CORRUPT_LIST(CORRUPT_NUMBER) CORRUPT_COUNT };
#undef CORRUPT_NUMBER

/* Returns whether the negatives of edge `i` of a batch replace its source. */
static inline bool corrupts_source(enum corrupted_end corrupt, uint64_t i)
{
    return corrupt == CORRUPT_SOURCE || (corrupt == CORRUPT_BOTH && i % 2 == 1);
}

#endif
