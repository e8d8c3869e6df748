/*
 * node_chances - chances of nodes that a sampler draws by, found once for all its batches by one pass over the edges.
 *
 * A rule says what an edge from u to v adds to node u, and what a node has from the start; the chance of a node is its sum by
 * that of all. Sums run over the rows in order, in double: the same for any number of threads. Takes 16 bytes a node.
 */
#ifndef STAGES_SAMPLING_NODE_CHANCES_H
#define STAGES_SAMPLING_NODE_CHANCES_H

#include "common/base/error.h"
#include "common/base/random.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

/* Lengths are those of rows. */
struct chance_rule {
    double (*of_node)(uint32_t length); /* of a node whose row is so long; NULL: 0 */
    /* What the row of v, so long, adds to the source of each of its edges; u is as long as is said if `wants_source`. NULL: 0. */
    double (*of_edge)(uint32_t destination_length, uint32_t source_length);
    bool wants_source;
    bool loops_count; /* an edge from a node to itself adds, too */
    bool
        is_share; /* of the nodes with edges, instead of the sum: a node may be in several draws at once */
};

struct node_chances { /* {0} is empty */
    uint32_t node_count;
    uint32_t nodes_with_edges;
    double *chance; /* [node_count], of one draw */
    double *end;    /* [node_count]: sums of chances up to the node */
    double mean;    /* over training nodes: the chance to be in a batch; the caller's */
};

uint64_t node_chances_bytes(uint32_t node_count);
/* Fails: ERROR_NO_MEMORY; ERROR_CORRUPT naming the row; ERROR_INPUT when no node has a chance: the graph has no edges. */
MUST_CHECK enum error_code node_chances_init(struct node_chances *out,
                                             const struct chance_rule *rule,
                                             const struct topology *topology, struct error *err);
void node_chances_release(struct node_chances *chances);
/* Draw number `draw` of the stream. */
uint32_t node_chances_draw(const struct node_chances *chances, const struct random_stream *stream,
                           uint32_t draw);

/* (1 - x)^n by multiplications alone: the same bits everywhere. */
double chance_of_none(double x, uint32_t n);

#endif
