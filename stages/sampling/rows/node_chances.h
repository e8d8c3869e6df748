/*
 * node_chances - the chances of nodes by which a sampler draws, computed once for all its batches
 * in a pass over the edges.
 *
 * A rule gives what a row adds to its own node and what an edge from u to v adds to node u, both
 * from the lengths of rows of a relation. The chance of a node is its sum divided by the sum of
 * all nodes. There is one table over the rows of all relations, or one for each relation, which
 * lists only nodes that have a chance. Sums run over the rows in order, in double: the same for
 * any number of threads.
 */
#ifndef STAGES_SAMPLING_ROWS_NODE_CHANCES_H
#define STAGES_SAMPLING_ROWS_NODE_CHANCES_H

#include "common/base/error.h"
#include "common/numbers/random.h"
#include "store/topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

/* How sums are computed; lengths are lengths of rows. */
struct chance_rule {
    double (*of_row)(uint32_t length); /* adds to the node of a row of `length` edges; NULL: 0 */
    /* Returns what a row of v with destination_length edges adds to the source u of each of its
     * edges; NULL: 0. With `wants_source`, source_length is the number of edges of u: those of its
     * own row, as GCN counts, or in a relation from another type those that begin at u. */
    double (*of_edge)(uint32_t destination_length, uint32_t source_length);
    bool wants_source;
    bool loops_count; /* edges from a node to itself count, too */
    bool is_share;    /* divide by the rows with edges, not by the sum (several draws) */
    bool by_relation; /* make a table for each relation */
};

struct node_chances { /* {0} is empty */
    uint32_t node_count;
    uint32_t rows_with_edges;
    uint32_t *node; /* [node_count] of one relation's table; NULL: all nodes, by id */
    double *chance; /* [node_count], in one draw */
    double *end;    /* [node_count]: sums of chances up to the node */
    double mean;    /* mean chance of training nodes to be in a batch; set by the caller */
};

/* Returns how many bytes the tables take while they are made. */
uint64_t node_chances_bytes(const struct chance_rule *rule, const struct topology *topology);
/* Makes the tables of a rule. Owns: *out; node_chances_free(). Fails: ERROR_NO_MEMORY;
 * ERROR_CORRUPT naming the row; ERROR_INPUT when no node has a chance: the graph has no edges. */
MUST_CHECK enum error_code node_chances_new(const struct chance_rule *rule,
                                            const struct topology *topology,
                                            struct node_chances **out, struct error *err);
/* Frees `count` tables, which is node_chances_tables(). */
void node_chances_free(struct node_chances *chances, uint32_t count);
static inline uint32_t node_chances_tables(const struct chance_rule *rule,
                                           const struct topology *topology)
{
    return rule->by_relation ? topology_relations(topology) : 1;
}
/* Makes one table over all relations, whatever the rule says. Fails as node_chances_new(). */
MUST_CHECK enum error_code node_chances_init(struct node_chances *out,
                                             const struct chance_rule *rule,
                                             const struct topology *topology, struct error *err);
void node_chances_release(struct node_chances *chances);
/* Returns the place in the table of the node that draw number `draw` of the stream draws. The node
 * has a chance above 0. */
uint32_t node_chances_draw(const struct node_chances *chances, const struct random_stream *stream,
                           uint32_t draw);

/* Returns (1 - x)^n, computed by multiplications alone so that the bits are the same everywhere. */
double chance_of_none(double x, uint32_t n);

#endif
