/* random_graph - a small graph with isolated nodes, hubs, self loops and repeated edges. */
#ifndef TESTS_SUPPORT_RANDOM_GRAPH_H
#define TESTS_SUPPORT_RANDOM_GRAPH_H

#include <stdint.h>

struct random_graph { /* {0} is empty */
    uint32_t node_count;
    uint64_t *row_start; /* [node_count + 1] */
    uint32_t *neighbor;  /* ascending within a row */
};

/* Makes the same graph for the same seed. Every eighth node has no edges, every sixty-fourth is a
 * hub with `hub_degree` of them, the others have fewer than 32. Aborts without memory. */
void random_graph_make(struct random_graph *out, uint64_t seed, uint32_t node_count,
                       uint32_t hub_degree);
void random_graph_release(struct random_graph *graph);

/* Returns the seed of a randomised test: $SEED, or else `usual`. Prints it, so that a failure can
 * be repeated. */
uint64_t random_graph_seed(uint64_t usual);

#endif
