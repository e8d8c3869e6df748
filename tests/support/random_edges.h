/*
 * random_edges - draws directed edges from a seed, with everything that a graph may contain: self
 * loops, repeats, isolated nodes.
 */
#ifndef TESTS_SUPPORT_RANDOM_EDGES_H
#define TESTS_SUPPORT_RANDOM_EDGES_H

#include "common/numbers/random.h"

#include <stdint.h>

/* Every third node is left out, so that some nodes are isolated. */
static inline void random_edges_fill(uint64_t seed, uint32_t node_count, uint32_t edge_count,
                                     uint32_t *source, uint32_t *target)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_GENERATOR, 0, 0, 0);
    for (uint32_t e = 0; e < edge_count; e++) {
        uint32_t word[4];
        random_block(&stream, e, 0, word);
        source[e] = random_below(word[0], node_count);
        target[e] = random_below(word[1], node_count);
        if (node_count > 3 && source[e] % 3 == 2)
            source[e]--;
        if (node_count > 3 && target[e] % 3 == 2)
            target[e]--;
    }
}

#endif
