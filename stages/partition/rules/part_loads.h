/*
 * part_loads - what each part holds while nodes are assigned, and how much it may hold.
 *
 * Nodes fall into classes: each node type is one, and its training nodes are another
 * (partition.balance_train), like the constraints given to METIS. A part must have a share of each
 * class within [least, most], 2.4 % below and above the mean. So no part has more than 1.05 times
 * the nodes of a class of any other part, nor of all nodes. For a class with few nodes a part the
 * bounds are the mean rounded down and up. Classes with fewer nodes than parts are merged into one
 * class. Since a node is in one class, and each class has room for all its nodes above the least,
 * the bounds can always be kept, by asking part_loads_may_take().
 *
 * Edges (partition.balance_edges) are no bound but a preference: a part should have at most 1.05
 * times the mean of the in-edges of its nodes, or with measured loads of the reads of its nodes.
 * One hub can exceed that.
 */
#ifndef STAGES_PARTITION_RULES_PART_LOADS_H
#define STAGES_PARTITION_RULES_PART_LOADS_H

#include "common/base/error.h"
#include "stages/partition/rules/partitioner.h"

#include <stdbool.h>
#include <stdint.h>

enum { NODE_CLASS_COUNT_MAX = 2 * NODE_TYPE_COUNT_MAX };

struct node_class {
    uint32_t nodes;       /* of the graph */
    uint32_t least, most; /* bounds for a part */
    double mean;          /* for a part */
    uint32_t left;        /* nodes without a part yet */
    /* How many nodes all parts together need to reach the least. */
    uint32_t lacking;
};

struct part_loads { /* {0} is empty */
    uint32_t node_count, part_count, class_count;
    struct node_class class[NODE_CLASS_COUNT_MAX];
    uint8_t *class_of;         /* [node_count], owned, and so are the next */
    uint32_t *count;           /* [class_count, part_count] */
    uint64_t *edges;           /* [part_count]; NULL: edges are not balanced */
    const uint32_t *edge_load; /* [node_count] in-degrees, or measured reads; borrowed */
    uint64_t edges_most;
};

/* Allocates the loads of empty parts. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code part_loads_init(struct part_loads *loads,
                                           const struct partition_request *request,
                                           struct error *err);
void part_loads_release(struct part_loads *loads);
/* Empties the parts. */
void part_loads_reset(struct part_loads *loads);

/* Returns the nodes in a part that are in the class of `node`. */
static inline uint32_t part_loads_of(const struct part_loads *loads, uint32_t node, uint32_t part)
{
    return loads->count[(size_t)loads->class_of[node] * loads->part_count + part];
}
/* Returns whether a node without a part may go to `part`: there is room, and the nodes that are
 * left suffice for what parts lack. Some part may always take it. */
static inline bool part_loads_may_take(const struct part_loads *loads, uint32_t node, uint32_t part)
{
    const struct node_class *class = &loads->class[loads->class_of[node]];
    const uint32_t held = part_loads_of(loads, node, part);
    return held < (class->left == class->lacking ? class->least : class->most);
}
/* Returns whether the edges of the node would be more than `part` should have. */
static inline bool part_loads_is_heavy(const struct part_loads *loads, uint32_t node, uint32_t part)
{
    return loads->edges && loads->edges[part] + loads->edge_load[node] > loads->edges_most;
}
/* Returns whether `part` can lose the node. */
static inline bool part_loads_may_give(const struct part_loads *loads, uint32_t node, uint32_t part)
{
    return part_loads_of(loads, node, part) > loads->class[loads->class_of[node]].least;
}
void part_loads_take(struct part_loads *loads, uint32_t node, uint32_t part);
/* Takes the node out of `part`. */
void part_loads_give(struct part_loads *loads, uint32_t node, uint32_t part);

/* Fills part [node_count] with equal ranges of each class, and sets the loads. Every part has a
 * node. */
void part_loads_spread(struct part_loads *loads, uint32_t *part);
/* Does the same with nodes at random. */
void part_loads_scatter(struct part_loads *loads, int64_t seed, uint32_t *part);

#endif
