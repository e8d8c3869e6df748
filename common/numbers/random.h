/*
 * random - random draws as pure functions of their purpose.
 *
 * Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011; Random123).
 * There is no generator state that threads share or that the order of draws could change: the
 * counter says what the draw is for, and the key is the run's seed.
 *
 *   counter word 0   the item (node id, element index / 4, ...)
 *   counter word 1   block of four draws of that item, and the high bits of a 64-bit item
 *   counter word 2   the round (or epoch)
 *   counter word 3   purpose << 24 | hop-or-layer << 16 | slot
 */
#ifndef COMMON_NUMBERS_RANDOM_H
#define COMMON_NUMBERS_RANDOM_H

#include <stdint.h>

enum random_purpose {
    RANDOM_UNKNOWN = 0,
    RANDOM_NEIGHBOR,      /* which neighbours a node keeps */
    RANDOM_SHUFFLE,       /* the order of the seed nodes of an epoch */
    RANDOM_REORDER,       /* the order of stored batches in a reused epoch */
    RANDOM_DROPOUT,       /* which activations are dropped */
    RANDOM_WEIGHT,        /* initial weights */
    RANDOM_FEATURE,       /* fixed random features of featureless graphs */
    RANDOM_GENERATOR,     /* the generated graph: hop selects what is drawn */
    RANDOM_SPLIT,         /* which labelled nodes are for training, validation and test */
    RANDOM_EDGE_SPLIT,    /* the same for edges */
    RANDOM_NEGATIVE,      /* the other ends of negative pairs; hop: training, validation or test */
    RANDOM_SUBGRAPH,      /* the nodes or edges that a layer or a subgraph consists of */
    RANDOM_WALK,          /* the path of a walk; hop is its purpose */
    RANDOM_EMBEDDING,     /* initial values of learnable embeddings; slot is the node type */
    RANDOM_STREAM_ORDER,  /* the order in which a partitioner processes the nodes */
    RANDOM_ROUNDING,      /* whether a gradient's number is rounded up; hop: by values or by rows */
    RANDOM_RELATION = 64, /* which neighbours a node keeps in a relation; relation / 16 is added */
};
enum { RANDOM_RELATION_PURPOSES = 32 };

struct random_stream {
    uint64_t seed;
    uint32_t round;
    uint32_t purpose_word; /* purpose << 24 | hop << 16 | slot */
};

/* `hop` < 256, `slot` < 65536. */
struct random_stream random_stream_of(uint64_t seed, enum random_purpose purpose, uint32_t round,
                                      uint32_t hop, uint32_t slot);

/* Draws four independent 32-bit words for block `block` (< 2^24) of `item`. */
void random_block(const struct random_stream *stream, uint64_t item, uint32_t block,
                  uint32_t out[4]);

/* Draws which elements a dropout keeps. The blocks block .. block + count - 1 of `item` give eight
 * draws of 16 bits each: the low and the high half of word 0, of word 1, 2 and 3. Bit 8 * b + d of
 * `bits` is set when draw d of block block + b is at least `bound`; with bound = 32768, for
 * example, about half of the bits are. bound < 65536. `bits` [count / 8, rounded up]: the unused
 * bits of the last word are 0. */
void random_at_least(const struct random_stream *stream, uint64_t item, uint32_t block,
                     uint32_t count, uint32_t bound, uint64_t *bits);

/* Does the same as random_block() for `count` blocks from `block` on and RANDOM_LANES items below
 * 2^32 at once: word k of block block + b of item[i] is out[4 b + k][i]; out [4 count]. */
enum { RANDOM_LANES = 16 };
void random_items(const struct random_stream *stream, const uint32_t item[RANDOM_LANES],
                  uint32_t block, uint32_t count, uint32_t (*out)[RANDOM_LANES]);

/* Draws one word; the same as random_block(..., draw / 4, out) and out[draw % 4]. */
uint32_t random_word(const struct random_stream *stream, uint64_t item, uint32_t draw);

/* Returns a uniform number in [0, bound), by multiply-shift (Lemire 2019) without the rejection
 * step. The bias is below bound / 2^32 for a 32-bit word and below bound / 2^64 for the 64-bit
 * form. bound >= 1. */
static inline uint32_t random_below(uint32_t word, uint32_t bound)
{
    return (uint32_t)(((uint64_t)word * bound) >> 32);
}

/* Returns a uniform number in [0, 1) with 24 bits. */
static inline float random_unit(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24F;
}

/* Returns a uniform number in [0, 1) with 53 bits. */
double random_unit_double(const struct random_stream *stream, uint64_t item, uint32_t pair);

/* Draws four standard normal values from one block (Box and Muller 1958), computed in double, with
 * the same bits for every libm. */
void random_normal(const struct random_stream *stream, uint64_t item, uint32_t block, float out[4]);

/* Returns the position of `index` in a pseudo-random permutation of [0, count). It is a
 * cycle-walking Feistel network of six rounds, so the permutation is never stored. */
uint64_t random_permute(const struct random_stream *stream, uint64_t index, uint64_t count);

#endif
