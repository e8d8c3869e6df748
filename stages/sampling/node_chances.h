/*
 * node_chances - chances of nodes that a sampler draws by, found once for all its batches by one
 * pass over the edges.
 *
 * A rule says what an edge from u to v adds to node u, and what a node has from the start, by the
 * lengths of rows of a relation. The chance of a node is its sum by that of all: over the rows of
 * all relations together, or relation by relation, where a table has the nodes alone that have a
 * chance. Sums run over the rows in order, in double: the same for any number of threads.
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
    double (*of_row)(uint32_t length); /* adds to the node of a row so long; NULL: 0 */
    /* Returns what the row of v, so long, adds to the source u of each of its edges; NULL: 0. With
     * `wants_source` it is told how many edges u has: those of its own row, as GCN counts, or in a
     * relation from another type those that begin at u. */
    double (*of_edge)(uint32_t destination_length, uint32_t source_length);
    bool wants_source;
    bool loops_count; /* an edge from a node to itself adds, too */
    bool is_share;    /* of the rows with edges, not of the sum: a node may be in several draws */
    bool by_relation; /* a table for each relation */
};

struct node_chances { /* {0} is empty */
    uint32_t node_count;
    uint32_t rows_with_edges;
    uint32_t *node; /* [node_count] of a relation's table; NULL: all, by their ids */
    double *chance; /* [node_count], of one draw */
    double *end;    /* [node_count]: sums of chances up to the node */
    double mean;    /* over training nodes: the chance to be in a batch; the caller's */
};

/* Bytes of the tables, while they are made. */
uint64_t node_chances_bytes(const struct chance_rule *rule, const struct topology *topology);
/* Owns: *out; node_chances_free(). Fails: ERROR_NO_MEMORY; ERROR_CORRUPT naming the row;
 * ERROR_INPUT when no node has a chance: the graph has no edges. */
MUST_CHECK enum error_code node_chances_new(const struct chance_rule *rule,
                                            const struct topology *topology,
                                            struct node_chances **out, struct error *err);
/* `count`: node_chances_tables(). */
void node_chances_free(struct node_chances *chances, uint32_t count);
static inline uint32_t node_chances_tables(const struct chance_rule *rule,
                                           const struct topology *topology)
{
    return rule->by_relation ? topology_relations(topology) : 1;
}
/* One table of all relations, whatever the rule says. Fails likewise. */
MUST_CHECK enum error_code node_chances_init(struct node_chances *out,
                                             const struct chance_rule *rule,
                                             const struct topology *topology, struct error *err);
void node_chances_release(struct node_chances *chances);
/* Draw number `draw` of the stream: the place in the table of a node that has a chance. */
uint32_t node_chances_draw(const struct node_chances *chances, const struct random_stream *stream,
                           uint32_t draw);

/* (1 - x)^n by multiplications alone: the same bits everywhere. */
double chance_of_none(double x, uint32_t n);

#endif
