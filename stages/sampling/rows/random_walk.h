/*
 * random_walk - walks over the graph: uniform ones, and node2vec's.
 *
 * A step goes from a node to the source of one of the edges that end in it, each as likely as the
 * others: against the edges of a directed graph, anywhere in an undirected one. They are those of
 * all relations that end in the node's type, or of the one that the metapath has for the step. A
 * walk stays at a node that has no such edges. In node2vec (Grover and Leskovec, KDD 2016) the next
 * node x, after a step from t to v, has a chance in proportion to 1 / p when x is t, 1 when t has
 * an edge from x, 1 / q otherwise. It is found by rejection, as in PyG and DGL: draw a neighbour,
 * keep it with that by the largest of the three. Edges that are there k times count k times.
 */
#ifndef STAGES_SAMPLING_ROWS_RANDOM_WALK_H
#define STAGES_SAMPLING_ROWS_RANDOM_WALK_H

#include "common/base/error.h"
#include "common/numbers/random.h"
#include "stages/sampling/rows/metapath.h"
#include "store/topology/topology.h"

#include <stdint.h>

struct random_walk {
    const struct topology *topology;
    const struct random_stream *stream; /* walk number n has the draws of item n */
    const struct metapath *metapath;    /* NULL: along any relation */
    uint32_t length;                    /* steps, below 2^20 */
    double p, q;                        /* above 0; 1 and 1: a uniform walk */
};

/* Walk number `number` from `start`, which comes first, into out [length + 1].
 * Fails:   ERROR_CORRUPT for a node or row that is out of range.
 * Threads: any number. */
MUST_CHECK enum error_code random_walk_draw(const struct random_walk *walk, uint32_t number,
                                            uint32_t start, uint32_t *out, struct error *err);

#endif
