/*
 * skip_gram - an embedding of the nodes from walks: skip-gram with negative sampling, as node2vec has it.
 *
 * Grover and Leskovec, "node2vec: scalable feature learning for networks", KDD 2016; Mikolov et al., "Distributed
 * representations of words and phrases and their compositionality", NeurIPS 2013. Two nodes at most `window` steps apart in a
 * walk are a pair; for each pair some other nodes are drawn, in proportion to their degrees, and
 *
 *   log s(u . v') + sum over the drawn w of log s(- u . w')        s(x) = 1 / (1 + e^-x)
 *
 * is raised by a step of gradient ascent, at a rate that falls to almost nothing. One thread, in one order, in plain float
 * arithmetic: the same bits on every machine.
 */
#ifndef STAGES_PARTITION_METHODS_SKIP_GRAM_H
#define STAGES_PARTITION_METHODS_SKIP_GRAM_H

#include "common/base/error.h"
#include "stages/partition/methods/undirected_graph.h"

#include <stdint.h>

struct skip_gram {
    const struct undirected_graph *graph;
    uint32_t dim;    /* a multiple of 4 */
    uint32_t walks;  /* from each node */
    uint32_t length; /* steps of a walk, below SKIP_GRAM_LENGTH_MAX */
    uint32_t window;
    double p, q; /* of node2vec (stages/sampling/random_walk.h) */
    double rate; /* of the first pair */
    int64_t seed;
};

enum { SKIP_GRAM_LENGTH_MAX = 256, SKIP_GRAM_NEGATIVES = 4, SKIP_GRAM_DIM_MAX = 64 };

/* Fills row [node_count, dim]; those of nodes without edges are 0.
 * Fails: ERROR_NO_MEMORY; ERROR_UNAVAILABLE when asked to stop. */
MUST_CHECK enum error_code skip_gram_run(const struct skip_gram *config, float *row,
                                         struct error *err);
/* What it takes beside graph and rows. */
uint64_t skip_gram_bytes(uint64_t node_count, uint32_t dim);

#endif
