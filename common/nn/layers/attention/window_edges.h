/*
 * window_edges - some edges of one destination, for attention over sources that are read in windows
 * (gat_windows.h, gatv2_windows.h).
 */
#ifndef COMMON_NN_LAYERS_ATTENTION_WINDOW_EDGES_H
#define COMMON_NN_LAYERS_ATTENTION_WINDOW_EDGES_H

#include <stdint.h>

/* The most edges processed at a time. */
enum { WINDOW_EDGES_MAX = 256 };

struct window_edges { /* borrowed; in the order of the destination's row */
    uint32_t count;
    const uint32_t *source; /* [count]: indices of the sources' rows */
    const float *feature;   /* [count, edge_dim] of the layer; NULL: it reads none */
};

#endif
