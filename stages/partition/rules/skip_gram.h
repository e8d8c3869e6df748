/*
 * skip_gram - an embedding of the nodes from random walks: skip-gram with negative sampling, as in
 * node2vec.
 *
 * Grover and Leskovec, "node2vec: scalable feature learning for networks", KDD 2016; Mikolov et
 * al., "Distributed representations of words and phrases and their compositionality", NeurIPS 2013.
 * Two nodes at most `window` steps apart in a walk are a pair (u, v). For each pair some other
 * nodes w are drawn, in proportion to their degrees, and a step of gradient ascent raises
 *
 *   log s(u . v') + sum over the drawn w of log s(- u . w')        s(x) = 1 / (1 + e^-x)
 *
 * at a rate that falls to almost nothing. It runs in one thread, in one order, in plain float
 * arithmetic: so it gives the same bits on every machine.
 */
#ifndef STAGES_PARTITION_RULES_SKIP_GRAM_H
#define STAGES_PARTITION_RULES_SKIP_GRAM_H

#include "common/base/error.h"
#include "stages/partition/rules/undirected_graph.h"

#include <stdint.h>

struct skip_gram {
    const struct undirected_graph *graph;
    uint32_t dim;    /* a multiple of 4 */
    uint32_t walks;  /* from each node */
    uint32_t length; /* steps of a walk, below SKIP_GRAM_LENGTH_MAX */
    uint32_t window;
    double p, q; /* p and q of node2vec (stages/sampling/rows/random_walk.h) */
    double rate; /* learning rate of the first pair */
    int64_t seed;
};

enum { SKIP_GRAM_LENGTH_MAX = 256, SKIP_GRAM_NEGATIVES = 4, SKIP_GRAM_DIM_MAX = 64 };

/* Fills row [node_count, dim]; rows of nodes without edges are 0. Fails: ERROR_NO_MEMORY;
 * ERROR_UNAVAILABLE when asked to stop. */
MUST_CHECK enum error_code skip_gram_run(const struct skip_gram *config, float *row,
                                         struct error *err);
/* Returns the bytes that it takes beside graph and rows. */
uint64_t skip_gram_bytes(uint64_t node_count, uint32_t dim);

#endif
